"""The part of a text that is embedded, unless `core=` says otherwise.

It only helps a candidate to be found: guards read both texts as they were written.
"""

from __future__ import annotations

from semcache.text.level import level_for_embedding, strip_politeness
from semcache.text.misspelling import correct

__all__ = ["default_core"]


def default_core(text: str) -> str:
    """Return a text without politeness, decoration and plain slips of the pen.

    >>> default_core("Hi! Could you please tell me what the captial of Peru is? Thanks!")
    'what is the capital of Peru?'
    """
    return correct(level_for_embedding(strip_politeness(text)))
