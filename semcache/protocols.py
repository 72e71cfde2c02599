"""The roles that others may play: what the cache asks of an embedder, an index and their like.

A protocol says what is called and what must hold of the answer. It decides nothing and imports
nothing heavy. Each one has a contract suite under tests/contracts that any implementation can run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from semcache.decision import Verdict
    from semcache.entry import Entry
    from semcache.text.facts import Facts

__all__ = ["Embedder", "Guard", "Policy", "Store", "Vector", "VectorIndex", "Vectors"]

Vector: TypeAlias = NDArray[np.float32]
"""One vector, shape (dimension,)."""

Vectors: TypeAlias = NDArray[np.float32]
"""Many vectors, shape (n, dimension)."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose inner product says how near their meanings are.

    Rows have unit length (a row of zeros is allowed and never matches anything) and a text gives
    the same row whatever else is in the batch. Five more abilities are looked up by name and may be
    absent: `unknown(text) -> list[str]`, the words it cannot read, or `readable(text) -> bool`
    where it cannot name them; `windows(text) -> list[str]`, pieces that each fit its window and
    together are the whole text (none if it cannot say; then a long text of which an end does not
    change the vector has no part in the semantic tier); `default_threshold: float | None`;
    `load() -> None` with `loaded: bool`, for what is slow to become ready.
    """

    @property
    def name(self) -> str:
        """The fingerprint: model, revision or weights digest, dimension, pooling, prefix."""
        ...

    @property
    def dimension(self) -> int:
        """The width of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dimension), rows of unit length."""
        ...


@runtime_checkable
class VectorIndex(Protocol):
    """Finds the stored vectors with the highest cosine. Not safe for threads: the caller locks."""

    def add(self, key: bytes, vector: Vector) -> None:
        """Store `vector` under `key`, in place of what was there.

        Raises:
            DimensionError: the vector has another width than the index.
        """
        ...

    def remove(self, key: bytes) -> bool:
        """Forget `key`; say whether it was there."""
        ...

    def search(self, vector: Vector, k: int) -> list[tuple[bytes, float]]:
        """Return up to `k` (key, cosine) pairs, best first, cosine clipped to [-1, 1]."""
        ...

    def keys(self) -> Iterable[bytes]:
        """Every stored key, in no particular order."""
        ...

    def __len__(self) -> int: ...


class Guard(Protocol):
    """Vetoes a candidate for a difference that changes the answer. It can only veto."""

    @property
    def name(self) -> str:
        """What the guard reads, in a word or two, for the explanation."""
        ...

    def __call__(self, query: Facts, candidate: Facts) -> Verdict:
        """Say "pass", "veto" with the two sides of the difference, or "unread"."""
        ...


class Policy(Protocol):
    """Turns a score into serve or not, after the guards had no objection."""

    @property
    def minimum(self) -> float:
        """The lowest score that may be served, for the explanation."""
        ...

    def decide(self, score: float) -> bool:
        """Say whether a candidate with this score may be served."""
        ...


@runtime_checkable
class Store(Protocol):
    """Keeps entries under their keys, inside its bounds. Safe for threads.

    It returns entries whether expired or not: the cache decides. `get` renews no lifetime.
    """

    def get(self, key: bytes) -> Entry | None:
        """Return the entry last put under `key`, or None."""
        ...

    def put(self, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        """Store `entries` in order, later ones in place of earlier ones of the same key.

        Returns the keys dropped to stay within the bounds. An entry too large for them is refused
        alone: it is among those keys, and an older entry of its key goes with it.
        """
        ...

    def delete(self, keys: Iterable[bytes]) -> int:
        """Drop entries; return how many there were."""
        ...

    def scan(self) -> Iterator[Entry]:
        """Yield every entry."""
        ...

    def __len__(self) -> int: ...
