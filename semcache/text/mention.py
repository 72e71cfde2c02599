"""Whether a prompt is about words or their form, so that the words themselves are its subject.

"What does big mean?" is not "What does large mean?", and a text to be proofread is not its mended
copy. Decides only what a prompt is about; the patterns of each language stand in `rules/`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from semcache.text.facts_rules import rules_of

__all__ = ["About", "Mention", "about", "mention_words"]

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
    rows = _rows(language)
    return _compiled(rows.get("about_words", "")), _compiled(rows.get("about_form", ""))


def _compiled(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern, re.IGNORECASE) if pattern else None


@dataclass(frozen=True, slots=True)
class Mention:
    """Words with which a language asks about words: not what is asked about."""

    frame: frozenset[str]
    asks: frozenset[str]
    helpers: frozenset[str]
    courtesy: frozenset[str]


_TABLES = {"en": "english", "zh": "chinese"}


def _rows(language: str) -> dict[str, str]:
    if language in _TABLES:
        rows: dict[str, str] = rules_of(_TABLES[language])["mention"]
        return rows
    return dict(rules_of("other").get(language, {}))


@cache
def mention_words(language: str) -> Mention:
    """The frame words of questions about words; empty for languages read in part."""
    rows = _rows(language)
    names = ("frame", "asks", "helpers", "courtesy")
    return Mention(*(frozenset(rows.get(name, "").split()) for name in names))
