"""Empty, blank and tiny texts reach the embedder, fail there, or match everything.

Promise: what says nothing is never embedded and matches nothing; what is too long to read whole is
compared with nothing.
Room: `semcache/request.py`, `semcache/embed/batching.py`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from semcache import Hit, Miss, Reason, SemanticCache
from tests.fakes import Far, Model, Same
from tests.faults.calls import call, decide, decorate, replies, user
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


WORDLESS = ["?", "...", "!!!", "—", "。", "()", '""', "<>", "\u0301", "👍🏽", "\ufffd", "\ue000"]


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_a_letter_or_digit_has_no_meaning_to_compare(kind: str, text: str) -> None:
    """Whatever vector a model gives it, all such texts lie near one another."""
    embedder = Watched()
    with SemanticCache(embedder=embedder, guards=(), config=PATIENT) as cache:
        replies(kind, cache, *QUESTIONS[:2])
        cache.flush()
        embedder.asked.clear()

        answers = replies(kind, cache, text, text)
        others = [cache.lookup(other) for other in WORDLESS if other.strip("。") != text.strip(".")]
        cache.flush()

    assert answers == ["R1", "R1"]
    assert not [decision for decision in others if isinstance(decision, Hit) and decision.score < 1]
    assert embedder.asked == []


@pytest.mark.parametrize("text", ["a", "7", "好", "π", "א", "ไ"])
def test_one_letter_is_a_text(kind: str, far: SemanticCache, text: str) -> None:
    """It has an answer of its own, and no other letter has it."""
    answers = replies(kind, far, text, "b", text, dynamic=False)

    assert answers == ["R1", "R2", "R1"]


class Strict(Watched):
    """An embedder behind a wire: what is no Unicode text fails, as it does with most."""

    def embed(self, texts: Sequence[str]) -> Any:
        for text in texts:
            text.encode()
        return super().embed(texts)


def test_half_a_character_does_not_reach_the_embedder_nor_close_it_to_others() -> None:
    """Ten such prompts in a row count as no failure: the next caller's paraphrase is served."""
    with SemanticCache(embedder=Strict(), guards=(), config=PATIENT) as cache:
        cache.put("Describe a green tent", "A")
        broken = [cache.lookup(f"Describe the \ud83d number {n}") for n in range(10)]

        decision = cache.lookup("Explain how a kettle works")

    assert all(isinstance(d, Miss) and d.reason is Reason.UNREADABLE for d in broken)
    assert isinstance(decision, Hit)


TURNS: list[list[dict[str, Any]]] = [
    [user("Weather in Oban?"), {"role": "tool", "tool_call_id": "c1", "content": ""}],
    [user("Ferry to Mull?"), {"role": "tool", "tool_call_id": "c1", "content": ""}],
    [user([{"type": "tool_result", "tool_use_id": "t1", "content": ""}])],
    [user([{"type": "tool_result", "tool_use_id": "t1", "content": []}])],
    [user("Weather in Oban?"), user("")],
    [user("Ferry to Mull?"), user("")],
    [user([{"type": "text", "text": " "}, {"type": "image_url", "image_url": {"url": "a"}}])],
    [user([{"type": "text", "text": " "}, {"type": "image_url", "image_url": {"url": "b"}}])],
    [{"role": "user", "parts": [{"function_response": {"name": "f", "response": {}}}]}],
    [{"role": "user", "parts": [{"function_response": {"name": "g", "response": {}}}]}],
    [user([])],
    [user(None)],
]


def test_turns_without_a_text_of_their_own_never_share_an_answer(
    kind: str, same: SemanticCache
) -> None:
    """Agents send mostly such turns: tool results, pictures, nothing at all."""
    answers = replies(kind, same, *TURNS, *TURNS, dynamic=False)

    assert len(set(answers)) == len(TURNS)
    assert answers[: len(TURNS)] == answers[len(TURNS) :]


def nothing(text: str) -> str:
    """What a careless `core` leaves of any text."""
    return " \u200b"


def test_a_core_that_leaves_nothing_makes_nothing_near(kind: str) -> None:
    """All texts would have the vector of the blank."""
    embedder = Watched()
    with SemanticCache(embedder=embedder, guards=(), core=nothing, config=PATIENT) as cache:
        answers = replies(kind, cache, *QUESTIONS[:3], QUESTIONS[0])
        cache.flush()

    assert answers == ["R1", "R2", "R3", "R1"]
    assert embedder.asked == []


@pytest.mark.parametrize("length", [20_001, 1_000_000])
def test_a_text_too_long_to_be_read_whole_is_compared_with_nothing(kind: str, length: int) -> None:
    """Exactly equal it is served; one mark apart it is not, and the decision says why."""
    embedder = Watched()
    text = ("The harbour has a crane and a ferry. " * (length // 36))[: length - 1]
    with SemanticCache(embedder=embedder, guards=(), config=PATIENT) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)
        answers = [call(kind, ask, text + "."), call(kind, ask, text + ".")]

        decision = decide(kind, ask, text + "!")
        cache.flush()

    assert answers == ["R1", "R1"]
    assert isinstance(decision, Miss)
    assert decision.reason is Reason.TOO_LONG
    assert decision.steps[-1].reason == Reason.TOO_LONG.value
    assert embedder.asked == []


def test_the_longest_text_that_is_compared_is_read_to_its_last_word(kind: str) -> None:
    """A slip of the pen in its last word is forgiven, another last word is not; no guard helps."""
    opening = "the harbour has a crane and a ferry, " * 540
    texts = [opening + last for last in ("tomorrow", "tomorow", "yesterday")]

    assert 19_000 < len(texts[0]) < 20_000
    with SemanticCache(embedder=Far(), guards=(), config=PATIENT) as cache:
        assert replies(kind, cache, *texts, dynamic=False) == ["R1", "R1", "R2"]


@pytest.mark.model
def test_tiny_texts_are_near_no_other(real: SemanticCache) -> None:
    """Each of them, asked of all the others' answers, under the default guards."""
    tiny = ["Hi", "OK", "Yes", "No", "Stop", "Go", "x", "5", "50", "?", "!", "hm", "Help", "Paris"]

    for text in tiny:
        for number, other in enumerate(tiny):
            real.put(other, other, scope=(text, number), dynamic=False)
        found = [real.lookup(text, scope=(text, n), dynamic=False) for n in range(len(tiny))]

        hits = [decision.value for decision in found if isinstance(decision, Hit)]
        assert hits == [text]
