"""The threshold policy serves at its minimum and above, and takes only shares."""

from __future__ import annotations

import math

import pytest

from semcache.errors import ArgumentError
from semcache.judge import Threshold


@pytest.mark.parametrize(
    ("score", "serves"), [(0.95, True), (0.9499, False), (1.0, True), (1.0000002, True)]
)
def test_a_score_at_the_minimum_is_served(score: float, serves: bool) -> None:
    """The minimum itself counts as enough."""
    assert Threshold(0.95).decide(score) is serves


def test_an_identical_text_passes_at_one() -> None:
    """Rounding in the last bits does not lose a perfect match."""
    assert Threshold(1.0).decide(1.0 - 1e-7)
    assert not Threshold(1.0).decide(0.9999)


@pytest.mark.parametrize("minimum", [-0.1, 1.2, math.nan, math.inf])
def test_a_minimum_outside_the_range_is_an_error(minimum: float) -> None:
    """The message names argument, value and remedy."""
    with pytest.raises(ArgumentError, match=r"minimum=.*0 to 1"):
        Threshold(minimum)
