"""Checks of who and what is pointed at: I, you, this.

Each check returns the reason for a veto, "" if it has none.
"""

from __future__ import annotations

from itertools import pairwise

from semcache.judge.guards_meaning import both_read, quote
from semcache.text.facts import Facts

__all__ = ["check_persons", "check_reference"]


def check_persons(query: Facts, candidate: Facts) -> str:
    """About me against about you."""
    one, two = query.persons, candidate.persons
    if one == two or not both_read(query, candidate):
        return ""
    reason = quote(sorted(one) or ["nobody"], sorted(two) or ["nobody"])
    if one and two:
        return "" if _is_generic(query) and _is_generic(candidate) else reason
    is_you = "you" in one | two and not (_is_generic(query) or _is_generic(candidate))
    return reason if is_you else ""


_THIS = frozenset(("this", "these"))


def check_reference(query: Facts, candidate: Facts) -> str:
    """ "This problem" against "a problem": one of them stands elsewhere."""
    one, two = _points(query), _points(candidate)
    if one == two or not both_read(query, candidate) or _points_alike(query, candidate):
        return ""
    return quote(one or ["no this"], two or ["no this"])


def _points(facts: Facts) -> list[str]:
    if facts.language == "zh":
        return ["这"] if "这" in facts.text else []
    return ["this"] if any(token.key in _THIS for token in facts.tokens) else []


_KNOWN = frozenset(("the", "it", "that", "those"))
_TIMES = frozenset(
    "time moment morning afternoon evening week weekend month quarter year decade century season "
    "spring summer autumn winter".split()
)


def _points_alike(query: Facts, candidate: Facts) -> bool:
    """ "This app" is "the app", "will this take" is "will it take"; not so "this year"."""
    pointing, other = (query, candidate) if _points(query) else (candidate, query)
    if query.language != "en" or candidate.language != "en":
        return False
    known = {b for a, b in pairwise(other.words) if a in _KNOWN} - _TIMES
    words = [b for a, b in pairwise((*pointing.words, "")) if a in _THIS]
    return all(word in known for word in words)


def _is_generic(facts: Facts) -> bool:
    """ "How do you know if you are ill", "Can you freeze rice": anybody."""
    return any(
        token.kind == "modal" or token.key in ("how", "what to do") for token in facts.tokens
    )
