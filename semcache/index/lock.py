"""Lets many threads search or one change: FAISS crashes when both happen at once.

A waiting writer goes before new readers, so searches cannot starve it. For that reason a thread
must not take the lock again while it holds it. A forked child starts with the lock free.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from weakref import WeakSet

__all__ = ["ReadWriteLock"]

_LOCKS: WeakSet[ReadWriteLock] = WeakSet()


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
        "_reader",
        "_readers",
        "_waiting",
        "_writer",
        "_writing",
    )

    def __init__(self) -> None:
        self._reader = _Reader(self)
        self._writer = _Writer(self)
        self._free()
        _LOCKS.add(self)

    def read(self) -> _Reader:
        """A context in which others may read and nobody writes."""
        return self._reader

    def write(self) -> _Writer:
        """A context that nobody shares."""
        return self._writer

    def _free(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._readers = 0
        self._waiting = 0
        self._writing = False

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

    def _enter_write(self) -> None:
        with self._condition:
            self._waiting += 1
            try:
                while self._writing or self._readers:
                    self._condition.wait()
                self._writing = True
            finally:
                self._waiting -= 1
                if not self._writing:
                    self._condition.notify_all()

    def _leave_write(self) -> None:
        with self._condition:
            self._writing = False
            self._condition.notify_all()


class _Reader:
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock._enter_read()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock._leave_read()


class _Writer:
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock._enter_write()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock._leave_write()


def _free_all() -> None:
    """The threads that held a lock at the fork do not exist in the child."""
    for lock in list(_LOCKS):
        lock._free()


os.register_at_fork(after_in_child=_free_all)
