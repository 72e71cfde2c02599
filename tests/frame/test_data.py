"""The shipped questions are whole, and the Zipf stream is what its docstring states."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.data.banking77 import load, parse
from semcache.data.zipf import zipf_stream
from semcache.errors import ArgumentError, FileFormatError


def test_the_sample_has_two_thousand_questions_of_all_intents() -> None:
    """Each of the 77 intents is present with more than a few questions, none of them twice."""
    questions = load()

    sizes = Counter(question.intent for question in questions)

    assert len(set(questions)) == 2000
    assert len(sizes) == 77
    assert min(sizes.values()) >= 10


def test_the_sample_is_clean_text() -> None:
    """No question has outer blanks, tabs or line ends."""
    questions = load()

    assert all(question.text == " ".join(question.text.split()) for question in questions)


@pytest.mark.parametrize("text", ["", "text\tintent\n", "intent\ttext\nonly an intent\n"])
def test_a_damaged_file_is_named(text: str) -> None:
    """A wrong header or line raises an error that names the file and the line."""
    with pytest.raises(FileFormatError, match=r"banking77\.tsv, line [12]"):
        parse(text)


@given(st.integers(0, 3000), st.floats(0, 3), st.integers(0, 2**32 - 1))
def test_a_stream_is_fixed_by_its_arguments(length: int, exponent: float, seed: int) -> None:
    """The same arguments give the same items, as many as asked for."""
    items = range(50)

    first = list(zipf_stream(items, length, exponent, seed))

    assert len(first) == length
    assert set(first) <= set(items)
    assert first == list(zipf_stream(items, length, exponent, seed))


def test_frequencies_follow_the_stated_law() -> None:
    """Sorted shares of 20,000 draws lie within five standard errors of 1 / rank."""
    length, count = 20_000, 100
    harmonic = sum(1 / rank for rank in range(1, count + 1))

    drawn = Counter(zipf_stream(range(count), length, 1.0, seed=3))

    for rank, (_, seen) in enumerate(drawn.most_common(5), start=1):
        share = 1 / rank / harmonic
        assert abs(seen / length - share) < 5 * (share / length) ** 0.5


def test_exponent_zero_draws_all_alike() -> None:
    """Without an exponent no item is popular."""
    drawn = Counter(zipf_stream(range(10), 20_000, 0.0, seed=3))

    assert all(1800 < seen < 2200 for seen in drawn.values())


def test_the_seed_deals_the_ranks() -> None:
    """The most frequent item is not the first of the list: it is dealt by the seed."""
    favourites = [
        Counter(zipf_stream(range(100), 1000, 1.5, seed)).most_common(1)[0][0] for seed in range(8)
    ]

    assert any(left != right for left, right in pairwise(favourites))


@pytest.mark.parametrize(
    ("items", "length", "exponent", "argument"),
    [
        ([], 1, 1.0, "items"),
        ([1], -1, 1.0, "length"),
        ([1], True, 1.0, "length"),
        ([1], 1, -0.1, "exponent"),
        ([1], 1, float("nan"), "exponent"),
    ],
)
def test_bad_arguments_fail_at_the_call(
    items: list[int], length: int, exponent: float, argument: str
) -> None:
    """The error names the argument, and comes before anything is read from the stream."""
    with pytest.raises(ArgumentError, match=argument):
        zipf_stream(items, length, exponent, seed=0)
