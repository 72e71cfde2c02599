"""Check of prompts about words: there a synonym, an inflection or a slip is another subject.

Returns the reason for a veto, "" if it has none.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from semcache.judge.guards_meaning import quote
from semcache.text.facts import Facts
from semcache.text.level import level_typography, strip_politeness
from semcache.text.mention import mention_words
from semcache.text.misspelling import meant
from semcache.text.normalize import normalize

__all__ = ["check_wording"]

_WORD = re.compile(r"[^\W_]+(?:['-]\w+)*")


def check_wording(query: Facts, candidate: Facts) -> str:
    """Two prompts about words say the same words; two about form are written alike."""
    if not query.about and not candidate.about:
        return ""
    if "form" in (query.about, candidate.about) or not (query.is_read and candidate.is_read):
        one, two = _plain(query.text), _plain(candidate.text)
        return "" if one == two else quote([one[-60:]], [two[-60:]])
    ours, theirs = Counter(_words(query)), Counter(_words(candidate))
    left, right = set(ours - theirs), set(theirs - ours)
    return "" if _is_frame(left, right, query.language) else quote(left, right)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """The text without courtesy; only its first letter and the mark at its end may differ."""
    plain = level_typography(strip_politeness(normalize(text)))
    return plain[:1].lower() + plain[1:].rstrip(" ?")


def _words(facts: Facts) -> list[str]:
    """The words as they stand; a slip of the pen only where a frame word was meant."""
    frame = mention_words(facts.language).frame
    if facts.language == "zh":
        named = (token for token in facts.content if token.kind in ("word", "name"))
        return [token.text for token in named if token.key not in frame]
    plain = level_typography(strip_politeness(normalize(facts.text)))
    words = (word.lower() for word in _WORD.findall(plain))
    return [meant(word) if meant(word) in frame else word for word in words]


def _is_frame(left: set[str], right: set[str], language: str) -> bool:
    """Whether what differs only asks in another way: "the meaning of X" for "what does X mean"."""
    frame = mention_words(language)
    both = left | right
    if both <= frame.frame and both & frame.asks:
        return True
    if not left or not right:
        return both <= frame.courtesy
    return both <= frame.frame and bool(left & frame.helpers and right & frame.helpers)
