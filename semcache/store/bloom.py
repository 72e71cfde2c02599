"""A filter that knows most keys that are not on disk, so that a miss costs no read.

It never says no to a key it was given. It cannot forget one: after many deletes, or more keys than
it was made for, it asks to be rebuilt and turns over to a new filter of the right size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from semcache.store.fork import ForkSafe

__all__ = ["RotatingBloom"]

_LEAST_KEYS = 8_192
_BITS_A_KEY = 12
_HASHES = 7
_WORD = (1 << 64) - 1


class RotatingBloom(ForkSafe):
    """A Bloom filter over keys that are random already, such as digests of 16 bytes.

    >>> bloom = RotatingBloom()
    >>> bloom.add(bytes(range(16)))
    >>> bytes(range(16)) in bloom, bytes(16) in bloom
    (True, False)
    """

    def __init__(self) -> None:
        super().__init__()
        self._late: list[bytes] | None = None
        self.rebuild(list)

    def add(self, key: bytes) -> None:
        """Take `key` in. Two threads that set bits of one byte must not undo each other."""
        with self._lock:
            if self._late is not None:
                self._late.append(key)
            self._set(key)

    def _set(self, key: bytes) -> None:
        bits, mask = self._filter
        for place in _places(key, mask):
            bits[place >> 3] |= 1 << (place & 7)
        self._added += 1

    def note_deleted(self, number: int) -> None:
        """Count keys that are gone from the disk but not from the filter."""
        with self._lock:
            self._deleted += number

    def note_false_alarm(self) -> None:
        """Count a key that was let through and was not there."""
        self._false_alarms += 1

    def __contains__(self, key: bytes) -> bool:
        bits, mask = self._filter
        for place in _places(key, mask):
            if not bits[place >> 3] & (1 << (place & 7)):
                self._refusals += 1
                return False
        return True

    def rebuild(self, read_keys: Callable[[], Iterable[bytes]]) -> None:
        """Turn over to a new filter of what `read_keys` gives and what is added meanwhile."""
        with self._lock:
            self._late = []
        known = [key[:16].ljust(16, b"\0") for key in read_keys()]
        capacity = max(_LEAST_KEYS, 2 * len(known))
        mask = (1 << (capacity * _BITS_A_KEY - 1).bit_length()) - 1
        marks = np.zeros(mask + 1, dtype=bool)
        halves = np.frombuffer(b"".join(known), dtype="<u8").reshape(-1, 2)
        first, step = halves[:, 0], halves[:, 1] | np.uint64(1)
        for turn in range(_HASHES):
            marks[(first + np.uint64(turn) * step) & np.uint64(mask)] = True
        bits = bytearray(np.packbits(marks, bitorder="little").tobytes())
        with self._lock:
            self._filter, self._capacity = (bits, mask), capacity
            self._added, self._deleted = len(known), 0
            self._false_alarms = self._refusals = 0
            for key in self._late:
                self._set(key)
            self._late = None

    @property
    def is_stale(self) -> bool:
        """Whether a rebuild would pay: it is overfull, or half of what it knows is gone."""
        return self._added > self._capacity or self._deleted > self._capacity // 2

    @property
    def false_positive_rate(self) -> float:
        """The share of absent keys that it should let through, from how full it is."""
        mask = self._filter[1]
        return float((1.0 - np.exp(-_HASHES * self._added / (mask + 1))) ** _HASHES)

    @property
    def observed_rate(self) -> float:
        """The share of absent keys that it did let through, since it was last rebuilt."""
        asked = self._false_alarms + self._refusals
        return self._false_alarms / asked if asked else 0.0


def _places(key: bytes, mask: int) -> list[int]:
    first = int.from_bytes(key[:8], "little")
    step = int.from_bytes(key[8:16], "little") | 1
    return [((first + turn * step) & _WORD) & mask for turn in range(_HASHES)]
