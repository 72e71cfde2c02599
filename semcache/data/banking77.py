"""A sample of BANKING77: 2,000 real questions to a bank's support, each with one of 77 intents.

Casanueva et al., "Efficient Intent Detection with Dual Sentence Encoders", 2020 (PolyAI), CC BY
4.0; `banking77.LICENSE.txt` beside this file has the attribution and what was changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from semcache.errors import FileFormatError

__all__ = ["Question", "load"]

_FILE = "banking77.tsv"


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its label. Questions of one intent mostly have one right answer."""

    text: str
    intent: str


def load() -> list[Question]:
    """Read the sample from the package, in the order of the source: intent by intent.

    Raises FileFormatError, naming the line, when the installed file is damaged.

    >>> questions = load()
    >>> len(questions), len({question.intent for question in questions})
    (2000, 77)
    >>> questions[0].intent
    'card_arrival'
    """
    text = (files("semcache.data") / _FILE).read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> list[Question]:
    """Read a header line and lines of intent, tab, text.

    >>> parse("intent\\ttext\\ncard_arrival\\tWhere is my card?\\n")
    [Question(text='Where is my card?', intent='card_arrival')]
    """
    head, *lines = text.split("\n")
    if head != "intent\ttext":
        raise FileFormatError(f"{_FILE}, line 1: expected 'intent<tab>text', got {head[:40]!r}")
    return [_question(line, number) for number, line in enumerate(lines, start=2) if line]


def _question(line: str, number: int) -> Question:
    intent, _, text = line.partition("\t")
    if not intent or not text or "\t" in text:
        raise FileFormatError(
            f"{_FILE}, line {number}: expected an intent, a tab and a question, got {line[:40]!r}: "
            "install the package again"
        )
    return Question(text=text, intent=intent)
