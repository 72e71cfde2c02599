"""One call for many equal callers in threads. The rules are those of `flight`.

The leader runs the call in its own thread and has no seat; followers wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from semcache.flight_table import Flight, FlightTable
from semcache.flight_waits import may_wait, stop_waiting

__all__ = ["ThreadFlights"]

T = TypeVar("T")


@dataclass(slots=True)
class _Call(Generic[T]):
    key: bytes
    upstream: Callable[[], T]
    keep: Callable[[T], bool]

    def make(self) -> tuple[T, bool]:
        value = self.upstream()
        return value, self.keep(value)


class ThreadFlights(FlightTable[Flight[ThreadSeat]]):
    """The calls of plain functions in flight, by key. The leader is not among those waiting."""

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

    def _join(self, key: bytes) -> tuple[Flight[ThreadSeat] | None, ThreadSeat | None]:
        """Return the flight and a seat in it; no seat for a leader, no flight for a part of it."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                flight = self._flights[key] = Flight()
                return flight, None
            waits = may_wait(flight)
            if waits is None:
                return None, None
            seat = ThreadSeat()
            seat.waits = waits
            flight.seats.append(seat)
            return flight, seat

    def _lead(self, flight: Flight[ThreadSeat], call: _Call[T]) -> Landed[T]:
        token = within.set((*within.get(), flight))
        try:
            value, shared = call.make()
            if followers := self._land(flight, call.key):
                tell(followers, Arrived(value, shared))
        # A signal may raise after the call has ended, too: whoever still waits is told by these.
        except Exception as error:
            tell(self._land(flight, call.key), Failed(error, error.__traceback__))
            raise
        except BaseException:
            self._hand_over(flight, call.key)
            raise
        finally:
            within.reset(token)
        return Landed(value, led=True)

    def _follow(self, flight: Flight[ThreadSeat], seat: ThreadSeat, call: _Call[T]) -> Landed[T]:
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

    def _hand_over(self, flight: Flight[ThreadSeat], key: bytes) -> None:
        with self._lock:
            if not flight.seats:
                self._retire(flight, key)
                return
            heir = flight.seats.pop(0)
            heir.outcome = TakeOver()
        heir.wake()
