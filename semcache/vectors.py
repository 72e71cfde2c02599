"""What counts as a vector: float32, finite, of the right width, of unit length or all zeros.

Every vector that enters an index or leaves an embedder passes here. Nothing is embedded here.
"""

from __future__ import annotations

import numpy as np

from semcache.errors import DimensionError, EmbedderError
from semcache.protocols import Vectors

__all__ = ["unit_rows"]

# Rows this close to unit length are left as they are, so that checking twice changes no bit.
_UNIT_TOLERANCE = 1e-6


def unit_rows(values: object, *, count: int | None = None, dimension: int | None = None) -> Vectors:
    """Return `values` as float32 rows of unit length; rows of zeros stay zeros.

    Args:
        values: anything numpy reads as numbers of shape (n, d).
        count: the number of rows there must be, if known.
        dimension: the width there must be, if known.

    Returns:
        float32, shape (n, d), C-contiguous. A row of zeros has no direction and matches nothing.

    Raises:
        DimensionError: the width is not `dimension`.
        EmbedderError: not numbers, not two-dimensional, another number of rows, or not finite.

    Example:
        >>> unit_rows([[3.0, 4.0], [0.0, 0.0]]).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = _as_matrix(values)
    if count is not None and rows.shape[0] != count:
        raise EmbedderError(
            f"the embedder gave {rows.shape[0]} vectors for {count} texts: "
            "embed() must return one row a text, in order"
        )
    if dimension is not None and rows.shape[1] != dimension:
        raise DimensionError(dimension, rows.shape[1])
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not np.isfinite(lengths).all():
        raise EmbedderError(
            "the embedder gave a vector with NaN or infinity: it cannot be compared"
        )
    off = (np.abs(lengths - 1.0) > _UNIT_TOLERANCE) & (lengths > 0.0)
    if off.any():
        rows = rows.copy()
        rows[off] = rows[off] / lengths[off, None]
    return np.ascontiguousarray(rows, dtype=np.float32)


def _as_matrix(values: object) -> np.ndarray[tuple[int, int], np.dtype[np.floating]]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise EmbedderError(f"the embedder gave {type(values).__name__}: {error}") from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise EmbedderError(
            f"the embedder gave {type(values).__name__} of shape {array.shape} and type "
            f"{array.dtype}: return float32 of shape (texts, dimension)"
        )
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        array = array.astype(np.float32)
    return array
