"""Who waits for whom among calls in flight, so that no ring of calls waits for itself for ever.

Two calls that make each other, begun at the same time by two threads or tasks, would. Decides only
whether a caller may wait; one that may not makes its own call.
"""

from __future__ import annotations

import os
import threading

from semcache.flight_seats import within

__all__ = ["may_wait", "stop_waiting"]


class _Waits:
    """For each flight, the flights that its own call waits for just now."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        # Reentrant, as the locks of the flights are: the collector may end a wait anywhere.
        self.lock = threading.RLock()
        self.of: dict[object, list[object]] = {}


_waits = _Waits()


def may_wait(flight: object) -> tuple[object, ...] | None:
    """Note that the code that asks waits for a flight, unless that one waits for it in turn.

    Gives what `stop_waiting` takes, or None for a caller that must not wait.
    """
    mine = within.get()
    if not mine:
        return mine
    with _waits.lock:
        reached: set[object] = set()
        ahead = [flight]
        while ahead:
            at = ahead.pop()
            if at in mine:
                return None
            if at not in reached:
                reached.add(at)
                ahead.extend(_waits.of.get(at, ()))
        for own in mine:
            _waits.of.setdefault(own, []).append(flight)
    return mine


def stop_waiting(mine: tuple[object, ...], flight: object) -> None:
    """End what `may_wait` noted."""
    with _waits.lock:
        for own in mine:
            waits = _waits.of[own]
            waits.remove(flight)
            if not waits:
                del _waits.of[own]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waits.forget)
