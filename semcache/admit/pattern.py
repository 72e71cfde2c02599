"""Compiles patterns late and searches with them cheaply.

Hundreds of patterns meet every prompt and nearly all fail, so a search first asks whether the text
that a pattern opens with is there at all: a substring test costs a twentieth of a failing search.
Nothing here knows what a pattern means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

__all__ = ["Searches", "compiled", "finder", "openings_of"]

# Two letters or more (one in Chinese), none of them made optional by what follows.
_LITERAL = re.compile(
    r"[a-z\u4e00-\u9fff' ]+[a-z\u4e00-\u9fff' ](?![?*{])|[\u4e00-\u9fff](?![?*{])"
)


@lru_cache(maxsize=8192)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern, remembered by its text."""
    return re.compile(pattern)


@lru_cache(maxsize=8192)
def finder(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Return a search for `pattern` that first asks whether what it opens with is there at all."""
    search = compiled(pattern).search
    openings = openings_of(pattern)
    if not openings:
        return search

    def find(text: str) -> re.Match[str] | None:
        for opening in openings:
            if opening in text:
                return search(text)
        return None

    return find


def openings_of(pattern: str) -> tuple[str, ...]:
    r"""Return texts of which one must be there for `pattern` to match; () where it is not clear.

    >>> openings_of(r"\bhow (?:old|far)"), openings_of("^(?:is|are) it")
    (('how ',), ('is', 'are'))
    >>> openings_of("(?:the )?sky")
    ()
    """
    body = re.sub(r"^(?:\^|\\b)", "", pattern)
    if len(_branches(body)) > 1:
        return ()
    if not body.startswith("(?:"):
        return _literals([body])
    inner = _branches(body[3:], nested=True)
    rest = body[3 + sum(map(len, inner)) + len(inner) :]
    return () if rest[:1] in ("?", "*", "{") or len(inner) > 12 else _literals(inner)


def _literals(starts: Sequence[str]) -> tuple[str, ...]:
    found = [_LITERAL.match(start) for start in starts]
    return tuple(match[0] for match in found if match) if all(found) else ()


def _branches(body: str, nested: bool = False) -> list[str]:
    """Cut `body` at the bars outside its groups; `nested`: up to the end of the group it is in."""
    parts, depth, start, skip = [], 0, 0, False
    in_class = False
    for at, letter in enumerate(body):
        if skip or letter == "\\":
            skip = not skip
        elif in_class or letter == "[":
            in_class = letter != "]"
        elif letter == "|" and depth == 0:
            parts.append(body[start:at])
            start = at + 1
        elif letter in "()":
            depth += 1 if letter == "(" else -1
            if nested and depth < 0:
                return [*parts, body[start:at]]
    return [*parts, body[start:]]


class Searches:
    """The patterns of one rule or frame, compiled when first needed."""

    __slots__ = ("_finders", "_patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns
        self._finders: list[Callable[[str], re.Match[str] | None]] | None = None

    def __call__(self, text: str) -> re.Match[str] | None:
        """Return the match of the first pattern that is found in `text`."""
        if self._finders is None:
            self._finders = [finder(pattern) for pattern in self._patterns]
        for find in self._finders:
            if (found := find(text)) is not None:
                return found
        return None
