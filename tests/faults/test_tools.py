"""Tools and the choice among them are left out of the key, so tool calls are replayed unasked.

Promise: tools count in full and in order: schemas by content, functions by what they offer
Room: `semcache/canonical_objects.py`, `semcache/request.py`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from semcache import SemanticCache
from tests.fakes import Model
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


def function(source: str, name: str = "ferries") -> Any:
    """Give the function of this name from a version of a program's source."""
    program: dict[str, Any] = {"__name__": "harbour"}
    exec(source, program)
    return program[name]


OLD = 'def ferries(port):\n    "List ferries of today."\n    return port'


@pytest.mark.parametrize(
    "new",
    [
        'def ferries(port):\n    "List ferries of this week."\n    return port',
        'def ferries(port, day):\n    "List ferries of today."\n    return port',
        'def ferries(port: int):\n    "List ferries of today."\n    return port',
        'def ferries(port="Oban"):\n    "List ferries of today."\n    return port',
        'def ferries(port):\n    "List ferries of today."\n    return port.upper()',
    ],
    ids=["docstring", "argument", "annotation", "default", "body"],
)
def test_a_function_counts_by_what_it_offers(kind: str, apart: SemanticCache, new: str) -> None:
    """A tool of the same name that is described otherwise is another tool."""
    tools = [{"tools": [function(source)]} for source in (OLD, new, OLD)]

    assert replies_to(kind, apart, PROMPT, *tools) == ["R1", "R2", "R1"]


def tool(**changes: Any) -> dict[str, Any]:
    port = {"type": "string", "description": "Where from", "enum": ["Oban", "Mull"]}
    made = {"name": "ferries", "description": "List ferries", "strict": True}
    return {**made, "input_schema": {"properties": {"port": port}, "required": []}, **changes}


@pytest.mark.parametrize(
    "other",
    [
        {"tools": [tool(description="List trains")]},
        {"tools": [tool(strict=False)]},
        {"tools": [tool(input_schema={"properties": {"port": {"enum": ["Oban"]}}})]},
        {"tools": [tool(), tool(name="trains")]},
        {"tools": []},
        {"tools": None},
        {},
        {"functions": [tool()]},
        {"tools": [tool()], "parallel_tool_calls": False},
        {"tools": [tool()], "tool_choice": {"type": "allowed_tools", "tools": []}},
        {"config": {"tools": [tool()]}},
    ],
)
def test_any_difference_in_what_may_be_called_counts(
    kind: str, same: SemanticCache, other: dict[str, Any]
) -> None:
    """Inside a schema, beside it, one tool more, none, or no list at all."""
    stored = {"tools": [tool()]}

    assert replies_to(kind, same, PROMPT, stored, other, stored) == ["R1", "R2", "R1"]


def test_tools_in_another_order_are_another_request(kind: str, apart: SemanticCache) -> None:
    """Models favour what stands first; the keys of one tool have no order."""
    ferries, trains = tool(), tool(name="trains")
    turned = dict(reversed(ferries.items()))

    answers = replies_to(
        kind,
        apart,
        PROMPT,
        {"tools": [ferries, trains]},
        {"tools": [trains, ferries]},
        {"tools": [turned, trains]},
    )

    assert answers == ["R1", "R2", "R1"]


class Agent:
    """An agent whose tools may change while it lives."""

    def __init__(self, ask: Callable[[str], str]) -> None:
        self.tools: list[Any] = []
        self.system = "You book ferries."
        self._answer = ask

    def __semcache_key__(self) -> object:
        return [self.system, self.tools]

    def ask(self, prompt: str) -> str:
        return self._answer(prompt)


def test_a_tool_given_to_an_agent_later_counts(apart: SemanticCache) -> None:
    """They are read at each call, not when its method was wrapped."""
    agent = Agent(Model())
    ask = apart.cached()(agent.ask)

    first = ask(PROMPT)
    agent.tools.append(function(OLD))
    second = ask(PROMPT)
    agent.tools.clear()

    assert (first, second, ask(PROMPT)) == ("R1", "R2", "R1")
