"""Admission: what may be stored, over the result shapes of the common providers."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from semcache.admit.response import Admission, answer_text, has_tool_calls, is_refusal


@dataclass
class Message:
    content: str | None = "Hello"
    tool_calls: list[Any] | None = None


@dataclass
class Choice:
    message: Message = field(default_factory=Message)
    finish_reason: str = "stop"


@dataclass
class Completion:
    choices: list[Choice] = field(default_factory=lambda: [Choice()])


def chat(content: str | None = "Hello", finish_reason: str | None = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


WHOLE = [
    chat(),
    Completion(),
    {"stop_reason": "end_turn", "content": [{"type": "text", "text": "Hello"}]},
    {"status": "completed", "error": None, "output": [{"content": [{"text": "Hello"}]}]},
    {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]},
    {"output": {"message": {"content": [{"text": "Hello"}]}}, "stopReason": "end_turn"},
    {"message": {"content": "Hello"}, "done_reason": "stop"},
    "Hello",
]


@pytest.mark.parametrize("value", WHOLE, ids=str)
def test_a_whole_answer_is_stored_and_read(value: object) -> None:
    """Every common shape is admitted, and its text is found."""
    assert Admission().check(value) is None
    assert answer_text(value) == "Hello"


CUT = [
    chat("Hel", "length"),
    Completion([Choice(finish_reason="length")]),
    {"stop_reason": "max_tokens", "content": [{"type": "text", "text": "Hel"}]},
    {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []},
    {"candidates": [{"content": {"parts": [{"text": "Hel"}]}, "finishReason": "MAX_TOKENS"}]},
    {"output": {"message": {"content": [{"text": "Hel"}]}}, "stopReason": "max_tokens"},
    {"message": {"content": "Hel"}, "done_reason": "length"},
    chat("", "content_filter"),
    {"candidates": [{"content": {"parts": [{"text": "H"}]}, "finishReason": "SAFETY"}]},
    {"promptFeedback": {"blockReason": "SAFETY"}},
    {
        "choices": [
            {"message": {"content": "a"}, "finish_reason": "stop"},
            *chat("b", "length")["choices"],
        ]
    },
]


@pytest.mark.parametrize("value", CUT, ids=str)
def test_a_cut_off_answer_is_not_stored(value: object) -> None:
    """Cut at a limit, stopped by a filter or incomplete: the caller gets it, the store does not."""
    assert Admission(store_empty=True).check(value) is not None


FAILED = [
    {"is_error": True, "content": [{"type": "text", "text": "no such tool"}]},
    {"isError": True},
    SimpleNamespace(is_error=True, text="oops"),
    {"error": {"message": "overloaded"}},
    {"error": "rate limit"},
    {"status": 503},
    {"status_code": 429, "body": "slow down"},
    SimpleNamespace(status_code=500),
    {"status": "error", "detail": "x"},
    {"success": False, "message": "no"},
    {"ok": False, "error": "no"},
    {"type": "error", "error": {"type": "overloaded_error"}},
]


@pytest.mark.parametrize("value", FAILED, ids=str)
def test_a_result_flagged_as_an_error_is_not_stored(value: object) -> None:
    """A result may carry its failure instead of raising it."""
    assert Admission().check(value) is not None


@pytest.mark.parametrize(
    "value",
    [
        {"status": 200, "body": "x"},
        {"error": None, "text": "x"},
        {"is_error": False},
        {"ok": True},
        {"status": "open"},
        {"code": 500},
        {"ok": False},
        {"errors": ["typo in line 2"]},
        503,
        "error",
    ],
    ids=str,
)
def test_what_only_looks_like_an_error_is_stored(value: object) -> None:
    """A number, a word or a field of the caller's own is no error flag."""
    assert Admission().check(value) is None


@pytest.mark.parametrize(
    "value",
    [None, "", "  \n", "\u3000\u200b", [], {}, (), b"", chat(""), chat(None), [""]],
    ids=repr,
)
def test_empty_answers_are_stored_only_when_asked(value: object) -> None:
    """Nothing is not an answer, unless the caller says that it is."""
    assert Admission().check(value) == "the answer is empty"
    assert Admission(store_empty=True).check(value) is None


@pytest.mark.parametrize("value", [0, False, 0.0, [0], {"total": 0}, object()])
def test_other_falsy_values_are_answers(value: object) -> None:
    """Zero and False say something."""
    assert Admission().check(value) is None


