"""What a function carries beside its arguments tells it from others of its name."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from semcache import Bypass, Hit, SemanticCache

QUESTION = "What is the capital of Ghana?"


@pytest.fixture
def cache() -> Iterator[SemanticCache]:
    with SemanticCache(embedder=False) as made:
        yield made


def answer(model: str, prompt: str) -> str:
    return f"{model}: {prompt}"


class Client:
    def __init__(self, model: str) -> None:
        self.model = model

    def ask(self, prompt: str) -> str:
        return answer(self.model, prompt)


class Asker(Client):
    def __call__(self, prompt: str) -> str:
        return self.ask(prompt)


def close_over(model: str) -> Callable[[str], str]:
    def ask(prompt: str) -> str:
        return answer(model, prompt)

    return ask


def close_over_twice(model: str) -> Callable[[str], str]:
    inner = close_over(model)
    return lambda prompt: inner(prompt)


def partial(model: str) -> Callable[[str], str]:
    return functools.partial(answer, model)


MAKERS: list[Callable[[str], Any]] = [
    Asker,
    lambda model: Client(model).ask,
    close_over,
    close_over_twice,
    partial,
]


@pytest.mark.parametrize("make", MAKERS)
def test_callables_of_one_name_that_carry_different_things_never_share(
    cache: SemanticCache, make: Callable[[str], Any]
) -> None:
    """Objects, bound methods, closures and partials answer for their own state only."""
    one, other, again = (cache.cached()(make(model)) for model in ("m1", "m2", "m1"))

    answers = [one(QUESTION), other(QUESTION)]

    assert answers == [f"m1: {QUESTION}", f"m2: {QUESTION}"]
    assert isinstance(again.lookup(QUESTION), Hit)


def test_two_lambdas_are_two_functions(cache: SemanticCache) -> None:
    """A lambda has no name: its code tells it from the next."""
    one = cache.cached()(lambda prompt: "one")
    other = cache.cached()(lambda prompt: "other")

    assert (one(QUESTION), other(QUESTION)) == ("one", "other")


def test_a_bound_object_without_a_form_makes_the_call_a_bypass(cache: SemanticCache) -> None:
    """As it does for a method that is decorated in its class."""
    client = Client("m1")
    client.model = iter(())  # type: ignore[assignment]  # nothing that has a stable form

    ask = cache.cached()(client.ask)

    assert isinstance(ask.lookup(QUESTION), Bypass)


def test_a_keyword_may_bear_a_positional_only_name(cache: SemanticCache) -> None:
    """Both count: neither takes the other's place."""

    @cache.cached()
    def ask(prompt: str, /, *more: int, **extra: Any) -> str:
        return f"{prompt} {more} {extra}"

    calls = [
        ask("What is a tent?", prompt="x"),
        ask("How do magnets work?", prompt="x"),
        ask(QUESTION, 1, more=5),
        ask(QUESTION, 2, more=5),
    ]

    assert len(set(calls)) == len(calls)


class Guarded:
    """An object whose every attribute raises."""

    __slots__ = ("hidden",)

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "held",
    [Guarded(), Mock(), iter(()), SemanticCache(embedder=False)],
    ids=lambda held: type(held).__name__,
)
def test_any_object_may_be_closed_over(cache: SemanticCache, held: object) -> None:
    """It breaks neither the function that holds it nor its hits."""

    @cache.cached()
    def ask(prompt: str) -> str:
        return f"{prompt} {held is None}"

    ask(QUESTION)

    assert isinstance(ask.lookup(QUESTION), Hit)


shop = SemanticCache(embedder=False)


@shop.cached()
def at_the_top(prompt: str) -> str:
    return prompt


def test_a_cached_function_travels_by_name_as_a_function_does() -> None:
    """A pool of processes sends its name; a copy of a function is the function."""
    assert at_the_top.__reduce__() == "at_the_top"
    assert copy.deepcopy(at_the_top) is at_the_top


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @shop.cached()
    def ask(self, prompt: str) -> str:
        return f"{self.name}: {prompt}"


def test_a_bound_cached_method_can_be_decorated_again(cache: SemanticCache) -> None:
    """Its signature is that of a bound method, and its object counts."""
    one, other = (cache.cached()(Shop(name).ask) for name in ("one", "other"))

    answers = [one(QUESTION), other(QUESTION)]

    assert list(inspect.signature(Shop("one").ask).parameters) == ["prompt"]
    assert answers == [f"one: {QUESTION}", f"other: {QUESTION}"]
    assert isinstance(other.lookup(QUESTION), Hit)
