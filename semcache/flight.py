"""One upstream call for many equal callers, across threads, asyncio tasks and event loops.

Decides who makes a call and who waits for it. It must hold no lock while a caller's function runs,
must leave nothing behind when a call ends, and must never give two callers one object.

The first caller of a key leads, later ones follow. Calls of plain functions and of coroutine
functions are kept apart, so no thread ever waits for a task of the loop that it blocks.

- The call ends: the leader gets its value, each follower a copy decoded from one encoding that is
  made only if somebody waits. A value that may not be shared or has no storable form is not passed
  on: each follower then makes its own call.
- It raises: every waiter gets that same exception, with the traceback of the call.
- A thread that leads is torn away (KeyboardInterrupt, SystemExit): a follower makes the call anew.
- A task that leads is cancelled: the call goes on in a task of its own, which has a copy of the
  leader's context. It is cancelled when its last waiter leaves, and made anew by a follower of
  another event loop when its own loop ends.
- The call makes an equal call itself: that one runs directly. It is known by its context: a
  function that starts threads by hand and waits for equal calls in them must copy the context.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Awaitable, Callable
from typing import TypeVar

from semcache.flight_seats import Landed, running_loop
from semcache.flight_tasks import TaskFlights
from semcache.flight_threads import ThreadFlights

__all__ = ["Flights", "Landed", "running_loop"]

T = TypeVar("T")

_everywhere: weakref.WeakSet[Flights] = weakref.WeakSet()


class Flights:
    """The calls in flight, by key. Safe for threads, forks and any number of event loops.

    >>> flights = Flights()
    >>> flights.call(b"key", upstream=lambda: "answer", keep=lambda value: True)
    Landed(value='answer', led=True)
    """

    def __init__(self) -> None:
        self._threads = ThreadFlights()
        self._tasks = TaskFlights()
        _everywhere.add(self)

    def __len__(self) -> int:
        """Return the number of calls in flight."""
        return len(self._threads) + len(self._tasks)

    def waiting(self, key: bytes) -> int:
        """Return how many callers wait under `key`: threads that follow, and all tasks."""
        return self._threads.waiting(key) + self._tasks.waiting(key)

    def call(self, key: bytes, upstream: Callable[[], T], keep: Callable[[T], bool]) -> Landed[T]:
        """Run `upstream`, or wait for the equal call that some thread is making.

        Args:
            key: what makes two calls equal.
            upstream: the call.
            keep: gets the value of each call that is made, before anybody else does: stores it, and
                says whether callers that wait may have it too. What it raises counts as raised by
                the call.

        Raises:
            BaseException: what the call raised.
        """
        return self._threads.call(key, upstream, keep)

    async def acall(
        self, key: bytes, upstream: Callable[[], Awaitable[T]], keep: Callable[[T], Awaitable[bool]]
    ) -> Landed[T]:
        """Await `upstream`, or wait for the equal call that some task of any loop is making.

        The arguments are those of `call`, as coroutine functions.

        Raises:
            BaseException: what the call raised.
            SemcacheError: no asyncio event loop runs here, as under trio.
        """
        return await self._tasks.call(key, upstream, keep)

    def _forget(self) -> None:
        self._threads.forget()
        self._tasks.forget()


def _forget_everywhere() -> None:
    for flights in _everywhere:
        flights._forget()


if hasattr(os, "register_at_fork"):
    # The threads and loops that made a parent's calls do not exist in its child.
    os.register_at_fork(after_in_child=_forget_everywhere)
