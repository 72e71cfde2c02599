"""Objects are known by their printed address, or not at all, so one gets another's result.

Promise: a method answers for its object's class and settings as they are at the call,
never for an address.
Room: `semcache/carried.py`, `semcache/canonical_objects.py`
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from semcache import Bypass, Hit, SemanticCache
from tests.fakes import Model
from tests.faults.calls import call, decorate

PROMPT = "Describe a green tent"


class Bare:
    """An object with nothing but an address."""


class Settings:
    """An object with settings."""

    def __init__(self, value: int) -> None:
        self.value = value


@pytest.mark.parametrize(
    "make", [lambda _n: object(), lambda _n: Bare(), Settings], ids=["object", "bare", "settings"]
)
def test_b133_a_new_object_at_an_old_address_gets_no_old_result(
    kind: str, apart: SemanticCache, make: Any
) -> None:
    """Make one, call, delete, until an address returns: each call is a real one."""
    ask = decorate(kind, apart, Model())

    answers: list[str] = []
    addresses: list[int] = []
    number = 0
    while len(addresses) == len(set(addresses)):
        number += 1
        thing = make(number)
        addresses.append(id(thing))
        answers.append(call(kind, ask, PROMPT, thing=thing))
        del thing
        gc.collect(0)
        assert number < 1000

    assert len(set(answers)) == len(answers)


def test_b134_two_objects_with_other_settings_share_nothing(apart: SemanticCache) -> None:
    """A(1, 2) and A(3, 4) are asked apart; equal settings share."""
    model = Model()

    class A:
        def __init__(self, one: int, two: int) -> None:
            self.one, self.two = one, two

        @apart.cached()
        def ask(self, prompt: str) -> str:
            return model()

        @apart.cached()
        async def aask(self, prompt: str) -> str:
            return model()

    answers = [A(1, 2).ask(PROMPT), A(3, 4).ask(PROMPT), A(1, 2).ask(PROMPT)]

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.parametrize("form", ["coroutine", "stream", "async stream"])
def test_b134_in_every_kind_of_method(apart: SemanticCache, form: str) -> None:
    """Bound methods of all kinds read their object's settings."""
    model = Model()
    made = decorate(form, apart, lambda prompt, **_rest: model())

    answers = [call(form, made, PROMPT, owner=Settings(value)) for value in (1, 2, 1)]

    assert answers == ["R1", "R2", "R1"]


class Tool:
    """A class whose objects can be called."""

    def __init__(self, model: str) -> None:
        self.model = model

    def ask(self, prompt: str) -> str:
        return f"{self.model}: {prompt}"

    def __call__(self, prompt: str) -> str:
        return self.ask(prompt)

    @classmethod
    def name(cls, prompt: str) -> str:
        return f"{cls.__name__}: {prompt}"


class Hammer(Tool):
    """Another of the kind."""


class Slim:
    """An object whose settings are in slots, one of them under a name of its own."""

    __slots__ = ("__model", "kind")

    def __init__(self, model: str) -> None:
        self.kind = "slim"
        self.__model = model

    def ask(self, prompt: str) -> str:
        return f"{self.__model}: {prompt}"


@dataclass
class Record:
    """A dataclass with something beside its fields."""

    kind: str = "record"

    def ask(self, prompt: str) -> str:
        return f"{self.model}: {prompt}"  # type: ignore[attr-defined]  # set from outside


def record(model: str) -> Record:
    made = Record()
    made.model = model  # type: ignore[attr-defined]  # as programs do
    return made


class Falsy(Tool):
    """An object that is empty."""

    def __len__(self) -> int:
        return 0

    def __semcache_key__(self) -> object:
        return self.model


MAKERS: dict[str, Callable[[str], Any]] = {
    "method of a callable": lambda model: Tool(model).ask,
    "callable": Tool,
    "call of a callable": lambda model: Tool(model).__call__,
    "slots": lambda model: Slim(model).ask,
    "beside its fields": lambda model: record(model).ask,
    "empty": Falsy,
    "partial of a method": lambda model: functools.partial(Tool(model).ask),
    "partial of an object": lambda model: functools.partial(Tool(model)),
}


@pytest.mark.parametrize("of", MAKERS)
def test_what_is_bound_counts_by_its_settings(apart: SemanticCache, of: str) -> None:
    """Equal settings share, others do not, however the function is bound to its object."""
    one, other, again = (apart.cached()(MAKERS[of](model)) for model in ("m1", "m2", "m1"))

    answers = [one(PROMPT), other(PROMPT)]

    assert answers == [f"m1: {PROMPT}", f"m2: {PROMPT}"]
    assert isinstance(again.lookup(PROMPT), Hit)


def test_settings_are_read_at_each_call(kind: str, apart: SemanticCache) -> None:
    """An object that is changed between two calls is another one, and the same when set back."""
    owner = Settings(1)
    ask = decorate(kind, apart, Model())

    answers = []
    for value in (1, 2, 1):
        owner.value = value
        answers.append(call(kind, ask, PROMPT, owner=owner))

    assert answers == ["R1", "R2", "R1"]


def test_class_methods_answer_for_their_own_class(apart: SemanticCache) -> None:
    """A subclass that inherits one is asked apart."""
    asks = [apart.cached()(kind.name) for kind in (Tool, Hammer, Tool)]

    answers = [ask(PROMPT) for ask in asks]

    assert answers == [f"Tool: {PROMPT}", f"Hammer: {PROMPT}", f"Tool: {PROMPT}"]
    assert apart.stats().hits == {"exact": 1}


def test_a_property_that_is_computed_once_does_not_make_another_object(
    apart: SemanticCache,
) -> None:
    """The first call makes the client that all others use; it follows from the settings."""
    model = Model()

    class Lazy:
        def __init__(self, url: str) -> None:
            self.url = url

        @functools.cached_property
        def client(self) -> object:
            return object()

        @apart.cached()
        def ask(self, prompt: str) -> str:
            assert self.client is not None
            return f"{self.url} {model()}"

    lazy = Lazy("eu")

    answers = [lazy.ask(PROMPT), lazy.ask(PROMPT), Lazy("eu").ask(PROMPT), Lazy("us").ask(PROMPT)]

    assert answers == ["eu R1", "eu R1", "eu R1", "us R2"]


def test_a_method_of_a_subclass_and_of_its_base_are_apart(apart: SemanticCache) -> None:
    """The class of the object counts, not the class that defines the method."""

    class Animal:
        def __init__(self) -> None:
            self.name = "Rex"

        @apart.cached()
        def ask(self, prompt: str) -> str:
            return type(self).__name__

    class Dog(Animal):
        """It inherits the method."""

    answers = [Animal().ask(PROMPT), Dog().ask(PROMPT), Animal().ask(PROMPT)]

    assert answers == ["Animal", "Dog", "Animal"]


def test_a_method_of_an_object_without_settings_is_not_cached(apart: SemanticCache) -> None:
    """Nothing says which of two such objects was meant."""
    ask = apart.cached()(lambda owner, prompt: prompt)

    decision = ask.lookup(Bare(), PROMPT)

    assert isinstance(decision, Bypass)
    assert "__semcache_key__" in str(decision)
