"""unit_rows: what counts as a batch of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from semcache.errors import DimensionError, EmbedderError
from semcache.vectors import unit_rows


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_numbers_of_any_type_become_float32_of_unit_length(dtype: type[np.generic]) -> None:
    """Half precision, doubles and quantised rows alike."""
    rows = unit_rows(np.array([[3, 4], [0, 2]], dtype=dtype))

    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 1.0]], atol=1e-6)


def test_checking_twice_changes_no_bit() -> None:
    """A row of unit length is left as it is."""
    once = unit_rows(np.random.default_rng(0).standard_normal((100, 384)))

    assert unit_rows(once).tobytes() == once.tobytes()


def test_the_callers_array_is_left_alone() -> None:
    """Rows are copied before they are scaled."""
    mine = np.array([[3.0, 4.0]], dtype=np.float32)

    unit_rows(mine)

    assert mine.tolist() == [[3.0, 4.0]]


def test_very_long_and_very_short_rows_keep_their_direction() -> None:
    """Their squares would not fit float32."""
    rows = unit_rows(np.array([[3e30, 4e30], [3e-30, 4e-30]], dtype=np.float32))

    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize(
    "values",
    [
        None,
        "text",
        [["a", "b"]],
        [1.0, 2.0],
        [[1.0, 2.0], [1.0]],
        [[1.0, float("nan")]],
        [[1.0, float("inf")]],
        np.zeros((1, 2, 3)),
        np.array([[object()]]),
    ],
)
def test_what_is_no_batch_of_finite_numbers_is_refused(values: object) -> None:
    """The error says what came."""
    with pytest.raises(EmbedderError, match="the embedder gave"):
        unit_rows(values)


def test_another_number_of_rows_is_refused() -> None:
    """Vectors would land on the wrong texts."""
    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        unit_rows([[1.0]], count=2)


def test_another_width_is_refused_with_both_widths() -> None:
    """A cache filled with 384 numbers does not take 768."""
    with pytest.raises(DimensionError, match=r"384.*768"):
        unit_rows(np.ones((1, 768)), dimension=384)
