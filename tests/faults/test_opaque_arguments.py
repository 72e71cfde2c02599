"""Dicts, sets, arrays and functions as arguments crash the key or are dropped from it.

Promise: an argument counts by value, or the call is not cached and says why;
no argument breaks a call.
Room: `semcache/canonical_objects.py`, `semcache/carried.py`
"""

from __future__ import annotations

import functools
import threading
import types
from collections import UserDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import pytest

from semcache import Bypass, Hit, Reason, SemanticCache
from tests.fakes import Far, Model
from tests.faults.calls import call, decide, decorate, replies_to
from tests.faults.conftest import PATIENT

PROMPT = "Describe a green tent"


@dataclass
class User:
    """Somebody."""

    id: int
    tags: list[str] = field(default_factory=list)


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: {"id": 7, "tags": ["a"]}, {"id": 7, "tags": ["b"]}),
        (lambda: {"a", "b", 3}, {"a", "b"}),
        (lambda: User(7, ["a"]), User(7, ["b"])),
        (lambda: np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)),
        (lambda: [{"x": (1, {2})}], [{"x": (1, {3})}]),
    ],
    ids=["dict", "set", "dataclass", "array", "nested"],
)
def test_b049_arguments_count_by_value(
    kind: str, apart: SemanticCache, make: Any, other: Any
) -> None:
    """Equal values made anew hit, other values do not."""
    users = [{"user": value} for value in (make(), make(), other)]

    assert replies_to(kind, apart, PROMPT, *users) == ["R1", "R1", "R2"]


def upper(text: str) -> str:
    return text.upper()


def lower(text: str) -> str:
    return text.lower()


def shouting(mark: str) -> Any:
    def shout(text: str) -> str:
        return text + mark

    return shout


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (upper, lower),
        (str.upper, str.lower),
        (lambda text: text.upper(), lambda text: text.lower()),
        (shouting("!"), shouting("?")),
    ],
    ids=["functions", "methods", "lambdas", "closures"],
)
def test_b050_calls_with_different_functions_never_share_an_answer(
    kind: str, apart: SemanticCache, one: Any, other: Any
) -> None:
    """A stable name counts; what has none makes the call uncached."""
    first, second = replies_to(kind, apart, PROMPT, {"formatter": one}, {"formatter": other})

    assert first != second


def test_b050_a_function_with_a_stable_name_hits(kind: str, apart: SemanticCache) -> None:
    """A module-level function is known by its name."""
    formatter = {"formatter": upper}

    assert replies_to(kind, apart, PROMPT, formatter, formatter) == ["R1", "R1"]


class Formatter:
    """A callable with settings."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __call__(self, text: str) -> str:
        return text + self.mark


class Own(dict[str, int]):
    """A class that says itself what it is known by."""

    def __init__(self, version: int) -> None:
        super().__init__()
        self.version = version
        self.lock = threading.Lock()

    def __semcache_key__(self) -> object:
        return self.version


def schema(**fields: type) -> Any:
    """Give a class that is named as others are, and declares something else."""
    return types.new_class("Answer", exec_body=lambda space: space.update(__annotations__=fields))


OTHERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "callable": (lambda: Formatter("!"), Formatter("?")),
    "its call": (lambda: Formatter("!").__call__, Formatter("?").__call__),
    "partial": (lambda: functools.partial(upper, "a"), functools.partial(upper, "b")),
    "namespace": (lambda: types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    "deque": (lambda: deque([1, 2]), deque([2, 1])),
    "mapping": (lambda: UserDict(a=1), UserDict(a=2)),
    "union": (lambda: list[int] | None, list[str] | None),
    "literal": (lambda: Literal["a"], Literal["b"]),
    "schema": (lambda: schema(name=str), schema(title=str)),
    "own key": (lambda: Own(1), Own(2)),
    "tools": (lambda: {"tools": [upper, lower]}, {"tools": [lower, upper]}),
    "number": (lambda: np.float32(0.5), np.float32(0.25)),
}


@pytest.mark.parametrize("of", OTHERS)
def test_objects_of_other_kinds_count_by_value(kind: str, apart: SemanticCache, of: str) -> None:
    """Callables with settings, types, containers and classes with a key of their own."""
    make, other = OTHERS[of]
    params = [{"extra": value} for value in (make(), make(), other)]

    assert replies_to(kind, apart, PROMPT, *params) == ["R1", "R1", "R2"]


def redefined(body: str) -> Callable[[str], str]:
    space: dict[str, Any] = {"__name__": "tools"}
    exec(f"def tool(text):\n    {body}", space)  # as a module does that is edited and reloaded
    made: Callable[[str], str] = space["tool"]
    return made


def signed(mark: str) -> Callable[[Callable[[str], str]], Callable[[str], str]]:
    """Give a decorator whose wrappers bear the name of what they wrap."""

    def decorated(function: Callable[[str], str]) -> Callable[[str], str]:
        @functools.wraps(function)
        def wrapper(text: str) -> str:
            return function(text) + mark

        return wrapper

    return decorated


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (redefined("return text"), redefined("return text * 2")),
        (redefined("'Add.'\n    return text"), redefined("'Subtract.'\n    return text")),
        (redefined("return 1"), redefined("return 1.0")),
        (signed("!")(upper), signed("?")(upper)),
        (signed("!")(upper), upper),
    ],
    ids=["code", "docstring", "constant", "wrappers", "wrapped"],
)
def test_two_functions_of_one_name_never_share_an_answer(
    kind: str, apart: SemanticCache, one: Any, other: Any
) -> None:
    """A name may be given anew, or borrowed as wrappers do: the code counts as well."""
    params = [{"formatter": function} for function in (one, other, one)]

    assert replies_to(kind, apart, PROMPT, *params) == ["R1", "R2", "R1"]


class Client:
    """A client as those of SDKs: settings, and a connection that has no form."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.options = {"headers": {"x": threading.Lock()}, "retries": 2}
        self.connection = threading.Lock()

    def ask(self, prompt: str) -> str:
        return f"{self.url}: {prompt}"


