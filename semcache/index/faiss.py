"""Finds the nearest stored vectors by true cosine: exactly, or past 5,000 rows by a prescan.

The prescan compares sign bits with `faiss.knn_hamming` and scores the best 64 exactly, so a score
is always a true cosine; only whom it scores is estimated. Not safe for threads: FAISS crashes when
rows move during a search, so the caller holds a ReadWriteLock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from semcache.errors import ArgumentError, DimensionError
from semcache.heavy import imported
from semcache.index.arena import Arena
from semcache.protocols import Vector
from semcache.vectors import unit_rows

__all__ = ["PRESCAN_ROWS", "FaissIndex"]

# Measured at 384 dimensions: up to here an exact scan costs no more than 0.2 ms.
PRESCAN_ROWS = 5_000
# Sign bits of fewer dimensions than this say too little for the best 64 to hold the nearest.
_PRESCAN_DIMENSIONS = 128
_RESCORED = 64
# Rows turned into sign bits at once, to bound the temporary.
_CHUNK = 32_768


class FaissIndex:
    """A VectorIndex over unit vectors of one width.

    Args:
        dimension: the width of every vector.

    Example:
        >>> index = FaissIndex(2)
        >>> index.add(b"east", np.array([1.0, 0.0]))
        >>> index.add(b"north", np.array([0.0, 1.0]))
        >>> index.search(np.array([1.0, 0.0]), 1)
        [(b'east', 1.0)]
    """

    __slots__ = ("_arena", "_bits", "_centre", "dimension")

    def __init__(self, dimension: int) -> None:
        if dimension < 1:
            raise ArgumentError("dimension", dimension, "pass the width of the embedder's vectors")
        self.dimension = dimension
        self._arena = Arena(dimension)
        self._bits: NDArray[np.uint8] | None = None
        self._centre: Vector = np.zeros(dimension, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._arena)

    def __contains__(self, key: bytes) -> bool:
        return key in self._arena

    @property
    def nbytes(self) -> int:
        """Bytes held, the sign bits included."""
        return self._arena.nbytes + (0 if self._bits is None else self._bits.nbytes)

    def keys(self) -> Iterator[bytes]:
        """Every stored key, in no particular order."""
        return self._arena.keys()

    def add(self, key: bytes, vector: Vector) -> None:
        """Store `vector`, shape (dimension,), under `key`, in place of what was there.

        A vector of zeros has no direction: it is not kept, and what was under the key goes.

        Raises:
            DimensionError: the vector has another width.
            EmbedderError: the vector is not finite.
        """
        unit = self._unit(vector)
        if unit is None:
            self.remove(key)
            return
        row = self._arena.put(key, unit)
        self._mark(row, unit)

    def remove(self, key: bytes) -> bool:
        """Forget `key`; say whether it was there."""
        row = self._arena.drop(key)
        if row is None:
            return False
        if self._bits is not None:
            if len(self) < PRESCAN_ROWS // 2:
                self._bits = None
            else:
                self._bits[row] = self._bits[len(self)]
        return True

    def search(self, vector: Vector, k: int) -> list[tuple[bytes, float]]:
        """Return up to `k` (key, cosine) pairs, best first.

        Args:
            vector: shape (dimension,). A vector of zeros finds nothing.
            k: how many at most, 1 or more.

        Raises:
            ArgumentError: `k` is below 1.
            DimensionError: the vector has another width.
        """
        if k < 1:
            raise ArgumentError("k", k, "ask for at least 1 neighbour")
        unit = self._unit(vector)
        if unit is None or not len(self):
            return []
        rows, scores = self._scan(unit, min(k, len(self)))
        return [
            (self._arena.key(row), max(-1.0, min(1.0, score)))
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
            if row >= 0
        ]

    def _scan(self, unit: Vector, k: int) -> tuple[NDArray[np.int64], Vector]:
        faiss = imported("faiss")
        if self._bits is None:
            scores, rows = faiss.knn(
                unit[None], self._arena.rows, k, metric=faiss.METRIC_INNER_PRODUCT
            )
            return rows[0], scores[0]
        rescored = min(max(_RESCORED, 4 * k), len(self))
        signs = np.packbits(unit > self._centre)[None]
        _, near = faiss.knn_hamming(signs, self._bits[: len(self)], rescored)
        exact = self._arena.rows[near[0]] @ unit
        best = np.argsort(-exact, kind="stable")[:k]
        return near[0][best], exact[best]

    def _mark(self, row: int, unit: Vector) -> None:
        """Keep the sign bits in step with a row just written; rebuild them when the arena grew."""
        if self._bits is None and (
            len(self) <= PRESCAN_ROWS or self.dimension < _PRESCAN_DIMENSIONS
        ):
            return
        if self._bits is None or self._bits.shape[0] < len(self):
            self._rebuild()
        else:
            self._bits[row] = np.packbits(unit > self._centre)

    def _rebuild(self) -> None:
        """Take the signs around the mean: models whose vectors all point one way need that.

        Measured with 20,000 vectors of mean cosine 0.9 and neighbours at 0.95: recall 0.71 without.
        """
        rows = self._arena.rows
        self._centre = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._bits = np.empty((self._arena.capacity, (self.dimension + 7) // 8), dtype=np.uint8)
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK] > self._centre
            self._bits[start : start + len(chunk)] = np.packbits(chunk, axis=1)

    def _unit(self, vector: Vector) -> Vector | None:
        array = np.asarray(vector)
        if array.ndim != 1:
            raise DimensionError(self.dimension, array.shape[-1] if array.ndim else 0)
        unit: Vector = unit_rows(array[None], dimension=self.dimension)[0]
        return unit if unit.any() else None


def _calm_threads() -> None:
    """Keep a forked child to one FAISS thread: the others of the parent's pool are not there."""
    faiss = sys.modules.get("faiss")
    if faiss is not None:
        faiss.omp_set_num_threads(1)


os.register_at_fork(after_in_child=_calm_threads)
