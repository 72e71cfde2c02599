"""Lets many threads search or one change: FAISS crashes when both happen at once.

A waiting writer goes before new readers, so searches cannot starve it. For that reason a thread
must not take the lock again while it holds it. A fork waits for a change that is under way, so that
a forked child starts with the lock free and nothing half changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from semcache.store.fork import REST_SECONDS, survive_forks

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """Many readers or one writer.

    Example:
        >>> lock = ReadWriteLock()
        >>> with lock.read():
        ...     pass
        >>> with lock.write():
        ...     pass
    """

    __slots__ = (
        "__weakref__",
        "_condition",
        "_is_resting",
        "_reader",
        "_readers",
        "_waiting",
        "_writer",
        "_writing",
    )

    def __init__(self) -> None:
        self._reader = _Side(self._enter_read, self._leave_read)
        self._writer = _Side(self._enter_write, self._leave_write)
        self._free()
        survive_forks(self)

    def read(self) -> _Side:
        """A context in which others may read and nobody writes."""
        return self._reader

    def write(self) -> _Side:
        """A context that nobody shares."""
        return self._writer

    def _free(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._readers = 0
        self._waiting = 0
        self._writing = False
        self._is_resting = False

    def before_fork(self) -> None:
        """Let other threads finish what they are changing."""
        self._is_resting = self._enter_write(REST_SECONDS)

    def after_fork(self, *, in_child: bool) -> None:
        """Go on; the child starts with the lock free."""
        if in_child:
            self._free()
        elif self._is_resting:
            self._leave_write()

    def _enter_read(self) -> None:
        with self._condition:
            while self._writing or self._waiting:
                self._condition.wait()
            self._readers += 1

    def _leave_read(self) -> None:
        with self._condition:
            # A thread that forked while it read leaves once in the child too, where nobody reads.
            self._readers = max(0, self._readers - 1)
            if not self._readers and self._waiting:
                self._condition.notify_all()

    def _enter_write(self, timeout_seconds: float | None = None) -> bool:
        with self._condition:
            entered = False
            self._waiting += 1
            try:
                entered = self._condition.wait_for(self._is_free, timeout_seconds)
                self._writing = self._writing or entered
            finally:
                self._waiting -= 1
                if not entered:
                    self._condition.notify_all()
            return entered

    def _is_free(self) -> bool:
        return not (self._writing or self._readers)

    def _leave_write(self) -> None:
        with self._condition:
            self._writing = False
            self._condition.notify_all()


class _Side:
    """A context that is entered and left by two methods of the lock."""

    __slots__ = ("_enter", "_leave")

    def __init__(self, enter: Callable[[], object], leave: Callable[[], None]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
