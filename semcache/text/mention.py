"""Whether a prompt is about words or their form, so that the words themselves are its subject.

"What does big mean?" is not "What does large mean?", and a text to be proofread is not its mended
copy. Decides only what a prompt is about; the patterns of each language stand in `rules/`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from semcache.text.facts_rules import about_patterns

__all__ = ["About", "about"]

About = Literal["", "words", "form"]
"""What a prompt is about: its matter, certain words, or how something is written."""


def about(text: str, language: str) -> About:
    """Say what a prompt is about. Of an unknown language it is read as English.

    >>> about("What does big mean?", "en"), about("Proofread this: he go home", "en")
    ('words', 'form')
    >>> about("How big is a whale?", "en")
    ''
    """
    words, form = _patterns(language or "en")
    if form is not None and form.search(text):
        return "form"
    return "words" if words is not None and words.search(text) else ""


@cache
def _patterns(language: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    words, form = about_patterns(language)
    return _compiled(words), _compiled(form)


def _compiled(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern, re.IGNORECASE) if pattern else None
