"""Cut a text into levelled tokens: words, names, ideographs, marks, and literals kept as they are.

Decides what is one token and how its case is levelled. It must never cut or lower code, numbers or
operators: there every character counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from semcache.text.level import level_typography
from semcache.text.spans import pieces
from semcache.text.spelling import CONTRACTIONS, level_spelling
from semcache.text.variants import SIMPLIFIED

__all__ = ["CJK", "Case", "Kind", "Token", "lower", "one_blank", "parts_of", "tokens_of"]

# Words that mean something else with a capital in the same kind of sentence. In lower case, and at
# the start of a text, one cannot tell, so only a capital inside a text of mixed case sets them off.
_NAMES = (
    "may march august polish turkey china japan chile guinea jordan georgia mercury go swift rust "
    "ruby spring shell target gap word windows apple amazon bill mark rob sue pat will grace hope "
    "faith jack rose drew frank nice reading bath cologne buffalo phoenix orange mobile"
)
_ACRONYMS = "US IT WHO AIDS CAT MAC RAM PIN ACT SAT ICE"
# Symbols of elements that are acronyms in capitals: Co is cobalt, CO a gas.
_ELEMENTS = frozenset("Co Cs Si Hf Po Os Sc Sn Pb Ni Np Ho Bi".split())
_CAPITALS_COUNT = frozenset(_NAMES.split())
_ACRONYMS_COUNT = frozenset(_ACRONYMS.split())
# Units whose value changes with their case: megawatt and milliwatt, byte and bit.
_CASED_UNIT = re.compile(r"m[wvab]|[kmgtp]bp?s?|mbit|mol|ms|pa|mpa", re.IGNORECASE)
_CASELESS_UNIT = {"kb": "KB", "mb": "MB", "gb": "GB", "tb": "TB", "pb": "PB"}

CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CHUNK = re.compile(rf"\n\s*|[{CJK}]+|[^\s{CJK}]+")
_IDEOGRAPH = re.compile(f"[{CJK}]")
_UNBROKEN = re.compile(rf"[^\s{CJK}]+")
# Option flags, assignments, calls, paths, scoped names, addresses: every character counts.
_CODE_LIKE = re.compile(
    r"\A-{1,2}[A-Za-z]|[_\\=$<>{}|^]|\w\(|\w::\w|/.*[/.\d~]|\A[.~]/|\w@\w|[-+*/]=|=[-+*/]"
)
_OPENERS, _CLOSERS = "([\"'{¿¡", ")]\"'}.,;:!?।۔"
_LONGEST_WORD = 200
_IN_MARKS = re.compile(r"([.?!])[.?!]*|.")
_SENTENCE_END = frozenset(".?!:")
_NEVER_NAMES = frozenset(("i", *(word for word in CONTRACTIONS if word.startswith("i'"))))


class Kind(StrEnum):
    """What a token is, and so how much of it may differ."""

    WORD = "word"
    NAME = "name"
    IDEOGRAPH = "ideograph"
    MARK = "mark"
    LITERAL = "literal"


class Token(NamedTuple):
    """One levelled token of a text.

    A name is a word with a capital inside a sentence of mixed case; a literal is code, a quoted
    part, an identifier, anything with a digit, an operator or an emoji.
    """

    text: str
    kind: Kind


class Case:
    """How a text uses capitals, and whether we stand at the start of a sentence."""

    __slots__ = ("counts", "is_start")

    def __init__(self, text: str, counts: bool | None = None) -> None:
        self.is_start = counts is None
        if counts is None:
            words = text.split()
            counts = text.lower() != text and not text.isupper()
            # In A Text Like This A Capital Says Nothing.
            counts = counts and (len(words) < 4 or not all(_is_capital(w) for w in words))
        self.counts = counts

    def inside(self) -> Case:
        """Return the same use of capitals, past the start of the text."""
        return Case("", self.counts)


def _is_capital(word: str) -> bool:
    return len(word) < 4 or not word[0].islower()


def parts_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the stretches of a text, typography levelled, and whether each is literal."""
    for piece in pieces(text):
        if piece.is_literal:
            yield _level_quotes(piece.text), True
            continue
        plain, end = level_typography(piece.text), 0
        for start, code in _code_in(plain):
            yield plain[end:start], False
            yield code, True
            end = start + len(code)
        yield plain[end:], False


def _code_in(text: str) -> Iterator[tuple[int, str]]:
    """Find the unbroken stretches that look like code, without the marks that end a clause."""
    if _CODE_LIKE.search(text) is None and " -" not in text and " ~" not in text:
        return
    for match in _UNBROKEN.finditer(text):
        code = match.group().rstrip("?!.,;:")
        if _CODE_LIKE.search(code) is not None and any(map(str.isalnum, code)):
            yield match.start(), code


