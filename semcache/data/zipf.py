"""How often people ask the same thing again: a Zipf stream over a set of questions.

The item of rank r is asked with probability proportional to 1 / r ** exponent. Ranks are dealt once
by the seed, so which question is popular is chance and the same chance every time. The repeats
are identical texts: a share of exact hits is built in, and grows with the exponent. Whoever shows
figures from such a stream states the exponent, and the figure without repetition beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from semcache.errors import ArgumentError

__all__ = ["zipf_stream"]

T = TypeVar("T")

_BLOCK = 4096


def zipf_stream(items: Sequence[T], length: int, exponent: float, seed: int) -> Iterator[T]:
    """Give `length` items drawn with replacement under Zipf's law.

    `exponent` 0 draws all items alike; web searches lie near 0.8 to 1. The same arguments give the
    same stream. Raises ArgumentError for no items, a negative length or a negative exponent.

    >>> list(zipf_stream("abc", 6, exponent=1.0, seed=7)) == list(
    ...     zipf_stream("abc", 6, exponent=1.0, seed=7)
    ... )
    True
    """
    if not len(items):
        raise ArgumentError("items", items, "pass at least one item")
    if isinstance(length, bool) or not isinstance(length, int) or length < 0:
        raise ArgumentError("length", length, "pass a whole number of 0 or more")
    if not math.isfinite(exponent) or exponent < 0:
        raise ArgumentError("exponent", exponent, "pass a number of 0 or more")
    return _draw(items, length, exponent, np.random.default_rng(seed))


def _draw(
    items: Sequence[T], length: int, exponent: float, generator: np.random.Generator
) -> Iterator[T]:
    by_rank = generator.permutation(len(items))
    weights = np.arange(1, len(items) + 1, dtype=np.float64) ** -exponent
    weights /= weights.sum()
    for start in range(0, length, _BLOCK):
        count = min(_BLOCK, length - start)
        for rank in generator.choice(len(items), size=count, p=weights):
            yield items[by_rank[rank]]
