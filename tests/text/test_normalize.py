"""The exact tier's form: it levels what no reader can see and nothing else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import ArgumentError
from semcache.text.normalize import is_blank, normalize, normalizer_name
from semcache.text.spans import pieces

# Characters on which forms could stumble: marks, blanks, quotes, fences, odd cases.
TRICKY = st.text(
    alphabet=st.sampled_from(
        [*"aBz`\"'~4Éß \t\n\r", *"“”‘’«»「」İΣς\u200b\u0301\u3000\u2028\ufeff"]
    ),
    max_size=40,
)


def shout(text: str) -> str:
    """Serve as a user's own form."""
    return text.upper()


def count(text: str) -> int:
    """Serve as a form that returns no text."""
    return len(text)


@pytest.mark.parametrize("word", ["café", "が", "한국어", "Å"])
def test_one_character_in_two_unicode_forms_is_one_text(word: str) -> None:
    """Composed and decomposed spellings look alike, so they are equal."""
    composed, decomposed = (unicodedata.normalize(f, word) for f in ("NFC", "NFD"))

    assert composed != decomposed
    assert normalize(composed) == normalize(decomposed)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does résumé mean?", "What does resume mean?"),
        ("Año nuevo", "Ano nuevo"),
        ("Polish food", "polish food"),
        ("a b", "a  b"),
        ("x²", "x2"),
    ],
)
def test_what_a_reader_can_see_counts(one: str, other: str) -> None:
    """Accents, case, inner blanks and superscripts stay in the safe form."""
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize("blank", ["  ", "\n", "\u3000", "\u200b", "\ufeff", "\xa0", "\u2060"])
def test_outer_blanks_and_line_ends_do_not_count(blank: str) -> None:
    """Blanks around a text go, of every kind, and line ends are one kind."""
    assert normalize(f"{blank}one\r\ntwo{blank}") == "one\ntwo"


def test_a_final_emoji_keeps_its_variation_selector() -> None:
    """A selector at the end belongs to the emoji before it."""
    assert normalize("I ❤\ufe0f ") == "I ❤\ufe0f"


def test_loose_leaves_code_and_quoted_parts_alone() -> None:
    """Case and blanks are levelled outside of literal parts only."""
    text = 'Run  `Foo  Bar`, say "Hi  You"\n\n```\nX   = 1\n```\n\n    Y   = 2\nThen  STOP'

    assert normalize(text, "loose") == (
        'run `Foo  Bar`, say "Hi  You"\n```\nX   = 1\n```\n    Y   = 2\nthen stop'
    )


def test_loose_does_not_merge_two_german_words() -> None:
    """Lower case is not case folding: Maße are measures, Masse is mass."""
    assert normalize("Maße", "loose") != normalize("Masse", "loose")


@given(TRICKY | st.text(max_size=60))
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    """Both forms are stable."""
    for form in ("safe", "loose"):
        once = normalize(text, form)

        assert normalize(once, form) == once


@given(TRICKY | st.text(max_size=60))
def test_pieces_give_the_text_back(text: str) -> None:
    """Cutting out literal parts loses no character."""
    assert "".join(piece.text for piece in pieces(text)) == text


def test_a_function_is_a_form_and_goes_by_its_full_name() -> None:
    """A user's function gets the safe form; its module and name enter the digest."""
    assert normalize("  cafe\u0301 ", shout) == "CAFÉ"
    assert normalizer_name(shout) == f"{__name__}.shout"
    assert normalizer_name(str.lower) == "builtins.str.lower"


def test_a_form_whose_name_says_too_little_is_refused() -> None:
    """Lambdas, nested functions and bound methods could share a name and differ."""

    def nested(text: str) -> str:
        return text

    for form in (lambda text: text, nested, "abc".join, 3, "strict"):
        with pytest.raises(ArgumentError, match="normalize"):
            normalizer_name(form)  # type: ignore[arg-type]  # wrong on purpose


def test_a_form_that_returns_no_text_is_refused() -> None:
    """The error names what came back."""
    with pytest.raises(ArgumentError, match="not int"):
        normalize("a", count)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000", "\u200b", "\ufe0f\u2060", "\u3164"])
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    """Empty, blank and zero-width text are all blank."""
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", "a", "😊", "中", " \u200bx", "\u0301"])
def test_text_that_shows_anything_is_not_blank(text: str) -> None:
    """One visible mark is enough."""
    assert not is_blank(text)
