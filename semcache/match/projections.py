"""What candidates are found by: near-duplicate maps and vectors, one of each for every scope.

Projections of the store: thrown away and rebuilt at will, never the truth. They answer with keys
and scores; whether the entry behind a key still stands, and may be served, is for others to say.
Vectors of different embedders never meet: each fingerprint and width has its own index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semcache.decision import Tier
from semcache.entry import Entry
from semcache.index.lock import ReadWriteLock
from semcache.index.scoped import ScopedIndex
from semcache.match.neardup import NearDuplicates, Prepared
from semcache.protocols import Vectors

__all__ = ["Candidate", "Projections", "Space", "as_bytes", "vectors_of"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A key that a tier found, with its score (higher is closer) and what it saw."""

    key: bytes
    score: float
    tier: Tier
    detail: str = ""


class Space(NamedTuple):
    """What vectors must share to be compared. Nobody need trust a name alone."""

    embedder: str
    dimension: int


@dataclass(frozen=True, slots=True)
class _Place:
    scope: bytes
    space: Space | None


class Projections:
    """All indexes of one cache. Look-ups run side by side, a change excludes them.

    They follow the store by state, not by event: whoever has changed the store names the keys
    afterwards, and each is made findable, or not, as the store has it then. So two threads that
    change one key in any order leave the index as the store is.

    Args:
        read: gives the entry that the store has under a key now, or None.
        near_duplicates: whether texts are indexed; for a tier that is off nothing is computed.
        semantic: whether vectors are indexed.
        most_pending: how many changes wait before whoever adds one has to settle them.
    """

    def __init__(
        self,
        read: Callable[[bytes], Entry | None],
        *,
        near_duplicates: bool = True,
        semantic: bool = True,
        most_pending: int = 1000,
    ) -> None:
        self.read = read
        self._has_near = near_duplicates
        self._has_vectors = semantic
        self._most_pending = most_pending
        self._places: dict[bytes, _Place] = {}
        self._near: dict[bytes, NearDuplicates] = {}
        self._vectors: dict[Space, ScopedIndex] = {}
        self._pending: deque[tuple[bytes, Prepared | None]] = deque()
        self._followed: set[bytes] | None = None
        self.lock = ReadWriteLock()

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: bytes) -> bool:
        return key in self.keys()

    def keys(self) -> AbstractSet[bytes]:
        """Every key that can be found."""
        self.settle()
        with self.lock.read():
            return set(self._places)

    @property
    def vector_bytes(self) -> int:
        """Memory held by vectors, in bytes."""
        with self.lock.read():
            return sum(index.nbytes for index in self._vectors.values())

    def spaces(self) -> dict[Space, int]:
        """Give the number of entries with vectors, by embedder fingerprint and width."""
        self.settle()
        with self.lock.read():
            return {space: len(index) for space, index in self._vectors.items()}

    def follow(
        self, keys: Iterable[bytes], *, unless: Callable[[Entry], bool] | None = None
    ) -> None:
        """Make each key findable, or not, as the store has it now.

        `unless` says of an entry that it is dead and not to be found, though the store has it.
        """
        self.settle()
        with self.lock.write():
            for key in keys:
                self._follow(key, None, unless)

    def follow_later(self, key: bytes, prepared: Prepared | None = None) -> None:
        """Queue a key: it is found as if it were in, and whoever asks next puts it in.

        `prepared` is what was computed of its text already.
        """
        self._pending.append((key, prepared))
        if len(self._pending) > self._most_pending:
            self.settle()

    def settle(self) -> None:
        """Follow what is queued, in order."""
        while self._pending:
            with self.lock.write():
                while self._pending:
                    self._follow(*self._pending.popleft(), None)

    def rebuild(self, entries: Iterable[Entry]) -> None:
        """Forget everything and begin anew with `entries`, which the store yields meanwhile."""
        with self.lock.write():
            self._followed = set()
            self._places.clear()
            self._near.clear()
            self._vectors.clear()
        try:
            for entry in entries:
                with self.lock.write():
                    # What was followed since is as the store has it: newer than what is yielded.
                    if entry.key not in self._followed:
                        self._add(entry, None)
        finally:
            self._followed = None

    def _follow(
        self, key: bytes, prepared: Prepared | None, unless: Callable[[Entry], bool] | None
    ) -> None:
        entry = self.read(key)
        if self._followed is not None:
            self._followed.add(key)
        if entry is None or (unless is not None and unless(entry)):
            self._remove(key)
        else:
            self._add(entry, prepared)

    def _add(self, entry: Entry, prepared: Prepared | None) -> None:
        self._remove(entry.key)
        if entry.exact_only:
            return
        vectors = vectors_of(entry) if self._has_vectors else None
        space = None if vectors is None else Space(entry.embedder, vectors.shape[1])
        self._places[entry.key] = _Place(entry.scope, space)
        if self._has_near:
            usable = prepared is not None and prepared.text == entry.text
            near = self._near.setdefault(entry.scope, NearDuplicates())
            near.add(entry.key, prepared if usable and prepared else entry.text)
        if vectors is not None and space is not None:
            index = self._vectors.setdefault(space, ScopedIndex(space.dimension))
            index.add(entry.scope, entry.key, vectors)

    def _remove(self, key: bytes) -> None:
        place = self._places.pop(key, None)
        if place is None:
            return
        near = self._near.get(place.scope)
        if near is not None:
            near.remove(key)
            if not len(near):
                del self._near[place.scope]
        if place.space is not None:
            index = self._vectors.get(place.space)
            if index is not None:
                index.remove(place.scope, key)
                if not len(index):
                    del self._vectors[place.space]

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
            index = self._vectors.get(Space(embedder, np.shape(vectors)[1]))
            found = [] if index is None else index.search(scope, vectors, k)
        return [Candidate(key, score, Tier.SEMANTIC) for key, score in found]


def vectors_of(entry: Entry) -> Vectors | None:
    """Give an entry's vectors, float32 of shape (windows, dimension); None if it has none.

    Bytes that are no such vectors are none: an entry may come from a folder or a file.
    """
    row_bytes, rest = divmod(len(entry.vectors), max(entry.windows, 1))
    if entry.windows < 1 or not row_bytes or rest or row_bytes % 4:
        return None
    vectors = np.frombuffer(entry.vectors, dtype=np.float32).reshape(entry.windows, -1)
    return vectors if np.isfinite(vectors).all() else None


def as_bytes(vectors: Vectors | Sequence[Sequence[float]]) -> bytes:
    """Give vectors as the float32 bytes that an entry keeps."""
    return np.ascontiguousarray(vectors, dtype=np.float32).tobytes()
