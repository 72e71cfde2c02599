"""One call for many equal callers in threads. The rules are those of `flight`.

The leader runs the call in its own thread and has no seat; followers wait. The lock guards the
flights and their seats, and is never held while a caller's function runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from semcache.flight_seats import (
    Arrived,
    Failed,
    Landed,
    TakeOver,
    ThreadSeat,
    copied,
    tell,
    within,
)
from semcache.flight_waits import may_wait, stop_waiting

__all__ = ["ThreadFlights"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Flight:
    seats: list[ThreadSeat] = field(default_factory=list)


@dataclass(slots=True)
class _Call(Generic[T]):
    key: bytes
    upstream: Callable[[], T]
    keep: Callable[[T], bool]

    def make(self) -> tuple[T, bool]:
        value = self.upstream()
        return value, self.keep(value)


class ThreadFlights:
    """The calls of plain functions in flight, by key."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh, with nothing in flight and a new lock."""
        # Reentrant, because a signal handler may make a call wherever it interrupts.
        self._lock = threading.RLock()
        self._flights: dict[bytes, _Flight] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def waiting(self, key: bytes) -> int:
        """Return how many threads wait, the leader not counted."""
        with self._lock:
            flight = self._flights.get(key)
            return 0 if flight is None else len(flight.seats)

    def call(self, key: bytes, upstream: Callable[[], T], keep: Callable[[T], bool]) -> Landed[T]:
        """See `Flights.call`."""
        call = _Call(key, upstream, keep)
        flight, seat = self._join(key)
        if flight is None:
            return Landed(call.make()[0], led=True)
        if seat is None:
            return self._lead(flight, call)
        try:
            return self._follow(flight, seat, call)
        finally:
            stop_waiting(seat.waits, flight)

    def _join(self, key: bytes) -> tuple[_Flight | None, ThreadSeat | None]:
        """Return the flight and a seat in it; no seat for a leader, no flight for a part of it."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                flight = self._flights[key] = _Flight()
                return flight, None
            waits = may_wait(flight)
            if waits is None:
                return None, None
            seat = ThreadSeat()
            seat.waits = waits
            flight.seats.append(seat)
            return flight, seat

    def _lead(self, flight: _Flight, call: _Call[T]) -> Landed[T]:
        token = within.set((*within.get(), flight))
        try:
            value, shared = call.make()
        except Exception as error:
            tell(self._land(flight, call.key), Failed(error, error.__traceback__))
            raise
        except BaseException:
            self._hand_over(flight, call.key)
            raise
        finally:
            within.reset(token)
        if followers := self._land(flight, call.key):
            tell(followers, Arrived(value, shared))
        return Landed(value, led=True)

    def _follow(self, flight: _Flight, seat: ThreadSeat, call: _Call[T]) -> Landed[T]:
        try:
            seat.wait()
        except BaseException:
            with self._lock:
                if seat in flight.seats:
                    flight.seats.remove(seat)
            if isinstance(seat.outcome, TakeOver):
                self._hand_over(flight, call.key)
            raise
        if isinstance(seat.outcome, TakeOver):
            return self._lead(flight, call)
        return copied(seat.outcome) or Landed(call.make()[0], led=True)

    def _land(self, flight: _Flight, key: bytes) -> list[ThreadSeat]:
        """End the flight: nobody joins it from here on. Return the seats of those to tell."""
        with self._lock:
            self._retire(flight, key)
            seats, flight.seats = flight.seats, []
            return seats

    def _hand_over(self, flight: _Flight, key: bytes) -> None:
        with self._lock:
            if not flight.seats:
                self._retire(flight, key)
                return
            heir = flight.seats.pop(0)
            heir.outcome = TakeOver()
        heir.wake()

    def _retire(self, flight: _Flight, key: bytes) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
