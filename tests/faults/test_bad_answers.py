"""Errors, apologies and cut-off answers are stored and replayed as good ones.

Promise: an answer is stored if nothing in it says error and its end is known to be whole.
Room: `semcache/admit/response.py`, `semcache/admit/ending.py`, `semcache/admit/failure.py`
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from semcache import Admission, Miss, Refused, SemanticCache
from tests.fakes import Far, Same
from tests.faults.calls import KINDS, call, decorate
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


class Part(BaseModel):
    """A model's message as a framework wraps it."""

    type: str = "ai"
    content: str
    response_metadata: dict[str, Any] = {}


CUT: dict[str, Any] = {
    "langchain": Part(content="A", response_metadata={"finish_reason": "length"}),
    "langchain over anthropic": Part(content="A", response_metadata={"stop_reason": "max_tokens"}),
    "generations": {
        "generations": [[{"text": "A", "generation_info": {"finish_reason": "length"}}]]
    },
    "ollama": {"message": {"role": "assistant", "content": "A"}, "done": False},
    "vllm": chat("A", "abort"),
    "titan": {"results": [{"outputText": "A", "completionReason": "LENGTH"}]},
    "jurassic": {"completions": [{"data": {"text": "A"}, "finishReason": {"reason": "length"}}]},
    "text generation": {"generated_text": "A", "details": {"finish_reason": "length"}},
    "llama.cpp": {"content": "A", "stop_type": "limit"},
    "haystack": {"replies": ["A"], "meta": [{"finish_reason": "length"}]},
    "an item of a response": {"output": [{"type": "message", "status": "incomplete"}]},
    "one of two choices": {
        "choices": [*chat("A", "stop")["choices"], *chat("B", "length")["choices"]]
    },
    "a choice that never ended": {
        "choices": [{"message": {"content": "A"}, "finish_reason": None}]
    },
    "a message that never ended": {"role": "assistant", "content": "A", "stop_reason": None},
    "a reason that is new": chat("A", "thermal_shutdown"),
    "gemini": {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "OTHER"}]},
    "a body that nobody parsed": json.dumps(chat("A", "length")),
    "events that nobody parsed": "data: " + json.dumps({"choices": [{"delta": {"content": "A"}}]}),
}


@pytest.mark.parametrize("shape", CUT)
def test_an_answer_is_whole_only_if_it_says_so_in_words_that_are_known(
    far: SemanticCache, shape: str
) -> None:
    """Wherever a framework keeps the reason, and whatever the next provider will call it."""
    whole = chat("A kettle is a pot.", "stop")
    for kind in KINDS:
        ask = decorate(kind, far, in_turn(CUT[shape], whole))

        answers = [call(kind, ask, PROMPT) for _ in range(3)]

        assert answers == [CUT[shape], whole, whole]


FAILED: dict[str, Any] = {
    "one of a batch": [chat("A", "stop"), {"error": {"message": "overloaded"}}],
    "a tool server's": {"result": {"isError": True, "content": [{"type": "text", "text": "no"}]}},
    "a choice's own": {"choices": [{"message": {"content": "A"}, "error": {"code": 502}}]},
    "vllm": {"object": "error", "message": "boom", "code": 400},
    "lambda": {"errorType": "Timeout", "errorMessage": "Task timed out"},
    "aws": {"__type": "ThrottlingException", "message": "Rate exceeded"},
    "baidu": {"error_code": 17, "error_msg": "daily limit reached"},
    "an enum for a status": {"status": HTTPStatus.BAD_GATEWAY, "body": "x"},
    "a body that nobody parsed": '{"error": {"message": "overloaded", "type": "server_error"}}',
    "bytes that nobody parsed": b'{"type": "error", "error": {"type": "overloaded_error"}}',
    "a gateway's page": "<html>\n<head><title>502 Bad Gateway</title></head></html>",
}


@pytest.mark.parametrize("shape", FAILED)
def test_a_failure_inside_an_envelope_or_a_text_is_a_failure(
    far: SemanticCache, shape: str
) -> None:
    """Nested in a batch, in a choice, in a tool's result, or still a body of JSON."""
    for kind in KINDS:
        ask = decorate(kind, far, in_turn(FAILED[shape], "answer"))

        answers = [call(kind, ask, PROMPT) for _ in range(3)]

        assert answers == [FAILED[shape], "answer", "answer"]


EMPTY: dict[str, Any] = {
    "a framework's message": Part(content=""),
    "fields without a word": {"answer": "", "sources": []},
    "a flag beside no text": Result(text=""),
    "a list of nothing": [None, "", []],
    "marks that draw nothing": "\u3164\u2028\x00\u200b",
    "a stop and nothing before it": {"content": [], "stop_reason": "end_turn", "role": "assistant"},
}


@pytest.mark.parametrize("shape", EMPTY)
def test_nothing_in_a_wrapping_is_nothing(far: SemanticCache, shape: str) -> None:
    """An empty answer does not become one by the fields around it."""
    for kind in KINDS:
        ask = decorate(kind, far, in_turn(EMPTY[shape], "answer"))

        answers = [call(kind, ask, PROMPT) for _ in range(3)]

        assert answers == [EMPTY[shape], "answer", "answer"]


GOOD: dict[str, Any] = {
    "a stop text beside the reason": {
        "choices": [{**chat("A", "stop")["choices"][0], "stop_reason": "###"}]
    },
    "data of one's own": {"stop_reason": "battery low", "cycles": 3},
    "a message that is text": {"message": "Call Ann", "code": "A7"},
    "a verdict in JSON": '{"verdict": "error", "line": 3}',
    "a measure of error": {"mean": 3.2, "error": 0.05},
    "a task": {"text": "Buy milk", "done": False},
    "rows with a status": {"results": [{"job": 1, "status": "failed"}]},
    "an array": np.array(3.5),
    "a sound": {"audio": np.array([0.1, 0.2]), "error": None},
    "links that were checked": {"links": [{"url": "a", "status": 404}]},
    "a call of a tool": {
        "choices": [
            {
                "message": {"content": None, "tool_calls": [{"id": "c1"}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
    "a camel's reason": {"text": "A", "finishReason": "endTurn"},
    "a page that was asked for": "<html><head><title>Shop</title></head></html>",
}


@pytest.mark.parametrize("shape", GOOD)
def test_an_answer_that_only_mentions_failure_is_stored(far: SemanticCache, shape: str) -> None:
    """A check that refuses what is good costs every later call."""
    for kind in KINDS:
        ask = decorate(kind, far, in_turn(GOOD[shape], "never asked"))

        answers = [call(kind, ask, PROMPT) for _ in range(2)]

        assert [repr(answer) for answer in answers] == [repr(GOOD[shape])] * 2


def test_a_bad_answer_is_not_passed_to_near_duplicates_or_later_processes(
    kind: str, tmp_path: Path
) -> None:
    """Nor by `put`, whatever its tier or the process that asks."""
    for _opening in range(2):
        with SemanticCache(tmp_path / "c", embedder=Same(), guards=(), config=PATIENT) as cache:
            ask = decorate(kind, cache, lambda _prompt: chat("A kettle", "length"), shared=True)
            refused = ask.put([chat("A kettle", "length")], PROMPT)

            call(kind, ask, PROMPT)

            assert isinstance(refused, Refused)
            assert isinstance(ask.lookup(PROMPT.upper()), Miss)
            assert len(cache) == 0
