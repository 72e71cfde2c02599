"""ScopedIndex: isolation, long texts, and the room that many small scopes take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.typing import NDArray

from semcache.errors import DimensionError
from semcache.index.scoped import ScopedIndex
from tests.contracts.vector_index import assert_found, random_rows, unit

SAME = unit(1, 0)[None]


def scopes_of(index: ScopedIndex) -> set[bytes]:
    """The scopes that take up room."""
    return index._short.keys() | index._long.keys()


def test_a_search_never_leaves_its_scope() -> None:
    """Even when every text has one and the same vector."""
    index = ScopedIndex(2)
    index.add(b"one", b"a", SAME)
    index.add(b"two", b"b", SAME)

    assert index.search(b"one", SAME, 5) == [(b"a", 1.0)]
    assert index.search(b"two", SAME, 5) == [(b"b", 1.0)]
    assert index.search(b"three", SAME, 5) == []


def test_one_key_may_live_in_two_scopes() -> None:
    """Removing it from one leaves the other."""
    index = ScopedIndex(2)
    index.add(b"one", b"a", SAME)
    index.add(b"two", b"a", SAME)

    assert index.remove(b"one", b"a")

    assert not index.remove(b"one", b"a")
    assert scopes_of(index) == {b"two"}
    assert len(index) == 1


def test_a_long_text_is_as_near_as_its_least_similar_window() -> None:
    """One differing window decides, wherever it is."""
    index = ScopedIndex(2)
    index.add(b"s", b"long", np.vstack([unit(1, 0), unit(0, 1), unit(1, 0)]))

    found = index.search(b"s", np.vstack([unit(1, 0), unit(0, 1), unit(0.8, 0.6)]), 5)

    assert_found(found, [(b"long", 0.8)])


def test_texts_of_unlike_length_are_not_compared() -> None:
    """A short text does not match the first window of a long one, nor the other way round."""
    index = ScopedIndex(2)
    index.add(b"s", b"short", SAME)
    index.add(b"s", b"long", np.vstack([SAME, SAME]))

    assert index.search(b"s", SAME, 5) == [(b"short", 1.0)]
    assert index.search(b"s", np.vstack([SAME, SAME]), 5) == [(b"long", 1.0)]
    assert index.search(b"s", np.vstack([SAME, SAME, SAME]), 5) == []


def test_an_entry_that_changes_length_is_found_once() -> None:
    """Its earlier vectors go, however many there were."""
    index = ScopedIndex(2)
    for windows in (1, 3, 2, 1):
        index.add(b"s", b"a", np.repeat(SAME, windows, axis=0))
        assert len(index) == 1
        assert index.search(b"s", np.repeat(SAME, windows, axis=0), 5) == [(b"a", 1.0)]


@pytest.mark.parametrize("shape", [(1, 3), (0, 2), (2,), (1, 1, 2)])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    """In add and in search."""
    index = ScopedIndex(2)

    with pytest.raises(DimensionError):
        index.add(b"s", b"a", np.ones(shape, dtype=np.float32))
    with pytest.raises(DimensionError):
        index.search(b"s", np.ones(shape, dtype=np.float32), 1)
    assert scopes_of(index) == set()


def test_a_window_without_direction_keeps_an_entry_out() -> None:
    """Its score could only be a guess."""
    index = ScopedIndex(2)
    index.add(b"s", b"a", np.vstack([SAME, np.zeros((1, 2), np.float32)]))

    assert len(index) == 0
    assert scopes_of(index) == set()


def test_small_scopes_take_little_more_than_their_vectors() -> None:
    """Two thousand scopes of one entry: under 3 kB each for a vector of 1.5 kB."""
    index = ScopedIndex(384)
    for place, row in enumerate(random_rows(2_000, 384)):
        index.add(place.to_bytes(16), place.to_bytes(16), row[None])

    assert 1_536 < index.nbytes / 2_000 < 3_000


SCOPES = st.sampled_from([b"s", b"t"])
KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
WINDOWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 2)), min_size=1, max_size=3).map(
    lambda rows: np.array(rows, dtype=np.float32)
)


class ScopedAgainstDict(RuleBasedStateMachine):
    """Any order of changes leaves the index equal to a dict of dicts."""

    def __init__(self) -> None:
        super().__init__()
        self.index = ScopedIndex(2)
        self.model: dict[tuple[bytes, bytes], NDArray[np.float32]] = {}

    @rule(scope=SCOPES, key=KEYS, vectors=WINDOWS)
    def add(self, scope: bytes, key: bytes, vectors: NDArray[np.float32]) -> None:
        """Store or replace, with any number of windows."""
        self.index.add(scope, key, vectors)
        self.model[scope, key] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    @rule(scope=SCOPES, key=KEYS)
    def remove(self, scope: bytes, key: bytes) -> None:
        """Both agree on whether it was there."""
        assert self.index.remove(scope, key) == (self.model.pop((scope, key), None) is not None)

    @rule(scope=SCOPES, vectors=WINDOWS)
    def search(self, scope: bytes, vectors: NDArray[np.float32]) -> None:
        """Both agree on keys and scores."""
        asked = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        expected = {
            key: float((rows * asked).sum(axis=1).min())
            for (owner, key), rows in self.model.items()
            if owner == scope and len(rows) == len(asked)
        }

        assert dict(self.index.search(scope, vectors, 9)) == pytest.approx(expected, abs=1e-5)

    @invariant()
    def same_size(self) -> None:
        """Neither has what the other lacks."""
        assert len(self.index) == len(self.model)
        assert scopes_of(self.index) == {scope for scope, _ in self.model}


TestScopedAgainstDict = ScopedAgainstDict.TestCase
TestScopedAgainstDict.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
