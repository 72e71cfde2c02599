"""Entries in memory: least recently used go first, inside bounds of entries and of bytes.

Expired entries go before any other, pinned ones after all others. Nothing is renewed by a look-up,
and entries are returned whether expired or not: the cache decides.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from semcache.entry import Entry
from semcache.errors import ArgumentError
from semcache.store.fork import ForkSafe

__all__ = ["MemoryStore"]


class MemoryStore(ForkSafe):
    """A bounded map of entries. Safe for threads and forks.

    `max_bytes` bounds the sum of `Entry.size_bytes`. `grace_seconds` is how long an expired entry
    may still be served: it is not dropped as expired before that.

    >>> entry = Entry(key=bytes(16), entry_id="a", scope=b"s", namespace="default", model=None,
    ...               text="hi", payload=b"hello", created_at=1.0, expires_at=None)
    >>> store = MemoryStore(max_entries=10, max_bytes=10_000, clock=lambda: 1.0)
    >>> store.put([entry])
    ()
    >>> store.get(entry.key) is entry
    True
    """

    def __init__(
        self,
        *,
        max_entries: int,
        max_bytes: int,
        clock: Callable[[], float],
        grace_seconds: float = 0.0,
    ) -> None:
        super().__init__()
        if max_entries < 1:
            raise ArgumentError("max_entries", max_entries, "pass at least 1")
        if max_bytes < 1:
            raise ArgumentError("max_bytes", max_bytes, "pass the bound of the memory in bytes")
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._plain: OrderedDict[bytes, Entry] = OrderedDict()
        self._pinned: OrderedDict[bytes, Entry] = OrderedDict()
        self._expiries: list[tuple[float, int, Entry]] = []
        self._ties = count()
        self._bytes = 0
        self.hits = 0

    def get(self, key: bytes) -> Entry | None:
        """Return the entry under `key`, expired or not, or None; it is the last to go now."""
        with self._lock:
            order = self._plain
            entry = order.get(key)
            if entry is None:
                order = self._pinned
                entry = order.get(key)
                if entry is None:
                    return None
            order.move_to_end(key)
            self.hits += 1
            return entry

    def peek(self, key: bytes) -> Entry | None:
        """Return the entry under `key` or None, without a say in what goes next."""
        with self._lock:
            entry = self._plain.get(key)
            return self._pinned.get(key) if entry is None else entry

    def put(self, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        """Store `entries`; return the keys dropped to stay within the bounds.

        An entry that alone exceeds `max_bytes` is refused: it is among the keys returned, an older
        entry of its key goes too, all others stay.
        """
        dropped: dict[bytes, None] = {}
        with self._lock:
            for entry in entries:
                self._pop(entry.key)
                dropped.pop(entry.key, None)
                if entry.size_bytes > self._max_bytes:
                    dropped[entry.key] = None
                else:
                    self._add(entry)
                    dropped.update(dict.fromkeys(self._shrink()))
        return tuple(dropped)

    def delete(self, keys: Iterable[bytes]) -> int:
        """Drop entries; return how many there were."""
        with self._lock:
            return sum(self._pop(key) is not None for key in list(keys))

    def scan(self) -> Iterator[Entry]:
        """Yield the entries of this moment, the next to be dropped first."""
        with self._lock:
            entries = [*self._plain.values(), *self._pinned.values()]
        yield from entries

    def clear(self) -> None:
        """Drop everything, silently."""
        with self._lock:
            self._plain.clear()
            self._pinned.clear()
            self._expiries.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._plain) + len(self._pinned)

    def __contains__(self, key: bytes) -> bool:
        return key in self._plain or key in self._pinned

    @property
    def size_bytes(self) -> int:
        """The sum that `max_bytes` bounds."""
        return self._bytes

    def _add(self, entry: Entry) -> None:
        (self._pinned if entry.pinned else self._plain)[entry.key] = entry
        self._bytes += entry.size_bytes
        if entry.expires_at is not None:
            heapq.heappush(self._expiries, (entry.expires_at, next(self._ties), entry))
            # Overwritten and deleted entries stay in the heap until it is twice the size it needs.
            if len(self._expiries) > 2 * len(self) + 64:
                self._expiries = [item for item in self._expiries if self._holds(item[2])]
                heapq.heapify(self._expiries)

    def _pop(self, key: bytes) -> Entry | None:
        entry = self._plain.pop(key, None) or self._pinned.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size_bytes
        return entry

    def _holds(self, entry: Entry) -> bool:
        held = self._plain.get(entry.key) or self._pinned.get(entry.key)
        return held is entry

    def _shrink(self) -> Iterator[bytes]:
        while len(self) > self._max_entries or self._bytes > self._max_bytes:
            key = self._next_expired()
            if key is None:
                key = next(iter(self._plain or self._pinned))
            self._pop(key)
            yield key

    def _next_expired(self) -> bytes | None:
        now = self._clock()
        while self._expiries:
            entry = self._expiries[0][2]
            if self._holds(entry):
                if entry.is_live(now, grace_seconds=self._grace_seconds):
                    return None
                return entry.key
            heapq.heappop(self._expiries)
        return None
