"""What candidates are found by: near-duplicate maps and vectors, one of each for every scope.

Projections of the store: thrown away and rebuilt at will, never the truth. They answer with keys
and scores; whether the entry behind a key still stands, and may be served, is for others to say.
Vectors of different embedders never meet: each fingerprint has its own index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from semcache.decision import Tier
from semcache.entry import Entry
from semcache.index.lock import ReadWriteLock
from semcache.index.scoped import ScopedIndex
from semcache.match.neardup import NearDuplicates, Prepared
from semcache.protocols import Vectors

__all__ = ["Candidate", "Projections"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key that a tier found, with its score (higher is closer) and what it saw."""

    key: bytes
    score: float
    tier: Tier
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    scope: bytes
    embedder: str


class Projections:
    """All indexes of one cache. Look-ups run side by side, a change excludes them.

    A tier that is switched off has no index: nothing is computed for it.
    """

    def __init__(self, *, near_duplicates: bool = True, semantic: bool = True) -> None:
        self._has_near = near_duplicates
        self._has_vectors = semantic
        self._places: dict[bytes, _Place] = {}
        self._near: dict[bytes, NearDuplicates] = {}
        self._vectors: dict[str, ScopedIndex] = {}
        self._pending: deque[tuple[Entry, Prepared | None]] = deque()
        self.lock = ReadWriteLock()

    def __len__(self) -> int:
        self.settle()
        with self.lock.read():
            return len(self._places)

    def __contains__(self, key: bytes) -> bool:
        self.settle()
        with self.lock.read():
            return key in self._places

    @property
    def vector_bytes(self) -> int:
        """Memory held by vectors, in bytes."""
        with self.lock.read():
            return sum(index.nbytes for index in self._vectors.values())

    def embedders(self) -> dict[str, int]:
        """Give the number of entries with vectors, by embedder fingerprint."""
        self.settle()
        with self.lock.read():
            return {name: len(index) for name, index in self._vectors.items()}

    def add(self, entry: Entry, prepared: Prepared | None = None) -> None:
        """Make an entry findable; it takes the place of what its key found before."""
        self.add_later(entry, prepared)
        self.settle()

    def add_later(self, entry: Entry, prepared: Prepared | None = None) -> None:
        """Queue an entry: it is found as if it were in, and whoever asks next puts it in."""
        self._pending.append((entry, prepared))

    def settle(self) -> None:
        """Put in what is queued, in order."""
        while self._pending:
            with self.lock.write():
                while self._pending:
                    self._add(*self._pending.popleft())

    def _add(self, entry: Entry, prepared: Prepared | None) -> None:
        self._remove(entry.key)
        if entry.exact_only:
            return
        has_vectors = self._has_vectors and entry.windows > 0
        if self._has_near:
            self._add_near(entry, prepared)
        if has_vectors:
            self._add_vectors(entry)
        self._places[entry.key] = _Place(entry.scope, entry.embedder if has_vectors else "")

    def _add_near(self, entry: Entry, prepared: Prepared | None) -> None:
        near = self._near.get(entry.scope)
        if near is None:
            near = self._near[entry.scope] = NearDuplicates()
        near.add(entry.key, entry.text if prepared is None else prepared)

    def _add_vectors(self, entry: Entry) -> None:
        vectors = vectors_of(entry)
        index = self._vectors.get(entry.embedder)
        if index is None:
            index = self._vectors[entry.embedder] = ScopedIndex(vectors.shape[1])
        index.add(entry.scope, entry.key, vectors)

    def remove(self, keys: Iterable[bytes]) -> None:
        """Forget keys; unknown ones are no error."""
        self.settle()
        with self.lock.write():
            for key in keys:
                self._remove(key)

    def _remove(self, key: bytes) -> None:
        place = self._places.pop(key, None)
        if place is None:
            return
        near = self._near.get(place.scope)
        if near is not None:
            near.remove(key)
            if not len(near):
                del self._near[place.scope]
        if place.embedder:
            self._vectors[place.embedder].remove(place.scope, key)

    def clear(self) -> None:
        """Forget everything, before a rebuild."""
        with self.lock.write():
            self._pending.clear()
            self._places.clear()
            self._near.clear()
            self._vectors.clear()

    def near(self, scope: bytes, prepared: Prepared, limit: int) -> list[Candidate]:
        """Give near-duplicates of one scope, best first."""
        self.settle()
        with self.lock.read():
            index = self._near.get(scope)
            found = [] if index is None else index.search(prepared, limit)
        return [Candidate(key, score, Tier.NEAR_DUPLICATE, why) for key, score, why in found]

    def semantic(self, embedder: str, scope: bytes, vectors: Vectors, k: int) -> list[Candidate]:
        """Give the nearest entries of one scope by cosine, best first."""
        self.settle()
        with self.lock.read():
            index = self._vectors.get(embedder)
            found = [] if index is None else index.search(scope, vectors, k)
        return [Candidate(key, score, Tier.SEMANTIC) for key, score in found]


def vectors_of(entry: Entry) -> Vectors:
    """Give an entry's vectors, float32 of shape (windows, dimension)."""
    return np.frombuffer(entry.vectors, dtype=np.float32).reshape(entry.windows, -1)


def as_bytes(vectors: Vectors | Sequence[Sequence[float]]) -> bytes:
    """Give vectors as the float32 bytes that an entry keeps."""
    return np.ascontiguousarray(vectors, dtype=np.float32).tobytes()
