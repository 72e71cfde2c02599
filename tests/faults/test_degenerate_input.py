"""Empty and blank texts reach the embedder, fail there, or match everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from semcache import Hit, SemanticCache
from tests.fakes import Model, Same
from tests.faults.calls import call, decorate
from tests.faults.conftest import PATIENT

QUESTIONS = """How tall is a giraffe?
What is the capital of Peru?|Who wrote Dracula?|Define entropy.
How do I whistle?|Why is the sea salty?|Name three rivers in France.|What does a notary do?
How long do eggs boil?|Translate 'bread' into Welsh.|What is a prime number?|Explain offside.
How is glass made?|What do owls eat?|Why do leaves fall?|What is a mortgage?|How do I knit?
What is Ohm's law?|Who painted Guernica?|How do vaccines work?""".replace("\n", "|").split("|")
BLANKS = ["", "   ", "\n\t", "\u3000", "\u200b"]


class Watched(Same):
    """An embedder that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return super().embed(texts)


@pytest.mark.parametrize("text", BLANKS)
def test_b055_a_blank_text_is_not_embedded_and_matches_nothing(kind: str, text: str) -> None:
    """The user's function still runs."""
    embedder, model = Watched(), Model()
    with SemanticCache(embedder=embedder, guards=(), config=PATIENT) as cache:
        ask = decorate(kind, cache, model)
        call(kind, ask, QUESTIONS[0])
        cache.flush()
        embedder.asked.clear()

        answer = call(kind, ask, text)
        cache.flush()

    assert answer == "R2"
    assert embedder.asked == []


@pytest.mark.parametrize("text", BLANKS)
def test_b055_a_stored_blank_is_found_by_nothing_else(kind: str, text: str) -> None:
    """Neither by a question nor by another kind of blank that is not levelled to it."""
    with SemanticCache(embedder=Same(), guards=(), config=PATIENT) as cache:
        model = Model()
        ask = decorate(kind, cache, model)

        call(kind, ask, text)
        decision = ask.lookup(QUESTIONS[0])

    assert not isinstance(decision, Hit)


@pytest.mark.model
def test_b056_an_empty_text_is_near_nothing(real: SemanticCache) -> None:
    """Twenty unrelated prompts find no answer."""
    real.put("", "the answer to nothing")

    decisions = real.lookup_many(QUESTIONS)

    assert len(decisions) == 20
    assert not [decision for decision in decisions if isinstance(decision, Hit)]
