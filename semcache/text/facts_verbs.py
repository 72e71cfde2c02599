"""English verbs with their helpers: perfect, passive, "get charged", "just lost", "use X to".

Decides which helper carries a tense and which says nothing of its own.
"""

from __future__ import annotations

from functools import lru_cache

from semcache.text.facts_frame import Item
from semcache.text.facts_rules import english
from semcache.text.facts_words import word_key

__all__ = ["is_choice", "is_lately", "is_passive_get", "is_perfect", "passive_verbs", "use_to"]

_NOT_PARTICIPLE = frozenset(
    "red bed need speed seed feed hundred then when often even open listen".split()
)

_BE = frozenset("is are am was were be been being".split())


def _after(items: list[Item], position: int) -> str:
    return items[position + 1].norm if position + 1 < len(items) else ""


def is_lately(items: list[Item], position: int) -> bool:
    """ "I just lost it" tells when, "just one" how many."""
    follows = _after(items, position)
    before = items[position - 1].norm if position else ""
    return before not in _BE and before != "not" and (follows == "got" or _is_participle(follows))


def is_choice(items: list[Item], position: int) -> bool:
    """ "Either tea or coffee" says no more than "tea or coffee"."""
    before = {item.norm for item in items[:position]}
    return "not" not in before and any(i.norm == "or" for i in items[position + 2 : position + 6])


_GET = frozenset("get gets got getting gotten".split())
_NOT_PASSIVE = frozenset("used data media men women children people feet teeth mice".split())


def is_passive_get(items: list[Item], position: int) -> bool:
    """ "Did I get charged" is "was I charged"."""
    follows = _after(items, position)
    if items[position].norm not in _GET or follows in _NOT_PASSIVE:
        return False
    return _is_participle(follows)


def use_to(items: list[Item], position: int) -> int:
    """Place of "to" in "use a key to open it" ("open it with a key"), else 0."""
    if position and items[position - 1].norm in ("the", "a", "of", "no"):
        return 0
    for place in range(position + 2, min(position + 7, len(items) - 1)):
        if items[place].piece.kind == "stop" or items[place].norm in ("and", "or", "not"):
            return 0
        if items[place].norm == "to":
            return 0 if items[place + 1].norm in english().classes else place
    return 0


_ASKING = frozenset(("", "why", "how", "when", "where"))


def is_perfect(items: list[Item], position: int) -> bool:
    """ "Has it failed", "why has my last card payment failed", "has not": no "have" of owning."""
    if _after(items, position) == "not":
        return True
    is_inverted = not position or items[position - 1].norm in _ASKING
    for item in items[position + 1 : position + (8 if is_inverted else 4)]:
        if is_inverted and not item.norm:
            return False
        if item.norm in ("got", "gone") or _is_participle(item.norm):
            return True
    return False


@lru_cache(maxsize=16384)
def _is_participle(word: str) -> bool:
    if word == "been":
        return True
    if word in _NOT_PARTICIPLE or len(word) < 4:
        return word in ("met", "won", "led", "fed", "cut", "put")
    irregular = english().irregular
    if word in irregular and irregular[word] != word:
        return not word.endswith(("ing", "s"))
    return word.endswith("ed")


def passive_verbs(items: list[Item]) -> tuple[str, ...]:
    """Keys of verbs in the passive: "get" or a form of "be" and, close behind it, a participle."""
    found: list[str] = []
    for position, item in enumerate(items):
        if is_passive_get(items, position):
            found.append(word_key(items[position + 1].norm))
        follows = _after(items, position)
        if item.norm in _BE and follows != "there":
            for later in items[position + 1 : position + 7]:
                if later.norm in _BE or later.piece.kind == "stop":
                    break
                if _is_participle(later.norm):
                    found.append(word_key(later.norm))
                    break
    return tuple(found)
