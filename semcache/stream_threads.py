"""One generator read by many equal callers in threads. The rules are those of `stream`.

Whoever needs a chunk that is not there yet takes the turn and advances the source; the others wait
for the turn, never for a particular reader. No other lock is held meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from semcache.flight_seats import Failed, within
from semcache.stream_chunks import Ended, Held, Raw, Recording, Torn, held, record

__all__ = ["SharedStream"]

T = TypeVar("T")


class SharedStream(Generic[T]):
    """A source with the chunks it has given so far.

    Args:
        upstream: makes the source, when the first chunk is asked for.
        on_complete: gets the recording of a clean end, or a chunk that has no storable form,
            before any reader sees that end.
        retire: called with the stream when no new reader may join it.
    """

    def __init__(
        self,
        upstream: Callable[[], Iterator[T]],
        on_complete: Callable[[Recording[T] | Raw], None],
        retire: Callable[[SharedStream[T]], None],
    ) -> None:
        self.readers = 0
        self._upstream = upstream
        self._on_complete = on_complete
        self._retire = retire
        self._turn = threading.Lock()
        self._source: Iterator[T] | None = None
        self._chunks: list[Held] = []
        self._end: Ended | Failed | Torn | None = None

    def step(self, position: int) -> Held | Ended | Failed | Torn:
        """Return what is at `position`; advance the source if nobody has come so far."""
        if position >= len(self._chunks) and self._end is None:
            with self._turn:
                if position >= len(self._chunks) and self._end is None:
                    self._advance()
        if position < len(self._chunks):
            return self._chunks[position]
        assert self._end is not None
        return self._end

    def _advance(self) -> None:
        token = within.set((*within.get(), self))
        try:
            item = self._pull()
        except Exception as error:
            self._finish(Failed(error, error.__traceback__))
        except BaseException as error:
            self._finish(Torn(error))
            raise
        else:
            if isinstance(item, Ended):
                self._finish(item)
                return
            if isinstance(item, Raw):
                self._retire(self)
            self._chunks.append(item)
        finally:
            within.reset(token)

    def _pull(self) -> Held | Ended:
        if self._source is None:
            self._source = iter(self._upstream())
        try:
            return held(next(self._source))
        except StopIteration as stop:
            returned = held(stop.value)
        self._on_complete(record(self._chunks, returned))
        return Ended(returned)

    def _finish(self, end: Ended | Failed | Torn) -> None:
        self._retire(self)
        self._end = end

    def close(self) -> None:
        """Close a source that has not come to its end. Called when the last reader has left."""
        close = getattr(self._source, "close", None)
        if close is not None and not isinstance(self._end, Ended):
            close()
