"""What every VectorIndex must do. Subclass VectorIndexContract and give it a `make` fixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache.errors import DimensionError, EmbedderError
from semcache.protocols import VectorIndex

Make: TypeAlias = Callable[[int], VectorIndex]


def unit(*values: float) -> NDArray[np.float32]:
    """A vector of unit length."""
    vector = np.array(values, dtype=np.float32)
    scaled: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


def random_rows(count: int, dimension: int, seed: int = 0) -> NDArray[np.float32]:
    """Random rows of unit length."""
    rows = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def assert_found(found: list[tuple[bytes, float]], expected: list[tuple[bytes, float]]) -> None:
    """The keys in this order, the scores to 1e-6."""
    assert [key for key, _ in found] == [key for key, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


class VectorIndexContract:
    """The cases; an implementation adds the fixture."""

    @pytest.fixture
    def make(self) -> Make:
        """Build the implementation on trial for a dimension."""
        raise NotImplementedError

    def test_an_empty_index_finds_nothing(self, make: Make) -> None:
        """There is no row -1."""
        index = make(3)

        assert index.search(unit(1, 0, 0), 5) == []
        assert len(index) == 0

    def test_asking_for_more_than_there_is_gives_what_there_is(self, make: Make) -> None:
        """Five of one is one."""
        index = make(3)
        index.add(b"a", unit(1, 0, 0))

        assert_found(index.search(unit(1, 0, 0), 5), [(b"a", 1.0)])

    def test_the_best_comes_first(self, make: Make) -> None:
        """Scores are cosines, higher is closer."""
        index = make(2)
        for key, vector in (
            (b"far", unit(-1, 0)),
            (b"near", unit(0.8, 0.6)),
            (b"same", unit(1, 0)),
        ):
            index.add(key, vector)

        found = index.search(unit(1, 0), 3)

        assert [key for key, _ in found] == [b"same", b"near", b"far"]
        assert [score for _, score in found] == pytest.approx([1.0, 0.8, -1.0])

    def test_scores_stay_between_minus_one_and_one(self, make: Make) -> None:
        """Rounding never gives 1.0000001."""
        rows = random_rows(50, 48)
        index = make(48)
        for place, row in enumerate(rows):
            index.add(bytes([place]), row)

        scores = [score for row in rows for _, score in index.search(row, 50)]

        assert max(scores) <= 1.0
        assert min(scores) >= -1.0

    def test_a_key_has_one_vector(self, make: Make) -> None:
        """Adding again replaces."""
        index = make(2)
        index.add(b"a", unit(1, 0))
        index.add(b"a", unit(0, 1))

        assert len(index) == 1
        assert_found(index.search(unit(1, 0), 1), [(b"a", 0.0)])

    def test_the_removed_is_never_found(self, make: Make) -> None:
        """Whichever is removed, the others stay under their own keys."""
        rows = random_rows(5, 4)
        for gone in range(5):
            index = make(4)
            for place, row in enumerate(rows):
                index.add(bytes([place]), row)

            assert index.remove(bytes([gone]))
            assert not index.remove(bytes([gone]))

            left = set(range(5)) - {gone}
            assert set(index.keys()) == {bytes([place]) for place in left}
            for place in left:
                assert_found(index.search(rows[place], 1), [(bytes([place]), 1.0)])

    def test_another_width_is_refused_by_name(self, make: Make) -> None:
        """The error tells both widths, in add and in search."""
        index = make(384)

        with pytest.raises(DimensionError, match=r"384.*10"):
            index.add(b"a", np.ones(10, dtype=np.float32))
        with pytest.raises(DimensionError, match=r"384.*768"):
            index.search(np.ones(768, dtype=np.float32), 1)
        assert len(index) == 0

    def test_a_vector_without_direction_matches_nothing(self, make: Make) -> None:
        """Zeros are neither stored nor found."""
        index = make(2)
        index.add(b"zero", np.zeros(2, dtype=np.float32))
        index.add(b"one", unit(1, 0))

        assert index.search(np.zeros(2, dtype=np.float32), 5) == []
        assert [key for key, _ in index.search(unit(0, 1), 5)] == [b"one"]

    def test_a_vector_that_is_not_finite_is_refused(self, make: Make) -> None:
        """NaN would make every comparison false."""
        with pytest.raises(EmbedderError, match="NaN"):
            make(2).add(b"a", np.array([np.nan, 1.0], dtype=np.float32))

    @pytest.mark.parametrize("length", [0.01, 1.0, 250.0])
    def test_length_does_not_count(self, make: Make, length: float) -> None:
        """The score is a cosine even for vectors that are not of unit length."""
        index = make(2)
        index.add(b"a", length * unit(0.6, 0.8))

        assert_found(index.search(length * unit(1, 0), 1), [(b"a", 0.6)])

    @pytest.mark.parametrize(("count", "dimension"), [(1, 384), (7, 3), (300, 48), (2_000, 384)])
    def test_agrees_with_brute_force(self, make: Make, count: int, dimension: int) -> None:
        """Keys and scores are those of a full matrix product, to 1e-5."""
        rows = random_rows(count, dimension)
        index = make(dimension)
        for place, row in enumerate(rows):
            index.add(place.to_bytes(4), row)

        for asked in random_rows(20, dimension, seed=1):
            scores = rows @ asked
            best = np.argsort(-scores)[:5]
            found = index.search(asked, 5)
            assert [score for _, score in found] == pytest.approx(scores[best].tolist(), abs=1e-5)
            for key, score in found:
                assert score == pytest.approx(scores[int.from_bytes(key)], abs=1e-5)
