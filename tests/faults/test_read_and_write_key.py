"""The key is taken twice, at look-up and at store time, and something changed in between.

Promise: an answer is stored under the key of the arguments that the function ran with,
or not at all.
Room: `semcache/cached_function.py`, `semcache/binding.py`
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from semcache import Hit, SemanticCache
from tests.fakes import Model
from tests.faults.calls import call, decide, decorate, replies, user

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


LATE = ("coroutine", "stream", "async stream")
"""Kinds whose body runs after the call was made."""


def run_late(kind: str, function: Any, messages: list[Any], change: Callable[[], object]) -> Any:
    """Call a function, change something before its body runs, and take its answer."""
    made = function(messages)
    change()
    if kind == "stream":
        (answer,) = made
        return answer

    async def run() -> Any:
        if kind == "coroutine":
            return await made
        (answer,) = await _collect(made)
        return answer

    return asyncio.run(run())


def count_turns(messages: list[Any]) -> str:
    return f"an answer to {len(messages)} messages"


@pytest.mark.parametrize("kind", LATE)
def test_an_answer_to_a_history_that_grew_meanwhile_is_not_stored_for_the_shorter_one(
    kind: str, far: SemanticCache
) -> None:
    """A chat loop appends to its list before the task that got the list has begun."""
    ask = decorate(kind, far, count_turns, dynamic=False)
    history = [user(PROMPT)]

    grown = run_late(kind, ask, history, lambda: history.append(user("And in autumn?")))
    answers = [call(kind, ask, [user(PROMPT)]) for _ in range(2)]

    assert grown == "an answer to 2 messages"
    assert answers == ["an answer to 1 messages"] * 2
    assert isinstance(decide(kind, ask, [user(PROMPT)]), Hit)
    assert far.stats().refused == {"the arguments changed": 1}


@pytest.mark.parametrize("kind", LATE)
def test_arguments_that_stay_as_they_were_are_stored_however_late_the_body_runs(
    kind: str, far: SemanticCache
) -> None:
    """An equal list in place of the old one is no change."""
    ask = decorate(kind, far, count_turns, dynamic=False)
    history = [user(PROMPT)]

    run_late(kind, ask, history, lambda: history.__setitem__(0, user(PROMPT)))

    assert isinstance(decide(kind, ask, [user(PROMPT)]), Hit)


def test_a_follower_never_gets_the_answer_to_what_its_leader_changed(far: SemanticCache) -> None:
    """A call that joins another in flight, which runs with other messages by then."""
    begun, joined = asyncio.Event(), asyncio.Event()

    @far.cached(dynamic=False)
    async def ask(messages: list[Any]) -> str:
        begun.set()
        await joined.wait()
        return count_turns(messages)

    async def main() -> list[str]:
        changed = [user(PROMPT)]
        leader = ask(changed)
        changed.append(user("And in autumn?"))
        first = asyncio.ensure_future(leader)
        await begun.wait()
        second = asyncio.ensure_future(ask([user(PROMPT)]))
        while far.stats().lookups < 2:
            await asyncio.sleep(0)
        joined.set()
        return await asyncio.gather(first, second)

    assert asyncio.run(main()) == ["an answer to 2 messages", "an answer to 1 messages"]


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_a_reader_never_joins_a_stream_of_what_its_leader_changed(
    kind: str, far: SemanticCache
) -> None:
    """The same of a stream of which the first chunk has been read."""
    ask = decorate(kind, far, count_turns, dynamic=False)
    changed = [user(PROMPT)]
    first = ask(changed)
    changed.append(user("And in autumn?"))

    if kind == "stream":
        chunks = [next(first), next(ask([user(PROMPT)]))]
    else:

        async def main() -> list[str]:
            return [await anext(first), await anext(ask([user(PROMPT)]))]

        chunks = asyncio.run(main())

    assert chunks == ["an answer to 2 messages", "an answer to 1 messages"]


async def _collect(stream: AsyncIterator[str]) -> list[str]:
    return [chunk async for chunk in stream]


def test_a_stream_whose_arguments_changed_still_returns_what_it_returns(
    far: SemanticCache,
) -> None:
    """Its chunks and its return value reach the caller; nothing is stored."""

    @far.cached(dynamic=False)
    def ask(messages: list[Any]) -> Iterator[str]:
        yield "a"
        return "usage"

    history = [user(PROMPT)]
    stream = ask(history)
    history.append(user("And in autumn?"))

    chunks = [next(stream)]
    with pytest.raises(StopIteration) as stop:
        next(stream)

    assert (chunks, stop.value.value) == (["a"], "usage")
    assert len(far) == 0


class Agent:
    """An object whose settings may be changed."""

    def __init__(self, style: str) -> None:
        self.style = style


def test_an_object_that_is_given_new_settings_before_a_method_runs_stores_nothing_for_the_old(
    far: SemanticCache,
) -> None:
    """A method reads its object when it runs."""

    async def body(agent: Agent, prompt: str) -> str:
        return agent.style

    ask = far.cached(text="prompt")(body)

    async def main() -> list[str]:
        agent = Agent("brief")
        begun = ask(agent, PROMPT)
        agent.style = "long"
        return [await begun, await ask(Agent("brief"), PROMPT)]

    assert asyncio.run(main()) == ["long", "brief"]


tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")


def test_a_tenant_kept_in_the_context_is_read_alike_at_look_up_and_at_store_time(
    kind: str, far: SemanticCache
) -> None:
    """Whatever threads and tasks the call passes through."""
    ask = decorate(kind, far, Model(), namespace=lambda _prompt: tenant.get())

    def ask_as(name: str) -> Any:
        context = contextvars.copy_context()
        context.run(tenant.set, name)
        return context.run(call, kind, ask, PROMPT)

    assert [ask_as(name) for name in ("a", "b", "a", "b")] == ["R1", "R2", "R1", "R2"]


def test_what_is_put_by_one_form_of_the_arguments_is_found_and_removed_by_another(
    far: SemanticCache,
) -> None:
    """Positional, named and left out are one call in every method of a function."""

    @far.cached()
    def ask(prompt: str, k: int = 5, *, style: str = "brief") -> str:
        raise AssertionError("it is stored")

    ask.put("A", PROMPT)

    assert ask(prompt=PROMPT, style="brief", k=5) == "A"
    assert isinstance(ask.lookup(PROMPT, 5), Hit)
    assert ask.remove(PROMPT, k=5)
    assert len(far) == 0
