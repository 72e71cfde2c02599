"""The table of calls in flight, by key: what threads and tasks have in common.

Decides when nobody joins a flight any more. Knows nothing of how a call is made or waited for. The
lock guards the flights and their seats, and is never held while a caller's function runs.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from semcache.flight_seats import TaskSeat, ThreadSeat

__all__ = ["Flight", "FlightTable"]

S = TypeVar("S", ThreadSeat, TaskSeat)
F = TypeVar("F", bound="Flight[Any]")


@dataclass(slots=True, eq=False)
class Flight(Generic[S]):
    """One call that is being made, and those who wait for it."""

    seats: list[S] = field(default_factory=list)


class FlightTable(Generic[F]):
    """The flights that can be joined."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh, with nothing in flight and a new lock."""
        # Reentrant, because a signal handler may make a call wherever it interrupts, and a
        # coroutine that is collected as garbage lands its flight wherever the collector runs.
        self._lock = threading.RLock()
        self._flights: dict[bytes, F] = {}

    def __len__(self) -> int:
        return len(self._flights)

    def waiting(self, key: bytes) -> int:
        """Return how many seats the flight under `key` has."""
        with self._lock:
            flight = self._flights.get(key)
            return 0 if flight is None else len(flight.seats)

    def _land(self, flight: Flight[S], key: bytes) -> list[S]:
        """End the flight: nobody joins it from here on. Return the seats of those to tell."""
        with self._lock:
            self._retire(flight, key)
            seats, flight.seats = flight.seats, []
            return seats

    def _retire(self, flight: Flight[Any], key: bytes) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
