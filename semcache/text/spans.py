"""Which parts of a text are literal: code and quoted words, where every character counts.

Every function that levels text works on the parts between. Nothing here changes a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Piece", "pieces"]

# A single quote opens only where no letter or digit stands before it and closes only where none
# follows, so that apostrophes (don't, '90s) open nothing.
_LITERAL = re.compile(
    r"""
      ^[ ]{0,3}(?P<fence>```+|~~~+)[\s\S]*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)
    | (?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)
    | ^(?:[ ]{4}|\t)[^\n]*\S[^\n]*$
    | "[^"\n]+" | “[^”\n]+” | „[^“”\n]+[“”] | «[^»\n]+» | 「[^」\n]+」 | 『[^』\n]+』 | 《[^》\n]+》
    | ‘[^‘’\n]+’(?!\w)
    | (?<![\w'])'(?!\s)[^'\n]+(?<!\s)'(?!\w)
    """,
    re.VERBOSE | re.MULTILINE,
)
_MAY_OPEN = re.compile(r"[`~\"'“„«「『《‘]|(?m:^(?: {4}|\t))")


class Piece(NamedTuple):
    """A stretch of the text and whether it is literal (code or quoted)."""

    text: str
    is_literal: bool


def pieces(text: str) -> Iterator[Piece]:
    """Cut `text` into plain and literal pieces; joined, they give the text back.

    >>> [p.text for p in pieces('say "Hi there" now') if p.is_literal]
    ['"Hi there"']
    """
    if _MAY_OPEN.search(text) is None:
        yield Piece(text, False)
        return
    end = 0
    for match in _LITERAL.finditer(text):
        if match.start() > end:
            yield Piece(text[end : match.start()], False)
        yield Piece(match.group(), True)
        end = match.end()
    if end < len(text):
        yield Piece(text[end:], False)
