"""Raw pieces of a prompt in a language that is read in part: words as they stand.

Politeness is set aside and negations are known; an article may be missing, but the article of
another gender may be another noun. Nothing is stemmed, so a difference in wording stays one.
"""

from __future__ import annotations

import re
from functools import cache

from semcache.text.facts_literal import Reading, literal_token
from semcache.text.facts_rules import Language, others
from semcache.text.facts_tokens import Piece, Token
from semcache.text.mention import about

__all__ = ["read_other", "without_politeness"]

_KANA_RUNS = re.compile("[\u30a1-\u30ffー]+|[\u3041-\u309f]+|[\u3400-\u9fff々〇]")
_UNKNOWN = Language(frozenset(), (), frozenset(), frozenset(), "")


def without_politeness(text: str, language: str) -> str:
    """Drop the courtesy that is known for the language, at both ends and as whole words."""
    if about(text, language):
        return text
    start, end = _courtesy(language)
    for _ in range(_LAYERS):
        shorter = end.sub("", start.sub("", text))
        if shorter == text or not any(map(str.isalnum, shorter)):
            break
        text = shorter
    return text


_LAYERS = 4
# Written without blanks, or with endings grown on: there a phrase may end inside a run of letters.
_JOINED = frozenset(("ja", "ko"))


@cache
def _courtesy(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    phrases = "|".join(map(re.escape, filter(None, others().get(language, _UNKNOWN).drop)))
    edge = "" if language in _JOINED else r"(?!\w)"
    before = "" if language in _JOINED else r"(?<!\w)"
    marks = r"[\s,.!?;:¡¿、。！？，،؟।]*"
    if not phrases:
        return _NEVER, _NEVER
    ends = r"(?<=[\w,.!?;:、。！？，،؟।])"
    start = re.compile(rf"\A{marks}(?:{phrases}){edge}{marks}(?=\w)", re.IGNORECASE)
    end = re.compile(rf"{ends}{marks}{before}(?:{phrases}){marks}\Z", re.IGNORECASE)
    return start, end


_NEVER = re.compile(r"(?!)")


def read_other(pieces: tuple[Piece, ...], language: str) -> Reading:
    """Read the pieces of a prompt in a language without rules of its own."""
    rules = others().get(language, _UNKNOWN)
    pattern = re.compile(rules.negation_pattern) if rules.negation_pattern else None
    tokens: list[Token] = []
    for piece in pieces:
        if piece.kind == "cjk":
            tokens.extend(_run_tokens(piece.text, pattern))
        elif piece.kind == "word":
            tokens.extend(_word_tokens(piece, rules, pattern))
        elif piece.kind != "stop" and not (piece.kind == "mark" and piece.text in ("-", "~")):
            tokens.extend(literal_token(piece))
    return Reading(tuple(tokens), "")


def _run_tokens(run: str, negation: re.Pattern[str] | None) -> list[Token]:
    tokens = [Token("word", part, part) for part in _KANA_RUNS.findall(run)]
    count = len(negation.findall(run)) if negation else 0
    return tokens + [Token("negation", "no", run)] * count


def _word_tokens(piece: Piece, rules: Language, negation: re.Pattern[str] | None) -> list[Token]:
    word = piece.text.lower()
    found: list[Token] = []
    for part in word.split("'"):
        if part in rules.negation:
            found.append(Token("negation", "no", part))
        elif part:
            kind = "optional" if part in rules.articles else "word"
            found.append(Token(kind, part, piece.text))
    if negation and negation.search(word + " "):
        found.append(Token("negation", "no", word))
    return found
