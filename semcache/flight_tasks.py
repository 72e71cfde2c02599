"""One call for many equal callers in asyncio tasks of any loop. The rules are those of `flight`.

The call runs in a task of its own, in the leader's loop; all who wait have a seat, the leader
included. The table's lock is never held over an await.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
from semcache.flight_table import Flight, FlightTable
from semcache.flight_waits import may_wait, stop_waiting

__all__ = ["TaskFlights"]

T = TypeVar("T")

_LOOK_SECONDS = 1.0
"""How often a task that follows looks whether the loop that makes the call still runs."""


class _Abandoned(Exception):  # noqa: N818  # a signal between our own functions, never seen outside
    """The loop that made the call has stopped: who waited for it joins anew."""


@dataclass(slots=True, eq=False, kw_only=True)
class _TaskFlight(Flight[TaskSeat]):
    loop: asyncio.AbstractEventLoop
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class _Call(Generic[T]):
    key: bytes
    upstream: Callable[[], Awaitable[T]]
    keep: Callable[[T], Awaitable[bool]]

    async def make(self) -> tuple[T, bool]:
        value = await self.upstream()
        return value, await self.keep(value)


class TaskFlights(FlightTable[_TaskFlight]):
    """The calls of coroutine functions in flight, by key. The leader is among those waiting."""

    async def call(
        self, key: bytes, upstream: Callable[[], Awaitable[T]], keep: Callable[[T], Awaitable[bool]]
    ) -> Landed[T]:
        """See `Flights.acall`."""
        loop = running_loop()
        call = _Call(key, upstream, keep)
        landed = None
        while (joined := self._join(key, loop)) is not None:
            try:
                landed = await self._fly_along(*joined, call)
            except _Abandoned:
                continue
            finally:
                stop_waiting(joined[1].waits, joined[0])
            break
        return landed or Landed((await call.make())[0], led=True)

    def _join(
        self, key: bytes, loop: asyncio.AbstractEventLoop
    ) -> tuple[_TaskFlight, TaskSeat] | None:
        """Return a flight and a seat in it, or None for a caller that is part of that flight."""
        with self._lock:
            flight = self._flights.get(key)
            # A call whose loop has stopped may never end: nobody new should wait for it.
            leads = flight is None or not flight.loop.is_running()
            if flight is None or leads:
                flight = self._flights[key] = _TaskFlight(loop=loop)
            waits = may_wait(flight)
            if waits is None:
                return None
            seat = TaskSeat(loop, leads=leads)
            seat.waits = waits
            flight.seats.append(seat)
            return flight, seat

    async def _fly_along(
        self, flight: _TaskFlight, seat: TaskSeat, call: _Call[T]
    ) -> Landed[T] | None:
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

    async def _fly(self, flight: _TaskFlight, call: _Call[T]) -> None:
        within.set((*within.get(), flight))
        try:
            value, shared = await call.make()
            tell(self._land(flight, call.key), Arrived(value, shared))
        # A signal may raise after the call has ended, too: whoever still waits is told by these.
        except Exception as error:
            tell(self._land(flight, call.key), Failed(error, error.__traceback__))
        except BaseException as error:
            self._hand_over(flight, call.key, Failed(error, error.__traceback__))
            raise

    async def _wait(self, flight: _TaskFlight, seat: TaskSeat, key: bytes) -> None:
        try:
            while not seat.leads and not seat.future.done():
                await asyncio.wait([seat.future], timeout=_LOOK_SECONDS)
                if not seat.future.done() and not flight.loop.is_running():
                    raise _Abandoned
            await seat.future
        except BaseException as error:
            task = self._leave(flight, seat, key)
            if task is not None and isinstance(error, asyncio.CancelledError):
                # What a cancelled call still has to do is done before its caller goes on.
                await asyncio.wait([task])
            raise

    def _leave(self, flight: _TaskFlight, seat: TaskSeat, key: bytes) -> asyncio.Task[None] | None:
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
        with contextlib.suppress(RuntimeError):  # a closed loop has no call left to cancel
            if flight.loop is seat.loop:
                task.cancel()
                return task
            flight.loop.call_soon_threadsafe(task.cancel)
        return None

    def _hand_over(self, flight: _TaskFlight, key: bytes, torn: Outcome) -> None:
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
