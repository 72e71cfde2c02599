"""Long fixed instructions outweigh the short part that changes, in vector and shingles alike."""

from __future__ import annotations

import pytest

from semcache import SemanticCache
from tests.faults.calls import replies

INSTRUCTION = (
    "You are a careful translator who works for a shipping company. Translate the line that "
    "follows the word TEXT from English into Dutch. Keep every number, every date and every name "
    "as it is. Do not add greetings, notes or explanations of any kind. Use the polite form of "
    "address throughout, and prefer the words that a harbour clerk would use over the words of a "
    "lawyer. If a word has two meanings, choose the one that fits freight, storage or customs. "
    "Keep the length close to that of the original, and keep its punctuation where Dutch allows "
    "it. Never leave out a sentence, and never merge two sentences into one. If the line is "
    "already in Dutch, give it back unchanged. Abbreviations stay abbreviations. Units stay units. "
    "Return the translation alone, on one line, with no quotation marks around it and with "
    "nothing before it or after it. This rule has no exceptions."
)
THINGS = (
    "invoice parcel crane ferry ticket customer driver harbour contract truck bridge letter "
    "machine kitchen garden meeting password"
).split()
STATES = ["due", "lost", "broken"]
TEXTS = [f"{INSTRUCTION}\n\nTEXT: The {thing} is {state}." for state in STATES for thing in THINGS]


@pytest.mark.parametrize("name", [pytest.param("real", marks=pytest.mark.model), "judged"])
def test_b013_fifty_lines_under_one_instruction_are_fifty_calls(
    name: str, request: pytest.FixtureRequest
) -> None:
    """The decision is made on the changing part, however long the rest."""
    cache: SemanticCache = request.getfixturevalue(name)

    answers = replies("plain", cache, *TEXTS)

    assert 140 <= len(INSTRUCTION.split()) <= 160
    assert answers == [f"R{number}" for number in range(1, 52)]


@pytest.mark.parametrize("name", [pytest.param("real", marks=pytest.mark.model), "judged"])
def test_b013_in_every_kind_of_function(
    kind: str, name: str, request: pytest.FixtureRequest
) -> None:
    """The first two of them, asked again."""
    cache: SemanticCache = request.getfixturevalue(name)

    assert replies(kind, cache, *TEXTS[:2], *TEXTS[:2]) == ["R1", "R2", "R1", "R2"]


def passage(subject: str, places: str, habits: str) -> str:
    """Give some 300 words on one subject."""
    sentences = [
        f"In the {place} the {subject} {habit}, and those who watch it for long enough learn why."
        for place in places.split()
        for habit in habits.split(", ")
    ]
    return " ".join(sentences)


BEES = passage(
    "bee", "meadow orchard hive", "gathers nectar, dances, guards its queen, stores wax, sleeps"
)
TIDES = passage("tide", "bay estuary strait", "rises, turns, carries sand, follows the moon, ebbs")


@pytest.mark.model
def test_b014_another_passage_is_summarised_anew(kind: str, real: SemanticCache) -> None:
    """The instruction alone never decides."""
    bees, tides = (f"Summarise this passage:\n{text}" for text in (BEES, TIDES))

    assert len(BEES.split()) > 250
    assert replies(kind, real, bees, tides, bees) == ["R1", "R2", "R1"]
