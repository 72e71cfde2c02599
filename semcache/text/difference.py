"""Say what differs between two texts and whether any of it could change the answer.

The canonical forms have already forgiven what is known to be harmless. Of the rest, only a plain
misspelling of a common word is harmless; every other word, number, mark or character is content.
Conservative on purpose: unsure is content.
"""

from __future__ import annotations

from dataclasses import dataclass

from semcache.text.fold import Kind, Token, canonical_tokens, core, fold
from semcache.text.misspelling import is_misspelling
from semcache.text.normalize import normalize
from semcache.text.spelling import CONTRACTIONS, level_spelling
from semcache.text.variants import SIMPLIFIED

__all__ = ["Change", "Difference", "compare_tokens", "name_levels", "type_difference"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One differing piece: its kind and its two sides ("" where a side has nothing)."""

    kind: str
    left: str = ""
    right: str = ""

    def __str__(self) -> str:
        if not self.left and not self.right:
            return self.kind
        return f"{self.kind}: {self.left or 'nothing'} / {self.right or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between two texts. `str()` says it in a few words."""

    changes: tuple[Change, ...] = ()

    @property
    def harmless(self) -> bool:
        """True if no change could ask for another answer."""
        return all(change.kind != "content" for change in self.changes)

    def __str__(self) -> str:
        if not self.changes:
            return "no difference"
        words = [str(change) for change in self.changes[:_SHOWN]]
        more = len(self.changes) - _SHOWN
        return "; ".join(words) + (f"; {more} more" if more > 0 else "")


def type_difference(a: str, b: str) -> Difference:
    """Compare two texts token by token and type each difference.

    >>> str(type_difference("How do I cancle my order?", "how do I cancel my order"))
    'misspelling: cancle / cancel'
    >>> type_difference("Is a > b?", "Is a >= b?").harmless
    False
    """
    changes = compare_tokens(canonical_tokens(a), canonical_tokens(b))
    return Difference(changes or name_levels(a, b))


def compare_tokens(left: tuple[Token, ...], right: tuple[Token, ...]) -> tuple[Change, ...]:
    """Return what still differs between two canonical token rows.

    A token more or fewer is always content, so rows of equal length are compared place by place:
    linear in their length.
    """
    if left == right:
        return ()
    if len(left) != len(right):
        return (_uneven(left, right),)
    return tuple(
        _change(one, other)
        for one, other in zip(left, right, strict=True)
        if one.text != other.text
    )


def _change(one: Token, other: Token) -> Change:
    words = (Kind.WORD, Kind.NAME)
    if one.kind in words and other.kind in words:
        is_name = Kind.NAME in (one.kind, other.kind)
        if is_misspelling(one.text, other.text, is_name=is_name):
            return Change("misspelling", one.text, other.text)
    return Change("content", one.text, other.text)


def _uneven(left: tuple[Token, ...], right: tuple[Token, ...]) -> Change:
    """Describe what lies between the common start and the common end of two rows."""
    start = 0
    while start < min(len(left), len(right)) and left[start].text == right[start].text:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end].text == right[-1 - end].text:
        end += 1
    return Change("content", _words(left, start, end), _words(right, start, end))


def _words(tokens: tuple[Token, ...], start: int, end: int) -> str:
    words = [token.text for token in tokens[start : len(tokens) - end]]
    return " ".join(words[:6]) + (" ..." if len(words) > 6 else "")


def name_levels(a: str, b: str) -> tuple[Change, ...]:
    """Name the harmless kinds that set apart two texts whose canonical forms are equal.

    >>> [str(change) for change in name_levels("What's new?", "what is new")]
    ['contraction']
    """
    one, other = normalize(a), normalize(b)
    if one == other:
        return ()
    if one.split() == other.split():
        return (Change("blanks"),)
    kinds = []
    plain, plain_other = core(one), core(other)
    if fold(one) != fold(other):
        kinds += _word_kinds(one, other, plain, plain_other)
    if not kinds or (fold(plain) == fold(plain_other) and plain != plain_other):
        kinds.append("case or punctuation")
    return tuple(map(Change, kinds))


def _word_kinds(one: str, other: str, plain: str, plain_other: str) -> list[str]:
    kinds = []
    if plain != one or plain_other != other:
        kinds.append("politeness, decoration or word order")
    words = set(fold(plain).split()) ^ set(fold(plain_other).split())
    if words & CONTRACTIONS.keys():
        kinds.append("contraction")
    if any(level_spelling(word) != word for word in words):
        kinds.append("spelling variant")
    if any(word[:1].isdigit() for word in words):
        kinds.append("number form")
    if plain.translate(SIMPLIFIED) != plain or plain_other.translate(SIMPLIFIED) != plain_other:
        kinds.append("character form")
    return kinds or ["contraction, spelling or number form"]
