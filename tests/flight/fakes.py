"""What the tests of flights and streams share: waits with a deadline, calls that are counted."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

DEADLINE_SECONDS = 20.0
"""Far above what any test needs: it ends a deadlock, it does not time anything."""


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run `work` in a thread of its own, whatever it raises."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def until(condition: Callable[[], bool]) -> None:
    """Return once the condition holds."""
    never = threading.Event()
    for _ in range(int(DEADLINE_SECONDS * 1000)):
        if condition():
            return
        never.wait(0.001)
    raise TimeoutError("the condition never held")


async def until_async(condition: Callable[[], bool]) -> None:
    """Return once the condition holds, letting other tasks run."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a fresh event loop, with a deadline."""

    async def bounded() -> T:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await work

    return asyncio.run(bounded())


def wait(event: threading.Event) -> None:
    """Wait for an event, with a deadline."""
    if not event.wait(DEADLINE_SECONDS):
        raise TimeoutError("the event never came")


def hold(lock: AbstractContextManager[object], release: threading.Event) -> Future[None]:
    """Have another thread hold a lock until it is released; return once it is held."""
    held = threading.Event()

    def work() -> None:
        with lock:
            held.set()
            wait(release)

    future = in_thread(work)
    wait(held)
    return future


def exit_code(child: int) -> int:
    """Wait for a child process and return its exit code; kill it at the deadline."""
    ended: list[int] = []

    def has_ended() -> bool:
        pid, status = os.waitpid(child, os.WNOHANG)
        ended.extend([os.waitstatus_to_exitcode(status)] if pid else [])
        return bool(ended)

    try:
        until(has_ended)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise
    return ended[0]


@dataclass
class Upstream:
    """A call that ends when it is let go: with a new text each time, or with an error."""

    go: Callable[[], object] = field(default=lambda: None)
    error: BaseException | None = None
    calls: int = 0

    def __call__(self) -> dict[str, str]:
        """Make the call."""
        self.calls += 1
        count = self.calls
        self.go()
        if self.error is not None:
            raise self.error
        return {"text": f"R{count}"}


@dataclass
class AsyncUpstream:
    """The same as a coroutine function. Counts how often it was cancelled."""

    go: Callable[[], Awaitable[object]]
    error: BaseException | None = None
    calls: int = 0
    cancelled: int = 0

    async def __call__(self) -> dict[str, str]:
        """Make the call."""
        self.calls += 1
        count = self.calls
        try:
            await self.go()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return {"text": f"R{count}"}
