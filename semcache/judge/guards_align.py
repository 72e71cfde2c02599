"""Align the content of two prompts: what is left over on either side, and the order of the rest.

It counts and pairs places; what explains a leftover is decided in `guards_explain`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from semcache.text.facts import Facts
from semcache.text.facts_tokens import Token

__all__ = ["Difference", "Pair", "Placed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A content token that both sides have, with its place in `Facts.content` of its side."""

    key: str
    marker: str
    is_head: bool
    place: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Tokens only the query has, tokens only the candidate has, and what both have, in order."""

    left: tuple[Token, ...]
    right: tuple[Token, ...]
    query: tuple[Placed, ...]
    candidate: tuple[Placed, ...]


class Pair:
    """The alignment while it is worked out: left and right are places not yet explained."""

    def __init__(self, query: Facts, candidate: Facts) -> None:
        self.query, self.candidate = query, candidate
        self.keys = [token.key for token in query.content]
        self.other_keys = [token.key for token in candidate.content]
        self.left = _surplus(self.keys, self.other_keys)
        self.right = _surplus(self.other_keys, self.keys)
        self.dropped: set[int] = set()
        self.other_dropped: set[int] = set()

    def sides(self) -> tuple[tuple[Facts, list[int], Facts, list[int]], ...]:
        """Both ways to look at the pair: own text, own places, other text, other places."""
        return (
            (self.query, self.left, self.candidate, self.right),
            (self.candidate, self.right, self.query, self.left),
        )

    def match(self, own: list[int], place: int, other: list[int], places: list[int]) -> None:
        """Explain `place` of one side by `places` of the other."""
        own.remove(place)
        for gone in places:
            other.remove(gone)
        is_left = own is self.left
        keys = self.keys if is_left else self.other_keys
        other_keys = self.other_keys if is_left else self.keys
        if places:
            other_keys[places[0]] = keys[place]
            (self.other_dropped if is_left else self.dropped).update(places[1:])
        else:
            self.drop(own, place)

    def drop(self, own: list[int], place: int) -> None:
        """Explain `place` of one side by nothing on the other."""
        if place in own:
            own.remove(place)
        (self.dropped if own is self.left else self.other_dropped).add(place)

    def result(self) -> Difference:
        """The alignment as it stands."""
        left, right = set(self.left), set(self.right)
        return Difference(
            tuple(self.query.content[place] for place in self.left),
            tuple(self.candidate.content[place] for place in self.right),
            _placed(self.query, self.keys, left | self.dropped),
            _placed(self.candidate, self.other_keys, right | self.other_dropped),
        )


def _placed(facts: Facts, keys: list[str], gone: set[int]) -> tuple[Placed, ...]:
    return tuple(
        Placed(keys[place], token.marker, token.is_head, place)
        for place, token in enumerate(facts.content)
        if place not in gone
    )


def _surplus(keys: list[str], others: list[str]) -> list[int]:
    if keys == others:
        return []
    room = Counter(others)
    places: list[int] = []
    for place, key in enumerate(keys):
        if room[key] > 0:
            room[key] -= 1
        else:
            places.append(place)
    return places
