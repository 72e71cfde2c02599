"""One async generator read by many equal callers in tasks of one loop. The rules are in `stream`.

A task of its own opens, advances and closes the source, because a source that another task advances
or closes breaks. It goes one chunk at a time and no further than the reader that is furthest ahead,
so a reader that stops early stops the source too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

from semcache.flight_seats import Failed, seen, within
from semcache.stream_chunks import Ended, Held, Raw, Recording, Torn, held, record

__all__ = ["SharedAsyncStream"]

T = TypeVar("T")


class SharedAsyncStream(Generic[T]):
    """A source with the chunks it has given so far, and the task that owns it.

    Args:
        loop: the event loop of the owner and of every reader.
        upstream: makes the source, in the owner's task.
        on_complete: gets the recording of a clean end, or a chunk that has no storable form,
            before any reader sees that end.
        retire: called with the stream when no new reader may join it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        upstream: Callable[[], AsyncIterator[T]],
        on_complete: Callable[[Recording[T] | Raw], Awaitable[None]],
        retire: Callable[[SharedAsyncStream[T]], None],
    ) -> None:
        self.loop = loop
        self.readers = 0
        self._upstream = upstream
        self._on_complete = on_complete
        self._retire = retire
        self._task: asyncio.Task[None] | None = None
        self._wanted = 0
        self._asked = asyncio.Event()
        self._moved = asyncio.Event()
        self._chunks: list[Held] = []
        self._end: Ended | Failed | Torn | None = None

    async def step(self, position: int) -> Held | Ended | Failed | Torn:
        """Return what is at `position`; have the source advanced if nobody has come so far."""
        if self._task is None:
            self._task = self.loop.create_task(self._own())
            self._task.add_done_callback(seen)
        while position >= len(self._chunks) and self._end is None:
            self._wanted = max(self._wanted, position + 1)
            self._asked.set()
            await self._moved.wait()
        if position < len(self._chunks):
            return self._chunks[position]
        assert self._end is not None
        return self._end

    async def _own(self) -> None:
        within.set((*within.get(), self))
        source: AsyncIterator[T] | None = None
        try:
            source = aiter(self._upstream())
            while not isinstance(item := await self._pull(source), Ended):
                self._append(item)
            self._finish(item)
        except Exception as error:
            self._finish(Failed(error, error.__traceback__))
        except BaseException as error:
            self._finish(Torn(error))
            raise
        finally:
            close = getattr(source, "aclose", None)
            if close is not None and not isinstance(self._end, Ended):
                await close()

    async def _pull(self, source: AsyncIterator[T]) -> Held | Ended:
        await self._demand()
        try:
            return held(await anext(source))
        except StopAsyncIteration:
            end = Ended(held(None))
        await self._on_complete(record(self._chunks, end.returned))
        return end

    async def _demand(self) -> None:
        while self._wanted <= len(self._chunks):
            self._asked.clear()
            await self._asked.wait()

    def _append(self, chunk: Held) -> None:
        if isinstance(chunk, Raw):
            self._retire(self)
        self._chunks.append(chunk)
        self._wake()

    def _finish(self, end: Ended | Failed | Torn) -> None:
        self._retire(self)
        self._end = end
        self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def close(self) -> None:
        """End the owner and its source, and wait for it. Called when the last reader has left."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled() and (error := self._task.exception()) is not None:
                raise error
