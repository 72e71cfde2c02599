"""One source of chunks for many equal callers: generators and async generators in flight.

Decides who opens a source, who joins it and when it is closed. It must store nothing that did not
end cleanly, and must never give two callers one object.

A later caller follows a stream in flight from its first chunk and gets its own copy of each. What
is falsy is a chunk like any other. The source is advanced no further than its furthest reader asks,
and all chunks are kept until the last reader has left, because they are to be stored anyway.

- It ends cleanly: its recording is handed over once, before any reader sees the end, so that the
  next call finds it stored. Threads also get what the generator returned.
- It raises: every reader gets that same exception after the chunks that preceded it.
- A reader closes early, is cancelled or is collected as garbage: the others go on. When the last
  one leaves, the source is closed, by the task that owns it if it is an async one.
- A chunk has no storable form: nobody joins any more, nothing is recorded. Readers that had nothing
  yet make their own call; those half way through go on with deep copies.
- Ctrl-C tears the source away: readers that had nothing yet begin again, the others get an error,
  since chunks of two answers do not make one.
- A caller in another event loop, or one that is part of the source's own call, makes its own call.

`send` and `throw` do not reach the source: it has many readers.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from functools import partial
from typing import Any, TypeVar

from semcache.flight_seats import running_loop, within
from semcache.stream_chunks import (
    Ended,
    Raw,
    Recording,
    Restart,
    areplay,
    replay,
    returned_by,
    take,
    withheld,
)
from semcache.stream_tasks import SharedAsyncStream
from semcache.stream_threads import SharedStream

__all__ = [
    "Raw",
    "Recording",
    "SharedAsyncStream",
    "SharedStream",
    "Streams",
    "areplay",
    "replay",
    "withheld",
]

T = TypeVar("T")

_Stream = TypeVar("_Stream", SharedStream[Any], SharedAsyncStream[Any])

_everywhere: weakref.WeakSet[Streams] = weakref.WeakSet()


class Streams:
    """The streams in flight, by key. Safe for threads, forks and any number of event loops.

    >>> streams, stored = Streams(), []
    >>> list(streams.follow(b"key", lambda: iter(["Hel", "lo"]), stored.append))
    ['Hel', 'lo']
    >>> list(replay(stored[0].payload))
    ['Hel', 'lo']
    """

    def __init__(self) -> None:
        self._forget()
        _everywhere.add(self)

    def _forget(self) -> None:
        # Guards who is in flight and how many read it, never held while a source runs. Reentrant,
        # because a generator that is collected as garbage leaves wherever the collector runs.
        self._lock = threading.RLock()
        self._threads: dict[bytes, SharedStream[Any]] = {}
        self._tasks: dict[bytes, SharedAsyncStream[Any]] = {}

    def __len__(self) -> int:
        """Return the number of streams in flight that can be joined."""
        return len(self._threads) + len(self._tasks)

    def readers(self, key: bytes) -> int:
        """Return how many readers the streams in flight under `key` have."""
        with self._lock:
            streams = (self._threads.get(key), self._tasks.get(key))
            return sum(stream.readers for stream in streams if stream is not None)

    def follow(
        self,
        key: bytes,
        upstream: Callable[[], Iterator[T]],
        on_complete: Callable[[Recording[T] | Raw], None],
    ) -> Generator[T, None, Any]:
        """Read the stream in flight under `key` from its first chunk, or be the first to open it.

        Nothing happens before the first chunk is asked for, as in any generator.

        Args:
            key: what makes two streams equal.
            upstream: makes the source; whichever thread needs a chunk advances it.
            on_complete: stores the recording of a clean end, or gets a chunk that has no storable
                form. What it raises counts as raised by the source.

        Raises:
            BaseException: what the source raised.
            SemcacheError: the source was torn away from under another reader, too late to restart.
        """
        alone = False
        while True:
            stream, leads = self._join(key, upstream, on_complete, alone=alone)
            try:
                position = 0
                while not isinstance(step := stream.step(position), Ended):
                    yield take(step, position, leads=leads)
                    position += 1
                return returned_by(step, leads=leads)
            except Restart as restart:
                alone = restart.alone
            finally:
                if self._leave(key, self._threads, stream):
                    stream.close()

    async def afollow(
        self,
        key: bytes,
        upstream: Callable[[], AsyncIterator[T]],
        on_complete: Callable[[Recording[T] | Raw], Awaitable[None]],
    ) -> AsyncGenerator[T, None]:
        """Read the stream in flight under `key` from its first chunk, or be the first to open it.

        As `follow`, with a source that is advanced by a task of its own in the first reader's loop
        and context. Close it (`contextlib.aclosing`) unless it is read to its end.

        Raises:
            BaseException: what the source raised.
            SemcacheError: as in `follow`, or no asyncio event loop runs here.
        """
        loop = running_loop()
        alone = False
        while True:
            stream, leads = self._ajoin(key, loop, upstream, on_complete, alone=alone)
            try:
                position = 0
                while not isinstance(step := await stream.step(position), Ended):
                    yield take(step, position, leads=leads)
                    position += 1
                return
            except Restart as restart:
                alone = restart.alone
            finally:
                if self._leave(key, self._tasks, stream):
                    await stream.close()

    def _join(
        self,
        key: bytes,
        upstream: Callable[[], Iterator[T]],
        on_complete: Callable[[Recording[T] | Raw], None],
        *,
        alone: bool,
    ) -> tuple[SharedStream[T], bool]:
        """Return a stream, with this reader counted, and whether the reader leads it."""
        fresh = SharedStream(upstream, on_complete, partial(self._retire, key, self._threads))
        with self._lock:
            known = self._threads.get(key)
            if known is not None and not alone and known not in within.get():
                known.readers += 1
                return known, False
            if known is None and not alone:
                self._threads[key] = fresh
            fresh.readers += 1
            return fresh, True

    def _ajoin(
        self,
        key: bytes,
        loop: asyncio.AbstractEventLoop,
        upstream: Callable[[], AsyncIterator[T]],
        on_complete: Callable[[Recording[T] | Raw], Awaitable[None]],
        *,
        alone: bool,
    ) -> tuple[SharedAsyncStream[T], bool]:
        retire = partial(self._retire, key, self._tasks)
        fresh = SharedAsyncStream(loop, upstream, on_complete, retire)
        with self._lock:
            known = self._tasks.get(key)
            if known is not None and not known.loop.is_running():
                known = None  # its loop has stopped: nothing will advance it
            if known is not None and not alone and known.loop is loop and known not in within.get():
                known.readers += 1
                return known, False
            if known is None and not alone:
                self._tasks[key] = fresh
            fresh.readers += 1
            return fresh, True

    def _leave(self, key: bytes, flying: dict[bytes, _Stream], stream: _Stream) -> bool:
        """Count a reader out; say whether it was the last."""
        with self._lock:
            stream.readers -= 1
            if stream.readers == 0:
                self._retire(key, flying, stream)
            return stream.readers == 0

    def _retire(self, key: bytes, flying: dict[bytes, _Stream], stream: _Stream) -> None:
        with self._lock:
            if flying.get(key) is stream:
                del flying[key]


def _forget_everywhere() -> None:
    for streams in _everywhere:
        streams._forget()


if hasattr(os, "register_at_fork"):
    # The threads and loops that read a parent's streams do not exist in its child.
    os.register_at_fork(after_in_child=_forget_everywhere)
