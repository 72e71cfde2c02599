"""Pieces: unknown words and windows, with a tokenizer made on the spot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

from semcache.embed.pieces import Pieces

LETTERS = "abcdefghijklmnopqrstuvwxyzかき"
VOCABULARY = ["[UNK]", ".", ",", *LETTERS, *(f"##{letter}" for letter in LETTERS)]


def pieces(max_tokens: int) -> Pieces:
    """A word-piece tokenizer that knows letters only, and drops accents as BERT does."""
    model = WordPiece({word: place for place, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=50)
    return Pieces(tokenizer, 0, max_tokens)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("plain words.", []),
        ("Café déjà vu, naïve", []),
        ("a 🙂 b 🙂", ["🙂"]),
        ("word 退货 word", ["退", "货"]),
        ("bàn và bạn", ["ạ"]),
        ("muốn", ["ó"]),
        ("か", []),
        ("が", ["が"]),
        ("a\ufe0f b", []),
        ("x\ud800y", ["\ud800"]),
        ("a" * 150, ["a" * 150]),
    ],
)
def test_what_cannot_be_read_is_named(text: str, unread: list[str]) -> None:
    """Unknown pieces, and letters that lose a mark which tells words apart; not mere accents."""
    assert pieces(100).unknown(text) == unread


def test_a_text_that_fits_is_one_window() -> None:
    """To the last token."""
    assert pieces(5).windows("a b c d e") == ["a b c d e"]


def test_windows_are_cut_between_words_and_of_like_size() -> None:
    """No word is torn while it fits a window."""
    assert pieces(6).windows("abc abc abc abc") == ["abc abc ", "abc abc"]


def test_a_word_longer_than_a_window_is_torn() -> None:
    """Better than leaving its end unread."""
    windows = pieces(4).windows("abcdefghijkl")

    assert "".join(windows) == "abcdefghijkl"
    assert len(windows) > 1


@given(st.text("ab é.退\n", max_size=120), st.integers(2, 9))
def test_windows_are_all_of_the_text_and_each_fits(text: str, max_tokens: int) -> None:
    """Nothing is cut off, whatever the text."""
    glasses = pieces(max_tokens)

    windows = glasses.windows(text)

    assert "".join(windows) == text
    assert all(glasses.count(window) <= max_tokens for window in windows)


def test_limits_set_on_the_original_tokenizer_do_not_count() -> None:
    """It truncates at four tokens and pads to fifty; the copy does neither."""
    assert pieces(100).count("a b c d e f g") == 7
