"""The guards on pairs of prompts made for them, kind by kind.

`pairs.jsonl` has three parts: "development" pairs, which the rules were written with, and two
"held-out" ones, each written when the rules were done. On its first reading the first held-out part
had 2 of 126 different pairs served and 73 of 84 equivalent ones; the second, written after repairs,
0 of 39 and 22 of 24. The rules have seen all of them since.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from semcache.judge import judge_pair

PAIRS = Path(__file__).parent / "pairs.jsonl"
KINDS = (
    "entity antonym word-order typo modality politeness language quantifier number code "
    "abbreviation negation case-punctuation scope synonym tense paraphrase spelling "
    "direction-swap unit date"
).split()
MOST_DIFFERENT_SERVED = 0.05
LEAST_EQUIVALENT_SERVED = 0.60


class Pair(NamedTuple):
    """Two prompts; `equivalent` says that one right answer serves both."""

    a: str
    b: str
    equivalent: bool
    kind: str
    lang: str
    part: str


@cache
def pairs() -> tuple[Pair, ...]:
    """All pairs of the file, in order."""
    lines = PAIRS.read_text("utf-8").splitlines()
    return tuple(Pair(**json.loads(line)) for line in lines)


def served_share(chosen: list[Pair]) -> float:
    """Share of pairs that no guard objects to, in either direction."""
    both_ways = [(pair.a, pair.b) for pair in chosen] + [(pair.b, pair.a) for pair in chosen]
    return sum(judge_pair(a, b).outcome == "pass" for a, b in both_ways) / len(both_ways)


@pytest.mark.parametrize("kind", KINDS)
def test_different_pairs_of_a_kind_are_vetoed(kind: str) -> None:
    """At most one different pair in twenty of a kind passes."""
    different = [pair for pair in pairs() if pair.kind == kind and not pair.equivalent]

    share = served_share(different)

    assert len(different) >= 12
    assert share <= MOST_DIFFERENT_SERVED


@pytest.mark.parametrize("kind", KINDS)
def test_equivalent_pairs_of_a_kind_survive(kind: str) -> None:
    """At least three equivalent pairs in five of a kind pass."""
    equivalent = [pair for pair in pairs() if pair.kind == kind and pair.equivalent]

    share = served_share(equivalent)

    assert len(equivalent) >= 8
    assert share >= LEAST_EQUIVALENT_SERVED


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_languages_keep_the_bars(lang: str) -> None:
    """English and Chinese, each alone, stay within the bars."""
    chosen = [pair for pair in pairs() if pair.lang == lang]

    different = served_share([pair for pair in chosen if not pair.equivalent])
    equivalent = served_share([pair for pair in chosen if pair.equivalent])

    assert different <= MOST_DIFFERENT_SERVED
    assert equivalent >= LEAST_EQUIVALENT_SERVED


def test_a_third_of_the_pairs_is_chinese() -> None:
    """The file does not drift into English."""
    languages = Counter(pair.lang for pair in pairs())

    assert languages["zh"] * 3 >= sum(languages.values())


def test_the_verdict_does_not_depend_on_the_side() -> None:
    """Query and candidate may change places."""
    for pair in pairs():
        assert judge_pair(pair.a, pair.b).outcome == judge_pair(pair.b, pair.a).outcome, pair
