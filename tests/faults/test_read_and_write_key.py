"""The key is taken twice, at look-up and at store time, and something changed in between."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from semcache import SemanticCache
from tests.fakes import Model
from tests.faults.calls import call, decorate, replies, user

PROMPT = "Which tax form do I file in spring?"


def test_b043_defaults_are_filled_in_before_the_key_is_made(far: SemanticCache) -> None:
    """Named, positional and left out: one request."""
    model = Model()

    @far.cached()
    def ask(prompt: str, k: int = 5) -> str:
        return model()

    assert [ask(PROMPT), ask(PROMPT), ask(PROMPT, 5), ask(PROMPT, k=5)] == ["R1"] * 4


def adding_an_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Put a hook before a function that adds a keyword to each call."""

    @functools.wraps(function)
    def hooked(prompt: str, **kwargs: Any) -> Any:
        kwargs["added"] = object()
        return function(prompt, **kwargs)

    return hooked


def test_b043_what_a_hook_adds_after_the_look_up_does_not_change_the_key(
    far: SemanticCache,
) -> None:
    """The key is computed once per call, before the function runs."""
    model = Model()

    @far.cached()
    @adding_an_argument
    def ask(prompt: str, **kwargs: Any) -> str:
        return model()

    assert [ask(PROMPT), ask(PROMPT)] == ["R1", "R1"]


def request() -> list[dict[str, Any]]:
    return [user("Hello", name="bob"), user(PROMPT, name="bob")]


def test_b044_a_function_that_changes_its_request_hits_the_second_time(
    kind: str, far: SemanticCache
) -> None:
    """The wrapped library pops a field from the messages it gets."""
    model = Model()

    def body(messages: list[dict[str, Any]], settings: dict[str, Any]) -> str:
        for message in messages:
            message.pop("name")
        messages.append({"role": "assistant", "content": "!"})
        settings.clear()
        return model()

    ask = decorate(kind, far, body)

    answers = [call(kind, ask, request(), settings={"a": [1]}) for _ in range(2)]

    assert answers == ["R1", "R1"]


def test_b044_the_cache_itself_alters_no_object_of_the_callers(
    kind: str, far: SemanticCache
) -> None:
    """Ids, names and nested parts are as they were."""
    messages = [
        user([{"type": "text", "text": " Cafe\u0301 "}], id="m1", name="bob"),
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        user(f"  {PROMPT}\r\n", id="m2"),
    ]
    before = copy.deepcopy(messages)

    replies(kind, far, messages, messages, dynamic=False)

    assert messages == before
