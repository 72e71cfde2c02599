"""A difference is harmless only if every piece of it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.text.difference import type_difference
from semcache.text.misspelling import is_misspelling

INSTRUCTION = "Translate the text below. Keep names, numbers and the tone of the author. " * 20


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ("What's new?", "what is new", "contraction"),
        ("Which colour is it", "Which color is it?", "spelling variant"),
        ("Please, where is it", "Where is it?", "politeness"),
        ("buy twenty pears", "buy 20 pears", "number form"),
        ("退貨怎麼辦", "退货怎么办", "character form"),
        ("a  b", "a b", "blanks"),
        ("Where Is It", "where is it!", "case or punctuation"),
        ("How do I cancle my order", "How do I cancel my order", "misspelling: cancle / cancel"),
        ("what is my adress", "what is my address", "misspelling: adress / address"),
        ("same", "same", "no difference"),
    ],
)
def test_harmless_differences_say_what_they_are(one: str, other: str, says: str) -> None:
    """Each kind has its words."""
    difference = type_difference(one, other)

    assert difference.harmless
    assert says in str(difference)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sold in Norway", "Sold in Mexico"),
        ("What is 48 + 27", "What is 48 + 72"),
        ("switch it on", "switch it off"),
        ("drop this column", "drop this table"),
        ("I met Hanna today", "I met Hannah today"),
        ("is it locked", "is it unlocked"),
        ("a casual link", "a causal link"),
        ("the flickr bug", "the flicker bug"),
        ("what are consts", "what are costs"),
        ("is ethyne toxic", "is ethane toxic"),
        ("the invoice is due", "the invoices is due"),
        ("Run `ls -a`", "Run `ls -A`"),
        ("--dry-run", "--dry-lint"),
        ("怎么退货", "怎么换货"),
        ("A pays B", "B pays A"),
    ],
)
def test_what_could_change_the_answer_is_content(one: str, other: str) -> None:
    """Words, names, numbers, code, order."""
    difference = type_difference(one, other)

    assert not difference.harmless
    assert "content" in str(difference)


@pytest.mark.parametrize("slot", ["The invoice is late.", "The invoice was due.", "Invoice due."])
def test_a_short_slot_in_a_long_template_is_content(slot: str) -> None:
    """Three hundred equal words do not outweigh one that differs."""
    one = f"{INSTRUCTION}\nTEXT: The invoice is due."

    assert not type_difference(one, f"{INSTRUCTION}\nTEXT: {slot}").harmless


@pytest.mark.parametrize(
    ("slip", "word"),
    [
        ("recieve", "receive"),
        ("tommorrow", "tomorrow"),
        ("seperate", "separate"),
        ("paymnet", "payment"),
    ],
)
def test_plain_slips_are_misspellings_both_ways(slip: str, word: str) -> None:
    """Swapped, doubled and wrong inner letters of common words."""
    assert is_misspelling(slip, word)
    assert is_misspelling(word, slip)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("untied", "united"),
        ("form", "from"),
        ("teh", "the"),
        ("numpy", "lumpy"),
        ("iactive", "inactive"),
        ("tumblr", "tumbler"),
        ("xqzzy", "xqzyz"),
        ("naïve", "naive"),
        ("sulfate", "sulfite"),
    ],
)
def test_unsure_pairs_are_no_misspellings(one: str, other: str) -> None:
    """Two words, short words, products, rivals, unknown words, accents."""
    assert not is_misspelling(one, other)


def test_a_long_difference_is_said_in_few_words() -> None:
    """The explanation of a long pair stays short."""
    one, other = "a " * 2000, "b " * 2000

    assert len(str(type_difference(one, other))) < 200


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_difference_is_the_same_both_ways(one: str, other: str) -> None:
    """Whether it is harmless does not hang on who came first."""
    assert type_difference(one, other).harmless == type_difference(other, one).harmless


@given(st.text(max_size=40))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    """Equal texts have no changes."""
    assert type_difference(text, text).changes == ()