def through(client: Any) -> Callable[[str], str]:
    def ask(prompt: str) -> str:
        return str(client.ask(prompt))

    return ask


def through_method(client: Client) -> Callable[[str], str]:
    method = client.ask
    return lambda prompt: method(prompt)


def through_list(client: Client) -> Callable[[str], str]:
    clients = {"main": [client]}
    return lambda prompt: clients["main"][0].ask(prompt)


def through_wrapper(client: Client) -> Callable[[str], str]:
    wrapper = types.SimpleNamespace(inner=client)
    return lambda prompt: str(wrapper.inner.ask(prompt))


@pytest.mark.parametrize("make", [through, through_method, through_list, through_wrapper])
def test_functions_that_close_over_clients_with_other_settings_are_apart(
    apart: SemanticCache, make: Callable[[Client], Callable[[str], str]]
) -> None:
    """A client with a connection counts by its settings; equal ones share."""
    clients = [Client("eu"), Client("us"), Client("eu")]

    answers = [apart.cached()(make(client))(PROMPT) for client in clients]

    assert answers == [f"{client.url}: {PROMPT}" for client in clients]
    assert apart.stats().hits == {"exact": 1}


def test_a_client_that_counts_its_calls_is_found_again_after_a_restart(
    kind: str, tmp_path: Path
) -> None:
    """What is closed over counts as it stood when it was first carried."""
    model = Model()
    answers = []
    for _ in range(2):
        with SemanticCache(tmp_path / "cache", embedder=Far(), config=PATIENT) as cache:
            answers.append(call(kind, decorate(kind, cache, model), PROMPT))

    assert answers == ["R1", "R1"]


class Awkward:
    """An object whose every hook raises."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")

    def __bool__(self) -> bool:
        raise RuntimeError("asked for its truth")

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "make",
    [Awkward, lambda: iter(()), threading.Lock, lambda: lambda text: text, object],
    ids=["awkward", "iterator", "lock", "lambda", "object"],
)
def test_an_argument_without_a_form_leaves_the_call_alone_and_says_why(
    kind: str, apart: SemanticCache, make: Callable[[], Any]
) -> None:
    """It is called each time, and the decision names the remedy."""
    ask = decorate(kind, apart, Model())
    thing = make()

    answers = [call(kind, ask, PROMPT, extra=thing) for _ in range(2)]
    decision = decide(kind, ask, PROMPT, extra=thing)

    assert answers == ["R1", "R2"]
    assert isinstance(decision, Bypass)
    assert decision.reason is Reason.OPAQUE
    assert decision.detail


class Wanted(TypedDict):
    """A schema at the top of a module."""

    title: str


def test_a_class_as_a_schema_hits(kind: str, apart: SemanticCache) -> None:
    """Equal declarations are one schema."""
    ask = decorate(kind, apart, Model())
    call(kind, ask, PROMPT, response_format=list[Wanted])

    assert isinstance(decide(kind, ask, PROMPT, response_format=list[Wanted]), Hit)
