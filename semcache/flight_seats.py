"""How callers wait for a call that another one makes, and what they are told when it ends.

Decides how an outcome reaches a waiting thread or task as an object of its own. Knows nothing of
keys, of who leads or of how the call is made.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeGuard, TypeVar, assert_never

from semcache.errors import SemcacheError, ValueFormError
from semcache.value import decode, encode

__all__ = [
    "Arrived",
    "Failed",
    "Landed",
    "Outcome",
    "TakeOver",
    "TaskSeat",
    "ThreadSeat",
    "copied",
    "running_loop",
    "seen",
    "tell",
    "within",
]

T = TypeVar("T")

within: ContextVar[tuple[object, ...]] = ContextVar("semcache_within", default=())
"""The flights and streams whose upstream call the code that asks is part of."""


@dataclass(frozen=True, slots=True)
class Landed(Generic[T]):
    """What came of a call. `led` is True for a caller whose own call it was."""

    value: T
    led: bool


@dataclass(frozen=True, slots=True)
class Arrived:
    """The call ended. `payload` is the encoded value, if somebody waits who may have it."""

    value: Any
    shared: bool
    payload: bytes | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call raised. The traceback is that of the call, without the waiters' own frames."""

    error: BaseException
    traceback: TracebackType | None


@dataclass(frozen=True, slots=True)
class TakeOver:
    """The call was torn away: whoever is told this makes it anew, for the others too or alone."""

    alone: bool = False


Outcome: TypeAlias = Arrived | Failed | TakeOver


class ThreadSeat:
    """A thread that waits."""

    __slots__ = ("_gate", "outcome", "waits")
    leads = False

    def __init__(self) -> None:
        self.outcome: Outcome | None = None
        self.waits: tuple[object, ...] = ()
        self._gate = threading.Lock()
        self._gate.acquire()

    def wait(self) -> None:
        """Block until `wake`."""
        self._gate.acquire()

    def wake(self) -> None:
        """Let the thread go on, from any thread."""
        self._gate.release()


class TaskSeat:
    """A task that waits, in whatever loop it runs. The leader has a seat too."""

    __slots__ = ("future", "leads", "loop", "outcome", "waits")

    def __init__(self, loop: asyncio.AbstractEventLoop, *, leads: bool) -> None:
        self.loop = loop
        self.leads = leads
        self.outcome: Outcome | None = None
        self.waits: tuple[object, ...] = ()
        self.future: asyncio.Future[None] = loop.create_future()

    def take_the_lead(self) -> None:
        """Wait once more, this time as the leader."""
        self.leads, self.outcome, self.future = True, None, self.loop.create_future()

    def wake(self) -> None:
        """Let the task go on, from any thread."""
        if self.loop is _current_loop():
            _fulfil(self.future)
            return
        # A loop that closed meanwhile took the task that waited with it.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(_fulfil, self.future)


def tell(seats: Sequence[ThreadSeat | TaskSeat], outcome: Outcome) -> None:
    """Give every seat the outcome and wake it. A value that followers may have is encoded once."""
    try:
        if _is_wanted(outcome, seats):
            with contextlib.suppress(ValueFormError):  # without a payload followers call themselves
                outcome = replace(outcome, payload=encode(outcome.value))
    finally:
        # Whatever tears the encoding away, Ctrl-C among it: nobody is left waiting.
        for seat in seats:
            seat.outcome = outcome
            seat.wake()


def _is_wanted(outcome: Outcome, seats: Sequence[ThreadSeat | TaskSeat]) -> TypeGuard[Arrived]:
    followed = not all(seat.leads for seat in seats)
    return isinstance(outcome, Arrived) and outcome.shared and followed


def copied(outcome: Outcome | None) -> Landed[Any] | None:
    """Return a follower's own copy of what arrived, None if it must call itself.

    Raises:
        BaseException: what the call raised.
    """
    match outcome:
        case Failed():
            raise outcome.error.with_traceback(outcome.traceback)
        case Arrived() if outcome.payload is not None:
            with contextlib.suppress(ValueFormError):  # a copy that cannot be had is no answer
                return Landed(decode(outcome.payload), led=False)
            return None
        case Arrived() | TakeOver() | None:
            return None
        case _:
            assert_never(outcome)


def running_loop() -> asyncio.AbstractEventLoop:
    """Return the asyncio event loop that runs here.

    Raises:
        SemcacheError: none does. Says so by name if it is trio that runs.
    """
    loop = _current_loop()
    if loop is None:
        found = "trio" if _in_trio() else "no asyncio event loop"
        raise SemcacheError(
            f"{found} runs here, and semcache's async side needs asyncio: call a plain function "
            "in a thread instead"
        )
    return loop


def seen(task: asyncio.Task[None]) -> None:
    """Look at what ended a task: those who wait are told by other means, not by asyncio's log."""
    if not task.cancelled():
        task.exception()


def _current_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _in_trio() -> bool:
    lowlevel = getattr(sys.modules.get("trio"), "lowlevel", None)
    try:
        return lowlevel is not None and lowlevel.current_trio_token() is not None
    except RuntimeError:
        return False


def _fulfil(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
