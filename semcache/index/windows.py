"""Finds stored texts of several windows: an entry is as near as its least similar window.

A long text is embedded window by window. Only entries with as many windows are compared, each
window with the one in its place, so a difference anywhere in the text lowers the score. Not safe
for threads: the caller holds a ReadWriteLock.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from semcache.errors import ArgumentError, EmbedderError
from semcache.index.arena import Arena
from semcache.protocols import Vector, Vectors
from semcache.vectors import unit_rows

__all__ = ["WindowIndex"]


class WindowIndex:
    """An exact index of entries that each have `windows` vectors of one width.

    Example:
        >>> index = WindowIndex(2, 2)
        >>> index.add(b"long", np.array([[1.0, 0.0], [0.0, 1.0]]))
        >>> index.search(np.array([[1.0, 0.0], [0.6, 0.8]]), 1)
        [(b'long', 0.800000011920929)]
    """

    __slots__ = ("_arena", "dimension", "windows")

    def __init__(self, windows: int, dimension: int) -> None:
        self.windows = windows
        self.dimension = dimension
        self._arena = Arena(windows * dimension)

    def __len__(self) -> int:
        return len(self._arena)

    def __contains__(self, key: bytes) -> bool:
        return key in self._arena

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._arena.nbytes

    def keys(self) -> Iterator[bytes]:
        """Every stored key, in no particular order."""
        return self._arena.keys()

    def add(self, key: bytes, vectors: Vectors) -> None:
        """Store `vectors`, shape (windows, dimension), under `key`; not if a window is all zeros.

        Raises:
            DimensionError: the vectors have another width.
            EmbedderError: another number of windows, or not finite.
        """
        unit = self._unit(vectors)
        if unit is None:
            self.remove(key)
        else:
            self._arena.put(key, unit.reshape(-1))

    def remove(self, key: bytes) -> bool:
        """Forget `key`; say whether it was there."""
        return self._arena.drop(key) is not None

    def search(self, vectors: Vectors, k: int) -> list[tuple[bytes, float]]:
        """Return up to `k` (key, cosine of the least similar window) pairs, best first."""
        if k < 1:
            raise ArgumentError("k", k, "ask for at least 1 neighbour")
        unit = self._unit(vectors)
        if unit is None or not len(self):
            return []
        scores = self._least(unit)
        best = np.argsort(-scores, kind="stable")[:k]
        return [(self._arena.key(row), float(scores[row])) for row in best.tolist()]

    def _least(self, unit: Vectors) -> Vector:
        rows = self._arena.rows
        least: Vector = np.ones(len(rows), dtype=np.float32)
        for window, query in enumerate(unit):
            start = window * self.dimension
            np.minimum(least, rows[:, start : start + self.dimension] @ query, out=least)
        return np.maximum(least, np.float32(-1.0))

    def _unit(self, vectors: Vectors) -> Vectors | None:
        unit = unit_rows(vectors, dimension=self.dimension)
        if len(unit) != self.windows:
            raise EmbedderError(
                f"this index holds texts of {self.windows} windows, got one of {len(unit)}"
            )
        return unit if unit.any(axis=1).all() else None
