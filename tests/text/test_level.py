"""Levelling for the embedder: marks without meaning go, marks with meaning stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.text.level import level_for_embedding, level_typography, strip_decoration
from semcache.text.normalize import is_blank


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("How do I log in? 😊", "How do I log in?"),
        ("How do I log in 🙏🙏", "How do I log in"),
        ("👋 Where is my parcel?", "Where is my parcel?"),
        ("Great 🎉! It works", "Great 🎉! It works"),
        ("It works! 🎉 What now?", "It works! What now?"),
        ("怎么退货呀～", "怎么退货呀"),
    ],
)
def test_a_smiley_that_only_colours_a_sentence_goes(text: str, level: str) -> None:
    """Faces, hands and sparkles at the borders of sentences say nothing."""
    assert strip_decoration(text) == level


@pytest.mark.parametrize(
    "text",
    [
        "What does 😂 mean?",
        "My friend sent me 😭",
        "Why did she answer with 😊",
        "How many calories are in 🍎",
        "Translate this: I love you 😍",
        "How is the weather in 🇫🇷",
        "😊",
    ],
)
def test_an_emoji_that_the_text_is_about_stays(text: str) -> None:
    """An object, a message or the whole text is content."""
    assert strip_decoration(text) == text


@pytest.mark.parametrize(
    "text", ["x² + y³", "5 € ≤ 6 £", "½ cup", "ℝ and ℕ", "A → B", "3 × 4", "①"]
)
def test_symbols_with_meaning_stay(text: str) -> None:
    """Operators, currency, powers, fractions and number sets are content."""
    assert level_for_embedding(text) == text


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("“it’s” – ok…", '"it\'s" - ok...'),
        ("Ｗｉｆｉ　５Ｇ", "Wifi 5G"),
        ("ﬁle 𝐛𝐨𝐥𝐝", "file bold"),
        ("zero\u200bwidth\u00ad", "zerowidth"),
        ("1\ufe0f\u20e3 step", "1 step"),
        ("• one\n● two", "- one\n- two"),
        ("你好，世界。", "你好,世界."),
    ],
)
def test_typography_is_levelled(text: str, level: str) -> None:
    """Quotes, dashes, widths, ligatures, bullets and zero-width marks have a plain form."""
    assert level_for_embedding(text) == level


def test_code_keeps_its_characters() -> None:
    """A typographic mark inside code may be what the question is about."""
    assert level_for_embedding("Why “x” fails: `a – b`") == 'Why "x" fails: `a – b`'


@given(st.text(max_size=80))
def test_levelling_never_blanks_a_text_that_shows_letters(text: str) -> None:
    """What a reader could read is still there."""
    if any(map(str.isalnum, text)):
        assert not is_blank(level_for_embedding(text))


@given(st.text(max_size=60))
def test_typography_is_stable(text: str) -> None:
    """Levelling twice changes nothing more."""
    once = level_typography(text)

    assert level_typography(once) == once
