"""One call for many equal callers in asyncio tasks of any loop. The rules are those of `flight`.

The call runs in a task of its own, in the leader's loop; all who wait have a seat, the leader
included. The lock guards the flights and their seats across loops, and is never held over an await.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from semcache.flight_seats import (
    Arrived,
    Failed,
    Landed,
    Outcome,
    TakeOver,
    TaskSeat,
    copied,
    running_loop,
    seen,
    tell,
    within,
)
from semcache.flight_waits import may_wait, stop_waiting

__all__ = ["TaskFlights"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Flight:
    loop: asyncio.AbstractEventLoop
    seats: list[TaskSeat] = field(default_factory=list)
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class _Call(Generic[T]):
    key: bytes
    upstream: Callable[[], Awaitable[T]]
    keep: Callable[[T], Awaitable[bool]]

    async def make(self) -> tuple[T, bool]:
        value = await self.upstream()
        return value, await self.keep(value)


class TaskFlights:
    """The calls of coroutine functions in flight, by key."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh, with nothing in flight and a new lock."""
        # Reentrant, because a coroutine that is collected as garbage lands its flight wherever
        # the collector happens to run.
        self._lock = threading.RLock()
        self._flights: dict[bytes, _Flight] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def waiting(self, key: bytes) -> int:
        """Return how many tasks wait, the leader counted."""
        with self._lock:
            flight = self._flights.get(key)
            return 0 if flight is None else len(flight.seats)

    async def call(
        self, key: bytes, upstream: Callable[[], Awaitable[T]], keep: Callable[[T], Awaitable[bool]]
    ) -> Landed[T]:
        """See `Flights.acall`."""
        loop = running_loop()
        call = _Call(key, upstream, keep)
        joined = self._join(key, loop)
        landed = None
        if joined is not None:
            try:
                landed = await self._fly_along(*joined, call)
            finally:
                stop_waiting(joined[1].waits, joined[0])
        return landed or Landed((await call.make())[0], led=True)

    def _join(self, key: bytes, loop: asyncio.AbstractEventLoop) -> tuple[_Flight, TaskSeat] | None:
        """Return a flight and a seat in it, or None for a caller that is part of that flight."""
        with self._lock:
            flight = self._flights.get(key)
            # A call whose loop has stopped may never end: nobody new should wait for it.
            leads = flight is None or not flight.loop.is_running()
            if flight is None or leads:
                flight = self._flights[key] = _Flight(loop)
            waits = may_wait(flight)
            if waits is None:
                return None
            seat = TaskSeat(loop, leads=leads)
            seat.waits = waits
            flight.seats.append(seat)
            return flight, seat

    async def _fly_along(self, flight: _Flight, seat: TaskSeat, call: _Call[T]) -> Landed[T] | None:
        """Return what the caller gets from the flight, None if it has to make its own call."""
        while True:
            if seat.leads:
                flight.task = seat.loop.create_task(self._fly(flight, call))
                flight.task.add_done_callback(seen)
            await self._wait(flight, seat, call.key)
            outcome = seat.outcome
            if not isinstance(outcome, TakeOver) or outcome.alone:
                break
            seat.take_the_lead()
        if seat.leads and isinstance(outcome, Arrived):
            return Landed(outcome.value, led=True)
        return copied(outcome)

    async def _fly(self, flight: _Flight, call: _Call[T]) -> None:
        within.set((*within.get(), flight))
        try:
            value, shared = await call.make()
        except Exception as error:
            tell(self._land(flight, call.key), Failed(error, error.__traceback__))
        except BaseException as error:
            self._hand_over(flight, call.key, Failed(error, error.__traceback__))
            raise
        else:
            tell(self._land(flight, call.key), Arrived(value, shared))

    async def _wait(self, flight: _Flight, seat: TaskSeat, key: bytes) -> None:
        try:
            await seat.future
        except BaseException as error:
            task = self._leave(flight, seat, key)
            if task is not None and isinstance(error, asyncio.CancelledError):
                # What a cancelled call still has to do is done before its caller goes on.
                await asyncio.wait([task])
            raise

    def _leave(self, flight: _Flight, seat: TaskSeat, key: bytes) -> asyncio.Task[None] | None:
        """Take a seat away. Return the task of the call if it was cancelled and is of this loop."""
        with self._lock:
            last = flight.seats == [seat]
            if seat in flight.seats:
                flight.seats.remove(seat)
            if last:
                self._retire(flight, key)
            task = flight.task
        if isinstance(seat.outcome, TakeOver) and flight.seats:
            self._hand_over(flight, key, seat.outcome)
        if not last or task is None or task.done():
            return None
        if flight.loop is seat.loop:
            task.cancel()
            return task
        with contextlib.suppress(RuntimeError):  # a closed loop has no call left to cancel
            flight.loop.call_soon_threadsafe(task.cancel)
        return None

    def _land(self, flight: _Flight, key: bytes) -> list[TaskSeat]:
        """End the flight: nobody joins it from here on. Return the seats of those to tell."""
        with self._lock:
            self._retire(flight, key)
            seats, flight.seats = flight.seats, []
            return seats

    def _hand_over(self, flight: _Flight, key: bytes, torn: Outcome) -> None:
        """Tell the leader, if it waits, what tore its call away, and one follower to take over."""
        with self._lock:
            leaders = [seat for seat in flight.seats if seat.leads]
            followers = [seat for seat in flight.seats if not seat.leads]
            heir = next((seat for seat in followers if seat.loop.is_running()), None)
            if heir is None:
                self._retire(flight, key)
                flight.seats, told = [], followers
            else:
                flight.seats, flight.loop, flight.task, told = followers, heir.loop, None, [heir]
            for seat in told:
                seat.outcome = TakeOver(alone=heir is None)
        for seat in told:
            seat.wake()
        tell(leaders, torn)

    def _retire(self, flight: _Flight, key: bytes) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
