"""Raw pieces of an English prompt to tokens: frames, politeness and small words set aside.

Decides what carries the question. Politeness and question frames vanish or become one token, words
become their keys, small words become tokens of their class.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from semcache.text.facts_case import cased_key
from semcache.text.facts_frame import Item, items_of, match_phrase, without_frame
from semcache.text.facts_literal import Reading, literal_token
from semcache.text.facts_rules import English, Rewrite, english
from semcache.text.facts_tokens import Piece, Token
from semcache.text.facts_verbs import (
    is_choice,
    is_lately,
    is_passive_get,
    is_perfect,
    passive_verbs,
    use_to,
)
from semcache.text.facts_words import lemma, word_key

__all__ = ["read_english"]

_PERSONS = {"him": "he", "his": "he", "hers": "she", "her": "she", "them": "they", "their": "they"}
_COST = "cost"  # "how much" asks for it, said or not
_REACH = 5  # how far a particle may stand behind its verb: "turn the two-step login on"


def read_english(pieces: tuple[Piece, ...]) -> Reading:
    """Read the pieces of an English prompt (or one whose words are best read as English)."""
    rules = english()
    items = items_of(pieces, rules)
    items, asks = without_frame(items, rules)
    tokens = _tokens(items, rules)
    if tokens and tokens[0].kind == "question":
        asks = "open"
    if not asks and any(token.kind == "question" for token in tokens):
        asks = "open"
    asked = next((i for i, token in enumerate(tokens) if token.kind == "question"), len(tokens))
    tokens = [_in_place(tokens, position, asked) for position in range(len(tokens))]
    keys = {token.key for token in tokens}
    if any(token.key == "how much" for token in tokens):
        tokens = [token for token in tokens if token.key != _COST]
    passive = tuple(key for key in passive_verbs(items) if key in keys and key != "do")
    return Reading(tuple(tokens), asks, passive)


def _in_place(tokens: list[Token], position: int, asked: int) -> Token:
    """A token as its place makes it: a later "when" is "if", a last "mean" is a frame.

    `asked` is the place of the first question word.
    """
    token = tokens[position]
    if position <= asked:
        return token
    if token.key == "when" and tokens[position - 1].kind != "coordinator":
        return Token("preposition", "if", token.text)
    if token.key == "mean" and position == len(tokens) - 1 and _asks_what(tokens):
        return Token("optional", "explain", token.text)
    return token


def _asks_what(tokens: list[Token]) -> bool:
    return any(token.key == "what" for token in tokens)


def _tokens(items: list[Item], rules: English) -> list[Token]:
    tokens: list[Token] = []
    used: set[int] = set()
    position = 0
    while position < len(items):
        if position in used:
            if items[position].norm == "to":  # ends the phrase that "use" opened
                tokens.append(Token("stop", ";", "to"))
            position += 1
            continue
        found = _phrase_at(items, position, rules)
        if found is not None:
            size, becomes = found
            text = " ".join(item.norm for item in items[position : position + size])
            tokens.extend(Token(kind, _phrase_key(kind, key), text) for kind, key in becomes)
            position += size
            continue
        tokens.extend(_single(items, position, rules, used))
        position += 1
    return tokens


def _phrase_at(
    items: list[Item], position: int, rules: English
) -> tuple[int, tuple[Rewrite, ...]] | None:
    """The longest phrase that may stand at a position, the more special first."""
    if not items[position].norm:
        return None
    found = [match_phrase(items, position, rules.anywhere)]
    if position == 0:
        found.append(match_phrase(items, position, rules.opening))
    if position and items[position - 1].norm in _BEFORE_CLAUSE:
        found.append(match_phrase(items, position, rules.clause))
    closing = match_phrase(items, position, rules.closing)
    if closing is not None and _is_closed(items, position + closing[0]):
        found.append(closing)
    return max(filter(None, found), key=lambda match: match[0], default=None)


_BEFORE_CLAUSE = frozenset(("", "and", "but", "so"))
_AFTER_CLOSING = frozenset(("", "if", "when"))


def _is_closed(items: list[Item], end: int) -> bool:
    return end == len(items) or items[end].norm in _AFTER_CLOSING


def _phrase_key(kind: str, key: str) -> str:
    return word_key(key) if kind == "word" else key


def _single(items: list[Item], position: int, rules: English, used: set[int]) -> list[Token]:
    item = items[position]
    if not item.norm:
        return literal_token(item.piece)
    named = cased_key(items, position, rules)
    if named:
        return _possessed(item, Token("name", named, item.piece.text))
    if item.norm in _OPERATORS and _between_numbers(items, position):
        return [Token("literal", _OPERATORS[item.norm], item.norm)]
    if item.norm in _DO and _is_main_do(items, position):
        return [Token("word", "do", item.norm)]
    helper = _helper(items, position, used)
    if helper is not None:
        return helper
    if item.norm in rules.classes:
        return _class_token(items, position, rules.classes[item.norm])
    if item.norm in rules.prefixed:
        base = word_key(rules.prefixed[item.norm])
        return [Token("negation", "no", item.norm), Token("word", base, item.norm)]
    particles = rules.phrasal.get(lemma(item.norm))
    if particles and (key := _phrasal(items, position, particles, used)):
        return [Token("word", word_key(key), item.norm)]
    return _possessed(item, _word_token(item, rules))


def _helper(items: list[Item], position: int, used: set[int]) -> list[Token] | None:
    """A word that helps a verb ("have" seen, "got" charged, "just" lost, "use" X to), or none."""
    word = items[position].norm
    if word == "just" and is_lately(items, position):
        return []
    if word == "either" and is_choice(items, position):
        return []
    if is_passive_get(items, position):
        return [Token("tense", "past", word)] if word == "got" else []
    if word in ("have", "has", "having") and is_perfect(items, position):
        return [Token("tense", "perfect", word)]
    if word == "use" and (place := use_to(items, position)):
        used.add(place)
        return [Token("preposition", "with", word)]
    return None


def _possessed(item: Item, token: Token) -> list[Token]:
    return [token, Token("possessive", "of", "'s")] if item.possessive else [token]


def _word_token(item: Item, rules: English) -> Token:
    text = item.piece.text
    kind = "name" if text[0].isupper() and not item.opens else "word"
    if text.isupper() and len(text) > 1:
        kind = "name"
    if kind == "name" or item.norm in rules.unaccented:
        return Token(kind, word_key(_without_accents(item.norm)), text)
    return Token(kind, word_key(item.norm), text)


@lru_cache(maxsize=16384)
def _without_accents(word: str) -> str:
    """A word of English that may drop its accents, or a name: elsewhere they part two words."""
    if not word.isascii():
        word = "".join(
            c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)
        )
    return word


_OPERATORS = {"plus": "+", "minus": "-", "times": "*"}


def _between_numbers(items: list[Item], position: int) -> bool:
    around = items[max(0, position - 1) : position + 2]
    return len(around) == 3 and around[0].piece.kind == around[2].piece.kind == "number"


_DO = frozenset("do does did doing done".split())
_AUXILIARIES = frozenset("do does did can could should would will must may might to".split())


def _is_main_do(items: list[Item], position: int) -> bool:
    """ "What do chromosomes do?": the second "do" is a verb of its own."""
    norm = items[position].norm
    if norm in ("doing", "done"):
        return True
    before = [item.norm for item in items[max(0, position - 7) : position]]
    has_auxiliary = any(word in _AUXILIARIES for word in before)
    is_last = position + 1 == len(items) or items[position + 1].piece.kind == "stop"
    return has_auxiliary if norm == "do" else is_last and position > 1 and not has_auxiliary


def _class_token(items: list[Item], position: int, of: Rewrite) -> list[Token]:
    kind, key = of
    word = items[position].norm
    if kind == "be":
        return []
    if kind == "person":
        key = _PERSONS.get(key, key)
    if kind == "tense" and key == "past" and word == "had" and not is_perfect(items, position):
        return [Token("tense", key, word), Token("word", "have", word)]
    return [Token(kind, key, word)]


def _phrasal(
    items: list[Item], position: int, particles: dict[str, str], used: set[int]
) -> str | None:
    for offset in range(1, _REACH + 1):
        place = position + offset
        if place >= len(items) or items[place].piece.kind == "stop":
            return None
        key = particles.get(items[place].norm)
        if key is None:
            continue
        follows = items[place + 1] if place + 1 < len(items) else None
        if offset == 1 or follows is None or not follows.norm or follows.norm in english().classes:
            used.add(place)
            return key
    return None
