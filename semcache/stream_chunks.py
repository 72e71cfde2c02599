"""The chunks of a shared stream: how they are held, handed to each reader, and played again.

Decides what a reader gets of a chunk that others read too. Knows nothing of sources and waiting.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, assert_never

from semcache.errors import SemcacheError, ValueFormError
from semcache.flight_seats import Failed
from semcache.value import decode, encode, join, split

__all__ = [
    "Ended",
    "Held",
    "Raw",
    "Recording",
    "Restart",
    "Torn",
    "areplay",
    "held",
    "record",
    "replay",
    "returned_by",
    "take",
    "withheld",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Raw:
    """A chunk without a storable form, and why. A stream that has one is not stored nor joined."""

    value: Any
    why: str


Held: TypeAlias = bytes | Raw


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream ended cleanly; `returned` is what its generator returned."""

    returned: Held


@dataclass(frozen=True, slots=True)
class Torn:
    """The source was torn away by something that concerns one reader only, such as Ctrl-C."""

    error: BaseException


Step: TypeAlias = bytes | Raw | Failed | Torn


class Restart(Exception):  # noqa: N818  # a signal between our own functions, never seen outside
    """A reader that has had nothing yet begins again, with others or alone."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__()
        self.alone = alone


@dataclass(frozen=True, slots=True)
class Recording(Generic[T]):
    """All chunks of a stream that ended cleanly.

    `payload` is one record of them for the store: `semcache.value.decode` reads it as the list of
    chunks, `replay` plays it. `returned` is the encoded return value of the generator.
    """

    parts: tuple[bytes, ...]
    returned: bytes

    def chunks(self) -> list[T]:
        """Return fresh copies of the chunks, in order."""
        return [decode(part) for part in self.parts]

    @property
    def payload(self) -> bytes:
        """The chunks and the return value in one record."""
        return join(self.parts, self.returned)


def held(chunk: object) -> Held:
    """Return the form in which a chunk is kept for its readers."""
    if isinstance(chunk, Raw):
        return chunk
    try:
        return encode(chunk)
    except ValueFormError as error:
        return Raw(chunk, str(error))


def withheld(chunk: object) -> Raw:
    """Mark a chunk as one that is not recorded, nor given to any reader but its own."""
    return Raw(chunk, "it answers other arguments than those that were looked up")


def record(chunks: Sequence[Held], returned: Held) -> Recording[Any] | Raw:
    """Return the recording of a stream, or the first of its chunks without a storable form."""
    parts = []
    for chunk in chunks:
        if isinstance(chunk, Raw):
            return chunk
        parts.append(chunk)
    return returned if isinstance(returned, Raw) else Recording(tuple(parts), returned)


def take(step: Step, position: int, *, leads: bool) -> Any:
    """Return a reader's own object for what it reached at `position` of the stream.

    A chunk without a storable form goes to the reader that leads as it is. Others get a deep copy,
    or the object itself where even that is impossible; if it is the very first, they call anew.

    Raises:
        BaseException: the source raised.
        Restart: the reader must begin again.
        SemcacheError: the source is gone and this reader has begun already.
    """
    match step:
        case bytes():
            return decode(step)
        case Raw():
            if leads:
                return step.value
            if position == 0:
                raise Restart(alone=True)
            return _deep_copy(step.value)
        case Failed():
            raise step.error.with_traceback(step.traceback)
        case Torn():
            if leads:
                raise step.error
            if position == 0:
                raise Restart(alone=False)
            raise SemcacheError(
                f"the stream shared with another caller was torn away after {position} chunks "
                f"({step.error!r}): call again"
            ) from step.error
        case _:
            assert_never(step)


def returned_by(end: Ended, *, leads: bool) -> Any:
    """Return a reader's own object for what the generator returned."""
    return take(end.returned, 1, leads=leads)


def _deep_copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        # Nothing can make a second one of it. A reader that is half way through has no better.
        return value


def replay(stored: bytes | Sequence[T]) -> Generator[T, None, Any]:
    """Give stored chunks one by one, and return what the generator returned.

    Args:
        stored: the payload of a recording or of an encoded list, of which each chunk is decoded
            when it is asked for; or a list of chunks that is the caller's own already.

    >>> list(replay(Recording((b"sHel", b"s", b"slo"), b"jnull").payload))
    ['Hel', '', 'lo']
    """
    if not isinstance(stored, bytes):
        yield from stored
        return None
    if stored[:1] != b"c":
        yield from decode(stored)
        return None
    parts, returned = split(stored)
    for part in parts:
        yield decode(part)
    return decode(returned) if returned else None


async def areplay(stored: bytes | Sequence[T]) -> AsyncGenerator[T, None]:
    """Give stored chunks one by one, as `replay` does."""
    for chunk in replay(stored):
        yield chunk