def test_a_tool_call_without_text_is_not_empty() -> None:
    """A call of a tool is an answer, and it is known as one."""
    call = chat(None, "tool_calls")
    call["choices"][0]["message"]["tool_calls"] = [{"id": "c1", "function": {"name": "f"}}]

    assert Admission().check(call) is None
    assert has_tool_calls(call)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"content": [{"type": "tool_use", "name": "f", "input": {}}]}, True),
        ({"output": [{"type": "function_call", "name": "f"}]}, True),
        ({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]}, True),
        ({"output": {"message": {"content": [{"toolUse": {"name": "f"}}]}}}, True),
        ([{"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}], True),
        (Completion([Choice(Message(None, [{"id": "c"}]))]), True),
        (chat(), False),
        ({"choices": [{"message": {"content": "x", "tool_calls": []}}]}, False),
        ("please call the tool", False),
        (None, False),
    ],
    ids=str,
)
def test_tool_calls_are_known_in_every_shape(value: object, expected: bool) -> None:
    """Such answers go by the exact tier only."""
    assert has_tool_calls(value) is expected


def delta(text: str, finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish_reason}]}


def test_a_stream_without_a_finish_reason_is_not_stored() -> None:
    """Chunks of the chat shape end with a reason; an end marker alone will not do."""
    open_end = [delta("Hel"), delta("lo")]
    closed = [*open_end, delta("", "stop")]
    cut = [*open_end, delta("", "length")]

    verdicts = [Admission().check(chunks, chunks) for chunks in (open_end, closed, cut)]

    assert verdicts[0] == "no chunk of the stream carries a finish reason"
    assert verdicts[1] is None
    assert verdicts[2] == "cut off at the length limit (length)"


@pytest.mark.parametrize(
    ("last", "is_stored"),
    [
        ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, True),
        ({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}, False),
        ({"type": "message_stop"}, False),
        ({"type": "response.completed", "response": {"status": "completed"}}, True),
        ({"messageStop": {"stopReason": "end_turn"}}, True),
    ],
    ids=str,
)
def test_streams_of_other_providers_end_in_their_own_way(last: object, is_stored: bool) -> None:
    """An event stream is whole when one event says how it ended."""
    first = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hello"}}

    assert (Admission().check([first, last], [first, last]) is None) is is_stored


def test_a_stream_of_plain_texts_needs_no_finish_reason() -> None:
    """Only the chat shape promises one."""
    assert Admission().check("Hello", ["Hel", "lo"]) is None
    assert Admission().check("", [""]) == "the answer is empty"


def test_is_complete_decides_about_streams() -> None:
    """A hook of the caller's own replaces the finish reason."""
    admission = Admission(is_complete=lambda chunks: chunks[-1] == "END")

    assert admission.check("ab", ["a", "b"]) == "the stream is not complete"
    assert admission.check("aEND", ["a", "END"]) is None


REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, I cannot assist with that request.",
    "I cannot provide instructions for this.",
    "As an AI language model, I am unable to give legal advice.",
    "很抱歉，我无法回答这个问题。",
    "我不能提供此类信息。",
    "作为一个人工智能语言模型，我无法满足这个请求。",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_kept_out_when_asked(text: str) -> None:
    """Off by default, since a refusal may be the right answer."""
    assert Admission().check(text) is None
    assert Admission(refuse_refusals=True).check(text) == "the answer is a refusal"
    assert Admission(refuse_refusals=True).check(chat(text)) == "the answer is a refusal"


@pytest.mark.parametrize(
    "text",
    [
        "You can apologise with: thank you for your patience.",
        "Sorry is the hardest word, a song of 1976.",
        "Penguins cannot fly.",
        "企鹅不能飞。",
        "对不起用英语说是 sorry。",
    ],
)
def test_an_answer_about_refusing_is_no_refusal(text: str) -> None:
    """Only a refusal in the first person counts."""
    assert not is_refusal(text)


def test_cache_if_rejects_apologies_and_never_breaks_the_call() -> None:
    """A check that says no, or that fails itself, keeps the answer out and says why."""

    def explode(value: object) -> bool:
        raise KeyError("lang")

    polite = Admission(cache_if=lambda value: "something went wrong" not in str(value))

    assert polite.check("Sorry, something went wrong.") == "cache_if said no"
    assert polite.check("Lima") is None
    assert Admission(cache_if=explode).check("Lima") == "cache_if raised KeyError: 'lang'"


def test_error_shapes_can_be_added() -> None:
    """The caller's own shape of failure is asked first, for every chunk of a stream."""
    admission = Admission(is_error=lambda value: "panic" if value == "!!" else None)

    assert admission.check("!!") == "flagged as an error: panic"
    assert admission.check("a!!", ["a", "!!"]) == "flagged as an error: panic"
    assert admission.check("fine") is None


def test_a_field_that_raises_does_not_break_the_check() -> None:
    """Objects of other libraries may raise from a property."""

    class Grumpy:
        @property
        def text(self) -> str:
            raise ValueError("no candidates")

    assert Admission().check(Grumpy()) is None
    assert answer_text(Grumpy()) == ""
