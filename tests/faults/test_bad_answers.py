"""Errors, apologies and cut-off answers are stored and replayed as good ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from semcache import Admission, SemanticCache
from tests.fakes import Far
from tests.faults.calls import call, decorate
from tests.faults.conftest import PATIENT

PROMPT = "Explain how a kettle works"


def in_turn(*answers: Any) -> Any:
    """Give a body that returns, or raises, one answer after the other."""
    waiting = list(answers)

    def body(_prompt: str) -> Any:
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return body


def chat(text: str, finish_reason: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


def test_b070_an_outage_that_raises_is_not_remembered(kind: str, far: SemanticCache) -> None:
    """Its caller gets the error, the next call runs."""
    ask = decorate(kind, far, in_turn(RuntimeError("503"), "answer"))

    with pytest.raises(RuntimeError, match="503"):
        call(kind, ask, PROMPT)

    assert [call(kind, ask, PROMPT), call(kind, ask, PROMPT)] == ["answer", "answer"]


@pytest.mark.parametrize(
    "outage", [{"status": 503}, {"status_code": 500}, {"error": {"message": "overloaded"}}]
)
def test_b070_an_outage_that_is_returned_is_not_remembered(
    kind: str, far: SemanticCache, outage: dict[str, Any]
) -> None:
    """A status is an error whether or not it is raised."""
    ask = decorate(kind, far, in_turn(outage, "answer"))

    answers = [call(kind, ask, PROMPT) for _ in range(3)]

    assert answers == [outage, "answer", "answer"]


def test_b071_cache_if_rejects_an_apology(kind: str, far: SemanticCache) -> None:
    """Its caller gets it, no near-duplicate does."""
    sorry = "Sorry, something went wrong."
    ask = decorate(
        kind, far, in_turn(sorry, "answer"), cache_if=lambda value: "Sorry" not in str(value)
    )

    answers = [call(kind, ask, text) for text in (PROMPT, PROMPT.lower() + "?", PROMPT)]

    assert answers == [sorry, "answer", "answer"]


@pytest.mark.parametrize("empty", ["", "  ", None, [], {}, chat("", "stop")])
def test_b071_empty_results_are_refused_by_default(
    kind: str, far: SemanticCache, empty: Any
) -> None:
    """Nothing is not an answer."""
    ask = decorate(kind, far, in_turn(empty, "answer"))

    assert [call(kind, ask, PROMPT) for _ in range(2)] == [empty, "answer"]


@pytest.mark.parametrize(
    "cut",
    [
        chat("A kettle is", "length"),
        {"content": [{"type": "text", "text": "A kettle is"}], "stop_reason": "max_tokens"},
        {"status": "incomplete", "output_text": "A kettle is"},
    ],
)
def test_b073_an_answer_cut_at_the_token_limit_is_not_stored(
    kind: str, far: SemanticCache, cut: dict[str, Any]
) -> None:
    """The next call gets the chance of a full one."""
    full = chat("A kettle is a pot.", "stop")
    ask = decorate(kind, far, in_turn(cut, full))

    assert [call(kind, ask, PROMPT) for _ in range(3)] == [cut, full, full]


@dataclass
class Result:
    """What a tool server gives back."""

    text: str
    is_error: bool = False


def test_b074_a_result_flagged_as_an_error_is_not_stored(kind: str, far: SemanticCache) -> None:
    """It does not raise, and is an error all the same."""
    bad, good = Result("no such file", is_error=True), Result("42 lines")
    ask = decorate(kind, far, in_turn(bad, good))

    assert [call(kind, ask, PROMPT) for _ in range(3)] == [bad, good, good]


def test_b074_the_check_can_be_extended(kind: str) -> None:
    """Shapes of one's own are errors too."""
    bad, good = {"outcome": "E17"}, {"outcome": "fine"}
    admission = Admission(is_error=lambda part: isinstance(part, dict) and part == bad)
    with SemanticCache(embedder=Far(), admission=admission, config=PATIENT) as cache:
        ask = decorate(kind, cache, in_turn(bad, good))

        answers = [call(kind, ask, PROMPT) for _ in range(3)]

    assert answers == [bad, good, good]
