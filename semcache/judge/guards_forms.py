"""Check of what a word ending in -ing is: a thing of its own, or the doing that a verb names.

Returns the reason for a veto, "" if it has none.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.judge.guards_meaning import quote
from semcache.text.facts import Facts
from semcache.text.facts_tokens import Token

__all__ = ["check_forms"]


def check_forms(query: Facts, candidate: Facts) -> str:
    """ "The painting" is no paint and training no train; "for buying a car" is "to buy a car"."""
    if query.language != "en" or candidate.language != "en":
        return ""
    one, two = _doings(query), _doings(candidate)
    for key in one.keys() & two.keys():
        mine, theirs = one[key], two[key]
        if mine.is_doing != theirs.is_doing and (mine.is_thing or theirs.is_thing):
            return quote([mine.text], [theirs.text])
    return ""


_BEFORE_A_THING = frozenset("a an the this that these those my your our its any some what".split())


class _Doing(NamedTuple):
    text: str
    is_doing: bool
    is_thing: bool


def _doings(facts: Facts) -> dict[str, _Doing]:
    """Words with their form: whether they end in -ing, and whether they stand where a noun does."""
    found: dict[str, _Doing] = {}
    before: Token | None = None
    for token in facts.tokens:
        if token.kind in ("word", "name"):
            is_thing = before is not None and (before.key in _BEFORE_A_THING)
            is_doing = token.text.lower().removesuffix("s").endswith("ing")
            found.setdefault(token.key, _Doing(token.text, is_doing, is_thing))
        before = before if token.kind == "tense" else token
    return found
