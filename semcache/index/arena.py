"""Rows of float32 kept under keys, without gaps: the memory that every index here searches.

The last row moves into the place of a removed one, so a removal costs the same at any size. Nothing
here compares rows, and nothing here locks: the caller does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from semcache.protocols import Vector, Vectors

__all__ = ["Arena"]


class Arena:
    """A growing matrix whose rows have keys."""

    __slots__ = ("_keys", "_row_of", "_rows", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows: Vectors = np.empty((0, width), dtype=np.float32)
        self._keys: list[bytes] = []
        self._row_of: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: bytes) -> bool:
        return key in self._row_of

    @property
    def capacity(self) -> int:
        """Rows there is room for."""
        return len(self._rows)

    @property
    def rows(self) -> Vectors:
        """The live rows, shape (len, width): a view, good until the next change."""
        return self._rows[: len(self._keys)]

    @property
    def nbytes(self) -> int:
        """Bytes held: rows, keys and the two maps between them."""
        keys = sum(sys.getsizeof(key) for key in self._keys)
        maps = sys.getsizeof(self._keys) + sys.getsizeof(self._row_of)
        return self._rows.nbytes + keys + maps

    def keys(self) -> Iterator[bytes]:
        """Every key, in the order of the rows."""
        return iter(self._keys)

    def key(self, row: int) -> bytes:
        """The key of a row."""
        return self._keys[row]

    def put(self, key: bytes, vector: Vector) -> int:
        """Keep `vector` under `key`, in place of what was there, and return its row."""
        row = self._row_of.get(key)
        if row is None:
            row = len(self._keys)
            if row == self.capacity:
                self._resize(max(1, 2 * row))
            self._keys.append(key)
            self._row_of[key] = row
        self._rows[row] = vector
        return row

    def drop(self, key: bytes) -> int | None:
        """Forget `key`. Return the row into which the last one moved, None if there was no key."""
        row = self._row_of.pop(key, None)
        if row is None:
            return None
        last_key = self._keys.pop()
        last = len(self._keys)
        if row != last:
            self._rows[row] = self._rows[last]
            self._keys[row] = last_key
            self._row_of[last_key] = row
        if 4 * last <= self.capacity and self.capacity > 8:
            self._resize(self.capacity // 2)
            # A dict keeps the room of its largest size until it is copied.
            self._row_of = dict(self._row_of)
        return row

    def _resize(self, capacity: int) -> None:
        rows = np.empty((capacity, self.width), dtype=np.float32)
        kept = min(capacity, len(self._rows))
        rows[:kept] = self._rows[:kept]
        self._rows = rows
