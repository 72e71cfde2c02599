"""What keeps a forked child from inheriting a lock that nobody in it will ever release.

Before a fork every registered object is brought to rest, the youngest first; afterwards the parent
goes on and the child renews its locks, threads and connections. Decides nothing about data.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Protocol

__all__ = ["REST_SECONDS", "ForkSafe", "Forkable", "Gate", "rest", "survive_forks"]

_POLL_SECONDS = 0.001

REST_SECONDS = 2.0
"""How long a fork waits for one object to come to rest; past that the fork goes on without it."""


class Forkable(Protocol):
    """An object that must be at rest when the process forks."""

    def before_fork(self) -> None:
        """Come to rest: nothing half done, no lock held by another thread."""
        ...

    def after_fork(self, *, in_child: bool) -> None:
        """Go on in the parent; start anew in the child, where no other thread lives."""
        ...


class Gate:
    """Lets any number of threads work inside, or one wait until nobody is and keep them out.

    Entering and leaving is one atomic list operation each: look-ups pass here. Whoever enters
    signs in first and looks at the gate second, and whoever shuts it does the reverse, so one of
    the two sees the other.
    """

    def __init__(self) -> None:
        self._inside: list[None] = []
        self._is_open = threading.Event()
        self._is_open.set()
        self._shut = False

    def __enter__(self) -> None:
        self._inside.append(None)
        while self._shut:
            self._inside.pop()
            self._is_open.wait()
            self._inside.append(None)

    def __exit__(self, *_: object) -> None:
        self._inside.pop()

    def shut(self, timeout_seconds: float) -> bool:
        """Keep newcomers out and wait for those inside; say whether they have all left."""
        self._is_open.clear()
        self._shut = True
        pause = threading.Event()
        for _ in range(int(timeout_seconds / _POLL_SECONDS) + 1):
            if not self._inside:
                return True
            pause.wait(_POLL_SECONDS)
        return False

    def open(self) -> None:
        """Let everybody in again."""
        self._shut = False
        self._is_open.set()

    @contextmanager
    def alone(self, timeout_seconds: float) -> Iterator[bool]:
        """Work with nobody else inside; gives False if somebody did not leave in time."""
        rested = self.shut(timeout_seconds)
        try:
            yield rested
        finally:
            self.open()


_survivors: weakref.WeakValueDictionary[int, Forkable] = weakref.WeakValueDictionary()
_ages = count()
_hooked = threading.Event()


def survive_forks(item: Forkable) -> None:
    """Bring `item` to rest before every fork of this process, for as long as it lives."""
    _survivors[next(_ages)] = item
    if not _hooked.is_set():
        _hooked.set()
        os.register_at_fork(
            before=_rest_all, after_in_parent=_go_on_in_parent, after_in_child=_go_on_in_child
        )


def rest(lock: threading.Lock) -> bool:
    """Take `lock` for the time of a fork, so that no other thread holds it in the child."""
    return lock.acquire(timeout=REST_SECONDS)


class ForkSafe:
    """An object with one lock, `_lock`, that no forked child inherits held or half way through."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_resting = False
        survive_forks(self)

    def before_fork(self) -> None:
        """Let other threads finish what they are changing."""
        self._is_resting = rest(self._lock)

    def after_fork(self, *, in_child: bool) -> None:
        """Go on, with a new lock in the child."""
        if in_child:
            self._lock = threading.Lock()
        elif self._is_resting:
            self._lock.release()


def _youngest_first() -> list[Forkable]:
    return [item for _, item in sorted(_survivors.items(), reverse=True)]


def _rest_all() -> None:
    for item in _youngest_first():
        item.before_fork()


def _go_on_in_parent() -> None:
    for item in reversed(_youngest_first()):
        item.after_fork(in_child=False)


def _go_on_in_child() -> None:
    for item in reversed(_youngest_first()):
        item.after_fork(in_child=True)
