"""What a tokenizer makes of a text: words it cannot read, and windows that together are all of it.

Works on its own copy of the tokenizer without a length limit, so nothing is ever cut off, threads
do not meet, and a limit set here is nobody else's. Embeds nothing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

__all__ = ["Pieces"]

# European accents over Latin letters: a tokenizer that drops them still reads the word. Tones,
# vowel signs and voicing marks of other scripts tell words apart, and are not here.
_FORGIVABLE = frozenset(
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0326\u0327\u0328"
)
# Marks that only choose how a character is drawn.
_DRAWING = frozenset(["\u034f", *(chr(code) for code in range(0xFE00, 0xFE10))])


class Pieces:
    """A tokenizer as the embedder's reading glasses.

    Args:
        tokenizer: a fast tokenizer; it is copied.
        unknown_id: the id of its unknown piece, None if it has none.
        max_tokens: the content tokens that fit one window, special ones not counted.
    """

    def __init__(self, tokenizer: Tokenizer, unknown_id: int | None, max_tokens: int) -> None:
        copy = type(tokenizer).from_str(tokenizer.to_str())
        copy.no_truncation()
        copy.no_padding()
        self._tokenizer = copy
        self._unknown_id = unknown_id
        self.max_tokens = max_tokens

    @property
    def settings(self) -> str:
        """The vocabulary and rules as JSON: what a fingerprint of the model includes."""
        return self._tokenizer.to_str()

    def count(self, text: str) -> int:
        """Content tokens of `text`."""
        return len(self._encode(text).ids)

    def unknown(self, text: str) -> list[str]:
        """The parts of `text` that the model cannot read, each once, in order.

        Unknown word pieces, letters whose distinguishing mark the tokenizer drops (a tone, a vowel
        sign, a voicing mark), and lone surrogates, which no tokenizer takes.
        """
        broken = [char for char in text if "\ud800" <= char <= "\udfff"]
        if broken:
            return list(dict.fromkeys(broken))
        encoding = self._encode(text)
        pieces = zip(encoding.ids, encoding.offsets, strict=True)
        unread = [text[start:end] for id_, (start, end) in pieces if id_ == self._unknown_id]
        if not text.isascii():
            unread += self._stripped(text)
        return list(dict.fromkeys(unread))

    def windows(self, text: str) -> list[str]:
        """Cut `text` between words into pieces of nearly equal length that each fit.

        Joined, they are the text, character for character. A text that fits is one piece.
        """
        encoding = self._encode(text)
        size = len(encoding.ids)
        if size <= self.max_tokens or len(text) < 2:
            return [text]
        count = -(-size // self.max_tokens)
        cuts = self._cuts(encoding, -(-size // count))
        edges = [0, *cuts, len(text)] if cuts else [0, len(text) // 2, len(text)]
        pieces = [text[start:end] for start, end in pairwise(edges)]
        # A piece may hold more tokens alone than it did in context: then it is cut again.
        return [window for piece in pieces for window in self.windows(piece)]

    def _encode(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)

    @staticmethod
    def _cuts(encoding: Encoding, target: int) -> list[int]:
        """Character positions to cut at: the last word start before each `target` tokens."""
        words, offsets = encoding.word_ids, encoding.offsets
        cuts: list[int] = []
        begin, best = 0, None
        for token in range(1, len(offsets)):
            if token - begin > target and best is not None:
                cuts.append(offsets[best][0])
                begin, best = best, None
            if words[token] != words[token - 1] and offsets[token][0] >= offsets[token - 1][1]:
                best = token
        return cuts

    def _stripped(self, text: str) -> list[str]:
        """Letters of `text` that lose a mark which tells words apart."""
        normalizer = self._tokenizer.normalizer
        if normalizer is None:
            return []
        kept = Counter(unicodedata.normalize("NFD", normalizer.normalize_str(text)))
        lost: list[str] = []
        base = ""
        marked = False
        for char in unicodedata.normalize("NFD", text):
            if char in _DRAWING:
                continue
            if not unicodedata.category(char).startswith("M"):
                base, marked = char, False
            elif kept[char]:
                kept[char] -= 1
            elif marked or not _is_accent(base, char):
                # A second mark on one letter is a tone, as in Vietnamese.
                lost.append(unicodedata.normalize("NFC", base + char))
            else:
                marked = True
        return lost


def _is_accent(base: str, mark: str) -> bool:
    return mark in _FORGIVABLE and unicodedata.name(base, "").startswith("LATIN")
