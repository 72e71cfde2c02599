"""What a prompt says, in the terms that decide whether one answer serves two prompts.

`read` turns a text into Facts: tokens with their keys, numbers with units, dates, literals,
quotations, negations, quantifiers, modality, tenses, names, roles. It compares nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from semcache.text.facts_chinese import read_chinese
from semcache.text.facts_english import read_english
from semcache.text.facts_language import (
    language_of,
    level_for_language,
    script_of,
    simplified,
)
from semcache.text.facts_literal import Reading
from semcache.text.facts_other import read_other, without_politeness
from semcache.text.facts_tokens import Piece, Token, level_marks, pieces_of
from semcache.text.mention import About, about
from semcache.text.numbers import level_numbers

__all__ = ["CONTENT_KINDS", "Facts", "read"]

CONTENT_KINDS = frozenset(
    (
        "word",
        "name",
        "number",
        "date",
        "literal",
        "quote",
        "question",
        "person",
        "optional",
        "quantifier",
    )
)
_FREE = frozenset(("some", "several", "almost"))  # quantifiers that may be missing


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """One text as read. Compared by identity: `read` returns one object for one text.

    `language` is an ISO 639-1 code or "" (unknown). `tokens` holds everything in order, `content`
    what carries the question, with the preposition that governs it; before the places in `joints`
    stands "and", "or" or "+" (below zero: a comma). `words` are the lower-case words as they stand.
    `asks` is "yes or no", "open" or "". `passive` are keys of verbs in the passive, `quotes` and
    `code` are compared letter by letter. `layout` is the indent of each line, empty where no line
    is indented. `about` says whether words, or their form, are the subject.
    """

    text: str
    script: str
    language: str
    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    joints: tuple[int, ...]
    words: tuple[str, ...]
    asks: str
    passive: tuple[str, ...]
    quotes: tuple[str, ...]
    code: tuple[str, ...]
    layout: tuple[int, ...]
    about: About

    def of_kind(self, kind: str) -> tuple[Token, ...]:
        """The tokens of one kind, in order."""
        return tuple(token for token in self.tokens if token.kind == kind)

    @property
    def persons(self) -> frozenset[str]:
        """ "i" and "you", as far as they are said outside of frames such as "how do I"."""
        said = {token.key for token in self.tokens if token.kind in ("article", "pronoun")}
        return frozenset(name for name, group in (("i", _FIRST), ("you", _SECOND)) if said & group)

    def keys(self, kind: str) -> tuple[str, ...]:
        """The keys of one kind of token, sorted."""
        return tuple(sorted(token.key for token in self.tokens if token.kind == kind))

    @property
    def negations(self) -> int:
        """How often the text negates."""
        return sum(token.kind == "negation" for token in self.tokens)

    @property
    def is_read(self) -> bool:
        """Whether the words can be compared: rules of its own for the language, or no words."""
        return self.language in ("en", "zh") or not self.script


@lru_cache(maxsize=4096)
def read(text: str) -> Facts:
    """Read one text. The last 4,096 texts are remembered.

    >>> facts = read("How do I reset my two passwords?")
    >>> [token.key for token in facts.content]
    ['how', 'reset', '2', 'password']
    >>> facts.language, facts.asks
    ('en', 'open')
    """
    levelled = level_marks(text if text.isascii() else unicodedata.normalize("NFC", text))
    script = script_of(levelled)
    language = language_of(levelled, script)
    if script == "han":
        levelled = simplified(levelled)
    if language not in ("en", "zh"):
        levelled = without_politeness(levelled, language)
    levelled = level_for_language(_AMBIGUOUS.sub(r"\1٬", levelled))
    levelled = level_numbers(_without_dots(levelled))
    pieces = pieces_of(levelled)
    reading = _read(pieces, language, levelled)
    content, joints = _content(reading.tokens)
    return Facts(
        text=text,
        script=script,
        language=language,
        tokens=reading.tokens,
        content=content,
        joints=joints,
        words=tuple(p.text.lower() for p in pieces if p.kind in ("word", "literal", "cjk")),
        asks=reading.asks,
        passive=reading.passive,
        quotes=_quotes(pieces),
        code=tuple(p.text.strip("`\n ") for p in pieces if p.kind == "code"),
        layout=_layout(text),
        about=about(text, language),
    )


def _layout(text: str) -> tuple[int, ...]:
    lines = [line.expandtabs(4) for line in text.split("\n") if line.strip()]
    indents = tuple(len(line) - len(line.lstrip()) for line in lines)
    return indents if any(indents) else ()


# 1.000 may be one or a thousand: it is equal to nothing but itself.
_AMBIGUOUS = re.compile(r"(?:(?<![\d.])(?=[1-9]))(\d{1,3})\.(?=\d{3}(?![\d.]))")
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")


def _without_dots(text: str) -> str:
    """Write dotted abbreviations without their dots: "U.S." is "US"."""
    return _DOTTED.sub(lambda match: match.group().replace(".", ""), text) if "." in text else text


def _read(pieces: tuple[Piece, ...], language: str, text: str) -> Reading:
    if language == "en":
        return read_english(pieces)
    if language == "zh":
        return read_chinese(pieces, text)
    return read_other(pieces, language)


def _quotes(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """Quotations, pieces of one quotation joined by a blank."""
    found: list[str] = []
    inside = False
    for piece in pieces:
        if piece.quoted and inside and piece.kind != "quote":
            found[-1] += " " + piece.text
        elif piece.quoted:
            found.append(piece.text)
        inside = piece.quoted
    return tuple(found)


_FIRST = frozenset("i me my we us our 我".split())
_SECOND = frozenset("you your 你".split())


def _pronouns(tokens: tuple[Token, ...]) -> dict[str, str]:
    """First and second person count where the text has more than one person: roles may swap."""
    keys = {token.key for token in tokens if token.kind in ("article", "pronoun")}
    first, second = keys & _FIRST, keys & _SECOND
    has_third = any(token.kind == "person" for token in tokens)
    if bool(first) + bool(second) + has_third < 2:
        return {}
    return dict.fromkeys(first, "i") | dict.fromkeys(second, "you")


_JOINS = frozenset(("+", "*", "=", "=="))


def _between_numbers(tokens: tuple[Token, ...], position: int) -> bool:
    around = tokens[max(0, position - 1) : position + 2]
    return len(around) == 3 and around[0].kind == around[2].kind == "number"


def _content(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[int, ...]]:
    """Content tokens with the preposition that governs each, and the places of coordination."""
    found: list[Token] = []
    joints: list[int] = []
    marker, is_head = "", False
    pronouns = _pronouns(tokens)
    for position, token in enumerate(tokens):
        kind, key = token.kind, token.key
        if kind == "preposition":
            marker, is_head = key, True
        elif kind in ("stop", "question"):
            marker, is_head = "", False
        is_join = key in _JOINS and _between_numbers(tokens, position)
        if is_join or kind == "coordinator":
            joints.append(len(found))
        elif kind == "stop" and key == ",":
            joints.append(-len(found))
        elif key in pronouns:
            found.append(replace(token, kind="person", key=pronouns[key]))
        elif kind in CONTENT_KINDS and key not in _FREE:
            found.append(_governed(token, tokens[position + 1 : position + 2], marker, is_head))
            is_head = False
    return tuple(found), tuple(joints)


def _governed(token: Token, following: tuple[Token, ...], marker: str, is_head: bool) -> Token:
    if following and following[0].kind == "possessive":
        return replace(token, marker="of")
    return replace(token, marker=marker, is_head=is_head) if marker else token
