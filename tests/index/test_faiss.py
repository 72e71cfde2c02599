"""FaissIndex: the contract, the prescan past 5,000 rows, and any order of changes."""

from __future__ import annotations

import os
import select
import signal

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.typing import NDArray

from semcache.errors import ArgumentError
from semcache.index.faiss import PRESCAN_ROWS, FaissIndex
from tests.contracts.vector_index import Make, VectorIndexContract, assert_found, random_rows


class TestFaissIndex(VectorIndexContract):
    """FaissIndex keeps the contract."""

    @pytest.fixture
    def make(self) -> Make:
        """Build a FaissIndex."""
        return FaissIndex


def planted(rows: NDArray[np.float32], cosine: float, seed: int = 2) -> NDArray[np.float32]:
    """For each row a vector at this cosine to it."""
    side = random_rows(len(rows), rows.shape[1], seed)
    side -= np.einsum("ij,ij->i", side, rows)[:, None] * rows
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    tilted: NDArray[np.float32] = (cosine * rows + np.sqrt(1 - cosine**2) * side).astype(np.float32)
    return tilted


def filled(rows: NDArray[np.float32]) -> FaissIndex:
    """An index of these rows under their numbers."""
    index = FaissIndex(rows.shape[1])
    for place, row in enumerate(rows):
        index.add(place.to_bytes(4), row)
    return index


@pytest.fixture(scope="module")
def many() -> NDArray[np.float32]:
    """More rows than are scanned exactly."""
    return random_rows(PRESCAN_ROWS + 3_000, 384)


def narrow(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn rows towards one direction, as in models where any two texts score 0.9."""
    common = np.zeros(rows.shape[1], dtype=np.float32)
    common[::2] = 1.0
    leaning = rows + 3 * common / np.linalg.norm(common)
    return np.asarray(leaning / np.linalg.norm(leaning, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("cosine", [0.9, 0.95, 0.99])
def test_the_prescan_finds_every_near_neighbour(many: NDArray[np.float32], cosine: float) -> None:
    """Past 5,000 rows, a neighbour at cosine 0.9 or more is always found, with its true cosine."""
    index = filled(many)
    places = range(0, len(many), 40)

    asked = planted(many[::40], cosine)

    for place, vector in zip(places, asked, strict=True):
        key, score = index.search(vector, 3)[0]
        assert int.from_bytes(key) == place
        assert score == pytest.approx(float(many[place] @ vector), abs=1e-5)


def test_the_prescan_works_for_vectors_that_all_lean_one_way(many: NDArray[np.float32]) -> None:
    """Signs are taken around the mean, so that they tell such vectors apart."""
    rows = narrow(many)
    assert float(rows[0] @ rows[1]) > 0.85
    index = filled(rows)

    asked = planted(rows[::40], 0.98)

    found = [int.from_bytes(index.search(vector, 1)[0][0]) for vector in asked]
    assert found == list(range(0, len(rows), 40))


def test_the_prescan_follows_removals_and_replacements(many: NDArray[np.float32]) -> None:
    """What was removed is not found, what moved into its place is, what was replaced has moved."""
    index = filled(many)
    for place in range(0, 2_000, 2):
        assert index.remove(place.to_bytes(4))
    index.add((1).to_bytes(4), -many[1])

    assert len(index) == len(many) - 1_000
    assert index.search(many[0], 1)[0][1] < 0.9
    assert index.search(-many[1], 1)[0][0] == (1).to_bytes(4)
    for place in (3, 1_999, 2_000, len(many) - 1):
        assert_found(index.search(many[place], 1), [(place.to_bytes(4), 1.0)])


def test_an_index_that_shrinks_gives_memory_back(many: NDArray[np.float32]) -> None:
    """Few rows in what was a large index are scanned exactly and take little room."""
    index = filled(many)
    full = index.nbytes

    for place in range(100, len(many)):
        index.remove(place.to_bytes(4))

    assert index.nbytes < full / 20
    assert_found(index.search(many[99], 1), [((99).to_bytes(4), 1.0)])


def test_vectors_of_few_dimensions_are_always_scanned_exactly() -> None:
    """A handful of sign bits would say too little."""
    rows = random_rows(PRESCAN_ROWS + 500, 8)
    index = filled(rows)

    for asked in random_rows(20, 8, seed=1):
        assert index.search(asked, 1)[0][1] == pytest.approx(float((rows @ asked).max()), abs=1e-5)


@pytest.mark.parametrize("k", [0, -1])
def test_asking_for_less_than_one_neighbour_is_an_error(k: int) -> None:
    """The error names the argument."""
    with pytest.raises(ArgumentError, match="k="):
        FaissIndex(2).search(np.ones(2, dtype=np.float32), k)


def test_a_dimension_below_one_is_an_error() -> None:
    """There are no vectors without numbers."""
    with pytest.raises(ArgumentError, match="dimension=0"):
        FaissIndex(0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_search(many: NDArray[np.float32]) -> None:
    """FAISS threads of the parent are not in the child; it must not wait for them."""
    import faiss

    index = filled(many)
    # Many rows asked at once make the library start its threads.
    faiss.knn_hamming(np.zeros((500, 48), np.uint8), np.zeros((6_000, 48), np.uint8), 5)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, index.search(many[17], 1)[0][0])
        os._exit(0)
    answered, _, _ = select.select([reader], [], [], 10)
    if not answered:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert answered
    assert os.read(reader, 4) == (17).to_bytes(4)
    os.close(reader)
    os.close(writer)


KEYS = st.integers(0, 12).map(lambda number: bytes([number]))
VECTORS = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(
    lambda values: np.array(values, dtype=np.float32)
)


class IndexAgainstDict(RuleBasedStateMachine):
    """Any order of changes leaves the index equal to a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.index = FaissIndex(3)
        self.model: dict[bytes, NDArray[np.float32]] = {}

    @rule(key=KEYS, vector=VECTORS)
    def add(self, key: bytes, vector: NDArray[np.float32]) -> None:
        """Store or replace; zeros only take away."""
        self.index.add(key, vector)
        self.model.pop(key, None)
        if vector.any():
            self.model[key] = vector

    @rule(key=KEYS)
    def remove(self, key: bytes) -> None:
        """Both agree on whether it was there."""
        assert self.index.remove(key) == (self.model.pop(key, None) is not None)

    @rule(vector=VECTORS.filter(np.any), k=st.integers(1, 20))
    def search(self, vector: NDArray[np.float32], k: int) -> None:
        """Both agree on the best scores."""
        lengths = {
            key: np.linalg.norm(row) * np.linalg.norm(vector) for key, row in self.model.items()
        }
        scores = {key: float(row @ vector / lengths[key]) for key, row in self.model.items()}

        found = self.index.search(vector, k)

        best = sorted(scores.values(), reverse=True)[:k]
        assert [score for _, score in found] == pytest.approx(best, abs=1e-5)
        assert all(score == pytest.approx(scores[key], abs=1e-5) for key, score in found)

    @invariant()
    def same_keys(self) -> None:
        """Neither has what the other lacks."""
        assert set(self.index.keys()) == set(self.model)
        assert len(self.index) == len(self.model)


TestIndexAgainstDict = IndexAgainstDict.TestCase
TestIndexAgainstDict.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
