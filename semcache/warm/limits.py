"""How fast a warm-up may go and what it may spend. It counts and waits; it stores nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from semcache.errors import ArgumentError

__all__ = ["Budget", "Pace"]

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Budget:
    """How many questions may be stored, and what the calls for their answers may cost together."""

    max_entries: int | None = None
    max_cost: float | None = None
    cost_per_entry: float = 0.0

    def __post_init__(self) -> None:
        if self.max_entries is not None and self.max_entries < 1:
            raise ArgumentError("limit", self.max_entries, "pass 1 or more")
        if not self.cost_per_entry >= 0:
            raise ArgumentError("cost_per_entry", self.cost_per_entry, "pass 0 or more")
        if self.max_cost is not None and not self.max_cost >= 0:
            raise ArgumentError("max_cost", self.max_cost, "pass 0 or more")
        if self.max_cost is not None and not self.cost_per_entry:
            raise ArgumentError(
                "cost_per_entry",
                self.cost_per_entry,
                "say what one call costs, to keep to max_cost",
            )

    def allows(self, calls: int) -> bool:
        """Say whether so many calls, failed ones included, are within the budget.

        >>> Budget(max_cost=0.3, cost_per_entry=0.1).allows(3)
        True
        """
        rounding = 1e-9
        cost = calls * self.cost_per_entry
        return self.max_cost is None or cost <= self.max_cost * (1 + rounding)


@dataclass(slots=True)
class Pace:
    """Keeps to a number of questions a second; None is as fast as it goes."""

    per_second: float | None = None
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = field(default_factory=lambda: threading.Event().wait)
    _next: float = 0.0

    def __post_init__(self) -> None:
        if self.per_second is not None and not self.per_second > 0:
            raise ArgumentError("rate", self.per_second, "pass more than 0 a second")

    @property
    def batch(self) -> int:
        """How many may be stored at once without running ahead by more than a second."""
        return _BATCH if self.per_second is None else max(1, min(_BATCH, int(self.per_second)))

    def take(self, count: int) -> None:
        """Wait until the questions taken before have had their time, and take so many more."""
        if self.per_second is None:
            return
        now = self.clock()
        if self._next > now:
            self.pause(self._next - now)
        self._next = max(now, self._next) + count / self.per_second
