"""Shingles, signatures and the exact share they estimate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.text.shingles import jaccard, shingles, signature


@pytest.mark.parametrize(
    "text", ["机器学习是什么", "что это", "ما هذا", "이것은", "😂", "e\u0301", "a", "\ud800"]
)
def test_every_script_has_shingles(text: str) -> None:
    """No text has the empty set, which would equal every other empty set."""
    assert shingles(text, 3)


def test_two_different_chinese_questions_are_far_apart() -> None:
    """They share a word, not their shingles."""
    one, other = shingles("机器学习是什么", 3), shingles("神经网络是什么意思", 3)

    assert jaccard(one, other) < 0.3


@pytest.mark.parametrize(
    ("one", "other"),
    [("very very very hot", "very hot"), ("buy buy sell", "buy sell"), ("aaaa", "aaaaa")],
)
def test_a_repeated_part_counts(one: str, other: str) -> None:
    """Sets lose counts; numbered shingles do not."""
    assert shingles(one, 3) != shingles(other, 3)


def test_empty_sets_have_nothing_in_common() -> None:
    """Two blank texts are not alike."""
    assert shingles("", 3) == frozenset()
    assert jaccard(frozenset(), frozenset()) == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_jaccard_is_a_share(one: str, other: str) -> None:
    """Between 0 and 1, the same both ways, and 1 for a text with itself."""
    a, b = shingles(one, 3), shingles(other, 3)

    assert 0.0 <= jaccard(a, b) == jaccard(b, a) <= 1.0
    assert jaccard(a, a) == (1.0 if one else 0.0)


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 400), min_size=20), st.sets(st.integers(0, 400), min_size=20))
def test_the_signature_estimates_the_share(one: set[int], other: set[int]) -> None:
    """128 permutations stay within five standard deviations of the true share."""
    a = frozenset(b"%d" % n for n in one)
    b = frozenset(b"%d" % n for n in other)
    true = jaccard(a, b)

    estimate = signature(a).jaccard(signature(b))

    spread = math.sqrt(max(true * (1 - true), 0.01) / 128)
    assert abs(estimate - true) <= 5 * spread


def test_the_signature_does_not_hang_on_the_order_or_the_blocks() -> None:
    """A long set is hashed in blocks; the result is that of the whole."""
    many = [b"%d" % n for n in range(2000)]

    assert signature(frozenset(many)) == signature(frozenset(reversed(many)))
    assert signature(frozenset(many)).scheme == "affine32"
