"""The near-duplicate index of one scope: LSH proposes, the texts decide."""

from __future__ import annotations

import random

import pytest

from semcache.match import neardup
from semcache.match.neardup import NearDuplicates, prepare
from semcache.text.fold import canonical
from semcache.text.shingles import jaccard, shingles

LONG = "How do I change the delivery address of an order that I paid for yesterday"


def index_of(*texts: str) -> NearDuplicates:
    """Hold each text under its place as a key."""
    index = NearDuplicates()
    for place, text in enumerate(texts):
        index.add(b"%d" % place, text)
    return index


def keys(index: NearDuplicates, text: str) -> list[bytes]:
    """Look `text` up and return the keys alone."""
    return [key for key, _, _ in index.search(text)]


def test_equal_forms_score_one_and_say_what_differs() -> None:
    """A harmless rewording of a short text is found by its form."""
    index = index_of("What's the colour of the sky?")

    assert index.search("what is the color of the sky") == [
        (b"0", 1.0, "contraction; spelling variant")
    ]


def test_a_slip_in_a_long_text_is_found_by_lsh() -> None:
    """One misspelled word keeps the share high and is harmless."""
    index = index_of(LONG)

    ((key, share, says),) = index.search(LONG.replace("delivery address", "delivery adress"))

    assert key == b"0"
    assert neardup.THRESHOLD <= share < 1.0
    assert says == "misspelling: adress / address"


@pytest.mark.parametrize(
    "changed",
    [
        LONG.replace("delivery", "billing"),
        LONG.replace("paid", "pay"),
        LONG.replace("yesterday", "today"),
        LONG + " in cash",
        LONG.replace("the delivery", "delivery"),
    ],
)
def test_a_word_that_differs_is_not_found(changed: str) -> None:
    """However large the share, content that differs is a miss."""
    assert keys(index_of(LONG), changed) == []


def test_different_chinese_questions_do_not_meet() -> None:
    """A script without blanks has shingles too; two questions are not one."""
    index = index_of("机器学习是什么")

    assert keys(index, "神经网络是什么意思") == []
    assert keys(index, "请问机器学习是什么？") == [b"0"]


@pytest.mark.parametrize(
    ("held", "asked"), [("buy buy sell", "sell buy"), ("very very very hot", "very hot")]
)
def test_repeated_words_count(held: str, asked: str) -> None:
    """Sets would lose them; the texts are compared before a hit."""
    assert keys(index_of(held), asked) == []
    assert keys(index_of(held * 4), asked * 4) == []


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u3000", "\u200b"])
def test_blank_text_is_never_held_or_found(blank: str) -> None:
    """Two blank texts are not alike."""
    index = index_of(blank, LONG)

    assert len(index) == 1
    assert keys(index, blank) == []


def test_a_short_slot_in_a_long_template_is_a_miss() -> None:
    """Fifty calls that share their instruction share no answer."""
    instruction = "Translate the text below. Keep names, numbers and the tone of the author. " * 12
    index = index_of(f"{instruction}\nTEXT: The invoice is due.")

    found = [keys(index, f"{instruction}\nTEXT: Parcel number {n} is late.") for n in range(50)]

    assert found == [[]] * 50


def test_overwriting_and_removing_leave_no_ghost() -> None:
    """One signature a live key, no duplicate-key error, a hundred times over."""
    index = NearDuplicates()
    for turn in range(100):
        index.add(b"p", LONG)
        index.add(b"p", LONG.replace("order", f"parcel {turn}"))
        assert keys(index, LONG) == []
        index.remove(b"p")
        index.remove(b"p")
        assert len(index) == 0
        index.add(b"p", LONG)
        assert keys(index, LONG) == [b"p"]

    assert len(index) == 1


def test_what_was_prepared_once_serves_search_and_add() -> None:
    """A miss prepares the text; storing it later computes nothing again."""
    index, prepared = NearDuplicates(), prepare(LONG)

    assert index.search(prepared) == []
    index.add(b"1", prepared)
    assert [key for key, _, _ in index.search(prepared)] == [b"1"]


def test_the_limit_keeps_the_newest() -> None:
    """Among equal texts the last stored come first."""
    index = index_of(*["Same question, word for word?"] * 20)

    assert keys(index, "same question, word for word") == [b"%d" % n for n in range(19, 11, -1)]
    assert index.search("same question, word for word", limit=0) == []


def test_random_pairs_around_the_threshold_never_hit_below_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Candidates are checked exactly: no hit below the threshold, nearly all above it found."""
    chance = random.Random(7)
    # Every difference counts as harmless here, so that only the share decides.
    monkeypatch.setattr(neardup, "compare_tokens", lambda left, right: ())
    found = above = 0
    for _ in range(200):
        words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(12)]
        other = list(words)
        for place in chance.sample(range(12), chance.randrange(5)):
            other[place] = "".join(chance.choices("abcdefghijklmnop", k=6))
        held, asked = " ".join(words), " ".join(other)
        share = jaccard(
            shingles(canonical(held), neardup.SHINGLE_SIZE),
            shingles(canonical(asked), neardup.SHINGLE_SIZE),
        )

        hits = index_of(held).search(asked)

        assert all(score >= neardup.THRESHOLD for _, score, _ in hits)
        if share >= neardup.THRESHOLD:
            above += 1
            found += len(hits)
        else:
            assert hits == []
    assert above > 50
    assert found / above > 0.97


def test_a_slip_in_a_short_text_is_found_by_its_mended_form() -> None:
    """Under 30 characters no share of shingles survives a slip; names are left alone."""
    index = index_of("how to boil rice")

    assert index.search("how to boil rcie") == [(b"0", 1.0, "misspelling: rcie / rice")]
    assert index.search("how to boil mice") == []
