"""Raw pieces of a prompt in a language that is read in part: words as they stand.

Politeness and articles are set aside and negations known; nothing is stemmed, so a difference in
wording stays a difference that the judge calls unread.
"""

from __future__ import annotations

import re

from semcache.text.facts_literal import Reading, literal_token
from semcache.text.facts_rules import Language, others
from semcache.text.facts_tokens import Piece, Token

__all__ = ["read_other", "without_politeness"]

_KANA_RUNS = re.compile("[\u30a1-\u30ffー]+|[\u3041-\u309f]+|[\u3400-\u9fff々〇]")
_UNKNOWN = Language(frozenset(), (), frozenset(), frozenset(), "")


def without_politeness(text: str, language: str) -> str:
    """Drop the phrases of courtesy that are known for the language."""
    lower = text.lower()
    for phrase in others().get(language, _UNKNOWN).drop:
        place = lower.find(phrase) if phrase else -1
        if place >= 0:
            text = text[:place] + " " + text[place + len(phrase) :]
            lower = text.lower()
    return text


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
        elif part and part not in rules.articles:
            found.append(Token("word", part, piece.text))
    if negation and negation.search(word + " "):
        found.append(Token("negation", "no", word))
    return found
