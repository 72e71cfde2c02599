"""One index a scope: similarity is only ever computed between requests of one scope.

Isolation holds with an embedder that maps every text to one vector, because a search reads no
other scope's rows. Most scopes are tiny, so an empty one is dropped and a small one costs little
more than its rows. Not safe for threads: the caller holds a ReadWriteLock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from semcache.errors import DimensionError
from semcache.index.faiss import FaissIndex
from semcache.index.windows import WindowIndex
from semcache.protocols import Vectors

__all__ = ["ScopedIndex"]


class ScopedIndex:
    """Entries by scope, each with one vector or, for a long text, one vector a window.

    Args:
        dimension: the width of every vector.

    Example:
        >>> index = ScopedIndex(2)
        >>> index.add(b"tenant-1", b"entry", np.array([[1.0, 0.0]]))
        >>> index.search(b"tenant-1", np.array([[1.0, 0.0]]), 5)
        [(b'entry', 1.0)]
        >>> index.search(b"tenant-2", np.array([[1.0, 0.0]]), 5)
        []
    """

    __slots__ = ("_long", "_short", "dimension")

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._short: dict[bytes, FaissIndex] = {}
        self._long: dict[bytes, dict[int, WindowIndex]] = {}

    def __len__(self) -> int:
        short = sum(len(index) for index in self._short.values())
        return short + sum(len(index) for index in self._windowed())

    @property
    def nbytes(self) -> int:
        """Bytes held by rows, sign bits, keys and maps of every scope."""
        maps = sys.getsizeof(self._short) + sys.getsizeof(self._long)
        short = sum(index.nbytes + sys.getsizeof(index) for index in self._short.values())
        return maps + short + sum(index.nbytes for index in self._windowed())

    def add(self, scope: bytes, key: bytes, vectors: Vectors) -> None:
        """Store an entry's vectors, shape (windows, dimension), in place of what `key` had.

        Raises:
            DimensionError: not of shape (windows, dimension).
            EmbedderError: a vector is not finite.
        """
        windows = self._windows(vectors)
        self._remove_other(scope, key, windows)
        if windows == 1:
            if scope not in self._short:
                self._short[scope] = FaissIndex(self.dimension)
            self._short[scope].add(key, vectors[0])
        else:
            group = self._long.setdefault(scope, {})
            group.setdefault(windows, WindowIndex(windows, self.dimension)).add(key, vectors)
        self._prune(scope)

    def remove(self, scope: bytes, key: bytes) -> bool:
        """Forget `key` in `scope`; say whether it was there."""
        removed = self._remove_other(scope, key, windows=0)
        self._prune(scope)
        return removed

    def search(self, scope: bytes, vectors: Vectors, k: int) -> list[tuple[bytes, float]]:
        """Return up to `k` (key, score) pairs of `scope`, best first.

        Only entries of as many windows as `vectors`, shape (windows, dimension), are compared. The
        score is the lowest cosine of any window: a hit means that every window agrees.
        """
        windows = self._windows(vectors)
        if windows == 1:
            short = self._short.get(scope)
            return [] if short is None else short.search(vectors[0], k)
        long = self._long.get(scope, {}).get(windows)
        return [] if long is None else long.search(vectors, k)

    def _windowed(self) -> Iterator[WindowIndex]:
        return (index for group in self._long.values() for index in group.values())

    def _windows(self, vectors: Vectors) -> int:
        shape = np.shape(vectors)
        if len(shape) != 2 or shape[0] == 0 or shape[1] != self.dimension:
            raise DimensionError(self.dimension, shape[-1] if shape else 0)
        return int(shape[0])

    def _remove_other(self, scope: bytes, key: bytes, windows: int) -> bool:
        """Remove `key` from the indexes of every window count but `windows`."""
        short = self._short.get(scope)
        removed = windows != 1 and short is not None and short.remove(key)
        for count, index in self._long.get(scope, {}).items():
            removed = (count != windows and index.remove(key)) or removed
        return removed

    def _prune(self, scope: bytes) -> None:
        """Give back the indexes of `scope` that hold nothing."""
        if scope in self._short and not len(self._short[scope]):
            del self._short[scope]
        group = self._long.get(scope)
        if group is None:
            return
        for count in [count for count, index in group.items() if not len(index)]:
            del group[count]
        if not group:
            del self._long[scope]
