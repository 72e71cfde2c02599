"""Which words are numbers, and which units are equal."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.text.numbers import level_numbers, read_numbers


@pytest.mark.parametrize(
    ("text", "levelled"),
    [
        ("twenty-five", "25"),
        ("one hundred and five dollars", "105 dollars"),
        ("the first of 1,000", "the 1st of 1000"),
        ("three and a half years", "3.5 years"),
        ("half an hour", "0.5 hour"),
        ("half a million", "500000"),
        ("1.5 million", "1500000"),
        ("two thirds of it", "2/3 of it"),
        ("nineteen eighty-four", "1984"),
        ("three point one four", "3.14"),
        ("１２３", "123"),
        ("三百六十", "360"),
        ("一九四九年", "1949年"),
        ("两万五", "25000"),
        ("半小时", "0.5小时"),
        ("两年半", "2.5年"),
        ("百分之二十", "20%"),
        ("3亿", "300000000"),
        ("十分钟", "10分钟"),
    ],
)
def test_number_words_become_digits(text: str, levelled: str) -> None:
    """English and Chinese number words have one written form."""
    assert level_numbers(text) == levelled


@pytest.mark.parametrize(
    "text",
    [
        "Which one is better?",
        "no one knows",
        "wait a second",
        "half of 250",
        "add 100 200 300",
        "第一次",
        "一下",
        "一起",
        "万一",
        "十分重要",
        "三亚在哪里",
        "千万不要",
    ],
)
def test_words_that_are_no_numbers_stay(text: str) -> None:
    """Pronouns, units of time, adverbs and names keep their letters."""
    assert level_numbers(text) == text


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("5 km", "5000 m"),
        ("5 kilometres", "5公里"),
        ("90 minutes", "1.5 hours"),
        ("$5", "5 dollars"),
        ("20%", "twenty percent"),
        ("32 °F", "0 °C"),
        ("2天", "48 hours"),
        ("10k", "10,000"),
    ],
)
def test_equal_quantities_are_equal(one: str, two: str) -> None:
    """A quantity does not depend on the unit it is written in."""
    (first,), (second,) = read_numbers(one), read_numbers(two)

    assert first.quantity == second.quantity


@pytest.mark.parametrize(
    ("one", "two"), [("5 km", "5 miles"), ("5 kg", "5 m"), ("1 month", "30 days"), ("3", "3rd")]
)
def test_other_quantities_are_not(one: str, two: str) -> None:
    """Another unit is another quantity."""
    assert read_numbers(one)[0].quantity != read_numbers(two)[0].quantity


def test_a_number_knows_its_place() -> None:
    """The span points into the levelled text."""
    (number,) = read_numbers("wait five minutes")

    assert (number.value, number.unit, number.span) == (Fraction(5), "minute", (5, 14))


def test_versions_and_names_are_no_numbers() -> None:
    """Digits inside a name or a version belong to it."""
    assert read_numbers("utf8 and 1.2.3") == ()


@given(st.text(alphabet="0123456789,. onetwhufirs-一二三十百千万半个年", max_size=30))
def test_levelling_twice_changes_nothing_more(text: str) -> None:
    """Levelling is idempotent."""
    once = level_numbers(text)

    assert level_numbers(once) == once