def _level_quotes(literal: str) -> str:
    first, last = literal[0], literal[-1]
    if first in "“„«「『《" and last in "”“»」』》":
        return f'"{literal[1:-1]}"'
    if first == "‘" and last == "’":
        return f"'{literal[1:-1]}'"
    return literal


def lower(text: str, case: Case) -> str:
    """Return a plain stretch in lower case, but for capitals that carry meaning (US, mW)."""
    return _WORD.sub(lambda m: _lower_word(m.group(), _before(text, m.start()), case), text)


def _before(text: str, start: int) -> str:
    """Return the few characters before a word: enough to see a number or the end of a sentence."""
    return text[max(0, start - 8) : start].rstrip()


def _lower_word(word: str, before: str, case: Case) -> str:
    level = word.lower()
    if word == level and level not in _CASELESS_UNIT:
        return word
    if before[-1:].isdigit() and _CASED_UNIT.fullmatch(word):
        return _CASELESS_UNIT.get(word, word)
    if case.counts and (word in _ACRONYMS_COUNT or (before and word in _ELEMENTS)):
        return word
    if case.counts and level in _CAPITALS_COUNT and word != level:
        is_first = before[-1] in _SENTENCE_END if before else case.is_start
        return level if is_first else word
    return level


def one_blank(match: re.Match[str]) -> str:
    """Level a run of blanks. A line end and the indent after it count: they are code's grammar."""
    _, line_end, indent = match.group().rpartition("\n")
    return "\n" + indent.expandtabs(4) if line_end else " "


def tokens_of(text: str, case: Case) -> Iterator[Token]:
    """Yield the levelled tokens of a plain stretch of text."""
    was_ideograph = False
    for match in _CHUNK.finditer(text):
        start, end = match.span()
        chunk = match.group()
        if chunk.islower() and chunk.isascii() and chunk.isalpha() and chunk not in _CASELESS_UNIT:
            yield from _plain_word(chunk)  # most words: no mark, no capital
            was_ideograph = False
            continue
        if chunk[0] == "\n":
            yield Token(f"⏎{len(one_blank(match)) - 1 or ''}", Kind.MARK)
            was_ideograph = False
            continue
        is_ideograph = _IDEOGRAPH.match(text, start) is not None
        if not is_ideograph:
            yield from _chunk_tokens(text, start, end, case)
        else:
            if was_ideograph:  # with blanks between: they may part two words
                yield Token("␣", Kind.MARK)
            yield from map(_ideograph, chunk.translate(SIMPLIFIED))
        was_ideograph = is_ideograph


@lru_cache(maxsize=16384)
def _ideograph(character: str) -> Token:
    return Token(character, Kind.IDEOGRAPH)


def _chunk_tokens(text: str, start: int, end: int, case: Case) -> Iterator[Token]:
    chunk = text[start:end]
    middle = chunk.lstrip(_OPENERS)
    opening = chunk[: len(chunk) - len(middle)]
    middle = middle.rstrip(_CLOSERS)
    closing = chunk[len(opening) + len(middle) :]
    if not middle or len(chunk) > _LONGEST_WORD:
        # Marks that hang on what stands before them end a clause; alone they may be an operator.
        hangs = not text[start - 1].isspace() if start else not case.is_start
        yield Token(chunk, Kind.MARK if hangs and not middle else Kind.LITERAL)
        return
    while closing and _belongs(middle, closing[0]):
        middle, closing = middle + closing[0], closing[1:]
    yield from (Token(mark, Kind.MARK) for mark in opening if mark not in "¿¡")
    before = (text[max(0, start - 8) : start] + opening).rstrip()
    if _WORD.fullmatch(middle) is not None:
        yield from _word_tokens(middle, before, case)
    else:
        yield Token(lower(middle, case.inside()), Kind.LITERAL)
    for mark in _IN_MARKS.finditer(closing):
        yield Token(mark[1] or mark[0], Kind.MARK)


def _belongs(core: str, mark: str) -> bool:
    """Say whether a mark after `core` is part of it: n!, 5!, f(x), x[1]."""
    if mark == "!":
        return core.isdigit() or len(core) == 1
    return (mark == ")" and core.count("(") > core.count(")")) or (
        mark == "]" and core.count("[") > core.count("]")
    )


def _word_tokens(word: str, before: str, case: Case) -> Iterator[Token]:
    level = _lower_word(word, before, case)
    is_first = before[-1:] in _SENTENCE_END if before else case.is_start
    if case.counts and not is_first and word != word.lower() and level not in _NEVER_NAMES:
        yield Token(level, Kind.NAME)
    else:
        yield from _plain_word(level)


@lru_cache(maxsize=16384)
def _plain_word(word: str) -> tuple[Token, ...]:
    words = CONTRACTIONS.get(word) or (level_spelling(word),)
    return tuple(Token(part, Kind.WORD) for part in words)
