"""Words of an English prompt whose capitals make them another word: Polish, WHO, vitamin A, 5 mW.

Decides nothing about words that are the same in any case.
"""

from __future__ import annotations

import re

from semcache.text.facts_frame import Item
from semcache.text.facts_rules import English, english

__all__ = ["cased_key"]


def cased_key(items: list[Item], position: int, rules: English) -> str:
    """Key of a word that is a name when written large ("Polish", "WHO"), else the empty string."""
    norm, text = items[position].norm, items[position].piece.text
    after_the = position > 0 and items[position - 1].norm == "the"
    if norm == "us^" or (norm == "us" and after_the):
        return "usa"
    if norm.endswith("^"):
        return norm
    if _keeps_case(items, position):
        return text
    is_name = norm in rules.cased and text[0].isupper() and not items[position].opens
    return f"{norm}^" if is_name or _is_letter(items, position) else ""


# Symbols of elements that are acronyms in capitals: Co is cobalt, CO a gas.
_ELEMENTS = frozenset("Co Cs Si Hf Po Os Sc Sn Pb Ni Np Ho Bi".split())
_CASED_UNIT = re.compile("[munpkMGT](?:W|V|A|J|N|S|F|H|Pa|Hz|eV|Wh|b|bps|bit)")


def _keeps_case(items: list[Item], position: int) -> bool:
    """ "5 mW" is no "5 MW", cobalt no carbon monoxide."""
    item = items[position]
    if item.piece.text in _ELEMENTS and not item.opens:
        return True
    follows_number = position > 0 and items[position - 1].piece.kind == "number"
    return follows_number and _CASED_UNIT.fullmatch(item.piece.text) is not None


def _is_letter(items: list[Item], position: int) -> bool:
    """ "Vitamin A", "World War I": a letter that names one of several, not an article or "I"."""
    item = items[position]
    if item.piece.text not in ("A", "I") or item.opens or not position or _is_titled(items):
        return False
    before = items[position - 1]
    follows_word = before.norm != "" and before.norm not in english().classes
    if item.piece.text == "A":
        return follows_word or position + 1 == len(items)
    is_last = position + 1 == len(items) or items[position + 1].piece.kind == "stop"
    is_numbered = before.piece.text[0].isupper() or before.norm in _NUMBERED
    return follows_word and (is_last or is_numbered)


def _is_titled(items: list[Item]) -> bool:
    """In A Text Like This, or IN ONE LIKE THIS, a capital says nothing."""
    words = [item.piece.text for item in items if len(item.norm) > _SMALL_WORD and not item.opens]
    return len(words) > 1 and all(text[0].isupper() for text in words)


_SMALL_WORD = 2
_NUMBERED = frozenset(
    "type phase class part section chapter level stage grade group appendix unit volume act".split()
)
