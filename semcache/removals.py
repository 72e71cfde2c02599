"""What was taken out or replaced lately, so that a call that began before leaves nothing behind.

An invalidation moves a counter, and entries compare counters; taking entries out moves none. This
room remembers the newest removals, by key or by predicate. Of older ones it remembers that there
were some: forgetting can only refuse an answer, never let one in. It stores and deletes nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semcache.entry import Entry

__all__ = ["Removals"]

_MOST_KEYS = 10_000
_MOST_PREDICATES = 64


class Removals:
    """The removals that this process knows of, numbered in order. Safe for threads.

    >>> removals = Removals()
    >>> before = removals.number(b"key")
    >>> removals.note([b"key"])
    1
    >>> removals.number(b"key") > before
    True
    """

    def __init__(self) -> None:
        self._newest: OrderedDict[bytes, int] = OrderedDict()
        self._predicates: deque[tuple[int, Callable[[Entry], bool]]] = deque()
        self._count = 0
        self._last_purge = 0
        self._floor = 0
        self.reset_lock()

    def reset_lock(self) -> None:
        """Take a fresh lock: at birth, and in a forked child."""
        self._lock = threading.Lock()

    def number(self, key: bytes) -> int:
        """Give a number that grows whenever `key` is, or may have been, taken out."""
        return max(self._newest.get(key, 0), self._last_purge, self._floor)

    def note(self, keys: Iterable[bytes]) -> int:
        """Write down that keys are being taken out or replaced, before they are; give the number.

        A call that begins at that number may store an answer.
        """
        with self._lock:
            for key in keys:
                self._count += 1
                self._newest[key] = self._count
                self._newest.move_to_end(key)
            while len(self._newest) > _MOST_KEYS:
                _, self._floor = self._newest.popitem(last=False)
            return self._count

    def note_where(self, predicate: Callable[[Entry], bool]) -> None:
        """Write down that entries of a kind are being taken out, before they are looked for."""
        with self._lock:
            self._count += 1
            self._last_purge = self._count
            self._predicates.append((self._count, predicate))
            if len(self._predicates) > _MOST_PREDICATES:
                number, _ = self._predicates.popleft()
                self._floor = max(self._floor, number)

    def unless_removed(self, since: int, entry: Entry, store: Callable[[Entry], None]) -> bool:
        """Store the entry of a call that began at the number `since`, unless it was taken out.

        Says whether it was stored. No removal can come between the test and the storing: it waits,
        and then finds the entry there. Predicates are the user's, and are asked without the lock.
        """
        while True:
            seen = self._count
            if max(self._newest.get(entry.key, 0), self._floor) > since:
                return False
            purges = self._predicates.copy()
            if any(number > since and predicate(entry) for number, predicate in purges):
                return False
            with self._lock:
                if seen == self._count:
                    store(entry)
                    return True
