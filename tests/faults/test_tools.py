"""Tools and the choice among them are left out of the key, so tool calls are replayed unasked."""

from __future__ import annotations

from typing import Any

from semcache import SemanticCache
from tests.faults.calls import call, decorate, replies_to, user

PROMPT = "Find a ferry from Oban to Mull"
TOOLS = [{"type": "function", "function": {"name": "ferries", "parameters": {}}}]


def test_b028_four_tool_choices_are_four_entries(kind: str, apart: SemanticCache) -> None:
    """Must, may, must not, and one by name; plain and streaming."""
    named = {"type": "function", "function": {"name": "ferries"}}
    choices = [{"tools": TOOLS, "tool_choice": c} for c in ("auto", "required", "none", named)]

    answers = replies_to(kind, apart, PROMPT, *choices, *choices)

    assert answers == ["R1", "R2", "R3", "R4"] * 2


def test_b029_a_stored_tool_call_is_not_replayed_where_tools_are_forbidden(
    kind: str, apart: SemanticCache
) -> None:
    """Equal messages with `tool_choice=none` are a call of their own."""
    tool_call = {"id": "c1", "type": "function", "function": {"name": "ferries"}}
    message = {"role": "assistant", "content": None, "tool_calls": [tool_call]}
    answers: list[Any] = [
        {"choices": [{"finish_reason": "tool_calls", "message": message}]},
        {"choices": [{"finish_reason": "stop", "message": {"content": "At nine."}}]},
    ]
    ask = decorate(kind, apart, lambda _prompt, **_params: answers.pop(0))

    free = call(kind, ask, [user(PROMPT)], tool_choice="auto")
    forbidden = call(kind, ask, [user(PROMPT)], tool_choice="none")

    assert "tool_calls" in free["choices"][0]["message"]
    assert forbidden["choices"][0]["message"] == {"content": "At nine."}
