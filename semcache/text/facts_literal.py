"""Tokens of the pieces that every language shares: numbers, dates, literals, marks, stops."""

from __future__ import annotations

from dataclasses import dataclass

from semcache.text.facts_dates import date_key, time_key
from semcache.text.facts_tokens import Piece, Token
from semcache.text.facts_words import lemma

__all__ = ["Reading", "literal_token"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens of a prompt, and what kind of question it is: "yes or no", "open" or ""."""

    tokens: tuple[Token, ...]
    asks: str
    passive: tuple[str, ...] = ()


def literal_token(piece: Piece) -> list[Token]:
    """Token of a piece that is no plain word: number, date, literal, quotation, mark or stop."""
    kind, text = piece.kind, piece.text
    if piece.number is not None:
        value, dimension = piece.number.quantity
        if not dimension and "." in text and text.endswith("0"):
            return [Token("number", text, text)]  # 1.10 may be a version, not 1.1
        return [Token("number", f"{value} {dimension}".rstrip(), text)]
    if kind == "date":
        return [Token("date", date_key(text), text)]
    if kind == "time":
        return [Token("date", time_key(text), text)]
    if kind == "word":
        return [Token("word", lemma(text.lower()), text)]
    if kind == "stop":
        return [Token("stop", {",": ",", "、": ",", "(": "("}.get(text[0], "."), text)]
    if kind == "mark":
        return _mark_token(text)
    return [Token("quote" if kind in ("quote", "code") else "literal", text, text)]


def _mark_token(text: str) -> list[Token]:
    if text == "&":
        return [Token("coordinator", "and", text)]
    if text == "/":
        return [Token("coordinator", "or", text)]
    return [
        Token(
            "literal", {"×": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!="}.get(text, text), text
        )
    ]
