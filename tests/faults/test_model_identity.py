"""The model in the key is missing, or is a snapshot of how the client once was.

Promise: model, endpoint and the state of client, object and class count as they stand at the call
Room: `semcache/binding.py`, `semcache/carried.py`, `semcache/canonical_objects.py`
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, PrivateAttr

from semcache import Hit, SemanticCache
from tests.fakes import Model
from tests.faults.calls import call, decorate, replies_to

PROMPT = "Explain how a kettle works"


def test_b034_models_share_nothing_and_no_cache_makes_the_call(
    kind: str, apart: SemanticCache
) -> None:
    """Small, large, and small with the flag: three real calls, and the flag leaves no trace."""
    small, large = {"model": "small"}, {"model": "large"}

    answers = replies_to(kind, apart, PROMPT, small, large, {**small, "no_cache": True}, small)

    assert answers == ["R1", "R2", "R3", "R1"]


@dataclass
class Client:
    """A client whose settings may change between calls."""

    temperature: float = 0.0


def test_b035_a_client_is_read_at_call_time(kind: str, apart: SemanticCache) -> None:
    """Changing its temperature later is another call; changing it back is the first again."""
    client = Client()
    ask = decorate(kind, apart, Model())

    answers = []
    for temperature in (0, 1, 0):
        client.temperature = temperature
        answers.append(call(kind, ask, PROMPT, client=client))

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.parametrize("changed", ["temperature", "model"])
def test_b035_a_method_reads_its_own_client(apart: SemanticCache, changed: str) -> None:
    """The object a method is bound to counts as it stands."""
    model = Model()

    class Bot:
        def __init__(self) -> None:
            self.temperature, self.model = 0.0, 0.0

        @apart.cached()
        def ask(self, prompt: str) -> str:
            return model()

    bot = Bot()

    first = bot.ask(PROMPT)
    setattr(bot, changed, 1.0)

    assert (first, bot.ask(PROMPT)) == ("R1", "R2")


def test_names_of_one_model_are_models_of_their_own(kind: str, apart: SemanticCache) -> None:
    """An alias, a dated snapshot, another case or another endpoint may be another model."""
    named: list[dict[str, Any]] = [
        {"model": "large"},
        {"model": "large-2024-08-06"},
        {"model": "Large"},
        {"model": "ft:large:shop"},
        {"model": "large", "base_url": "http://localhost:1234/v1"},
        {"model": "large", "deployment": "eu"},
        {"model": SimpleNamespace(name="large", provider="a")},
        {"model": SimpleNamespace(name="large", provider="b")},
        {"engine": "large"},
        {},
    ]

    answers = replies_to(kind, apart, PROMPT, *named, *named)

    assert answers == [f"R{n}" for n in range(1, 11)] * 2


def test_what_was_put_under_one_model_is_found_under_no_other(apart: SemanticCache) -> None:
    """Nor under none, in whatever order they are asked for."""
    models = ("small", "large", None)
    for model in models[::2]:
        apart.put(PROMPT, f"of {model}", model=model)

    found = [apart.lookup(PROMPT, model=model) for model in (*models, *models)]

    served = [decision.value if isinstance(decision, Hit) else "" for decision in found]
    assert served == ["of small", "", "of None"] * 2


class WithDefault:
    """A client whose model belongs to its class."""

    model = "small"

    def __init__(self) -> None:
        self.name = "shop"


class Private(BaseModel):
    """A client that keeps its model to itself."""

    name: str = "shop"
    _model: str = PrivateAttr("small")


@dataclass
class Late:
    """A client that sets its model after its fields."""

    name: str = "shop"

    def __post_init__(self) -> None:
        self.model = "small"


class Slotted:
    """A client without a dict."""

    __slots__ = ("model",)

    def __init__(self) -> None:
        self.model = "small"


class Nested:
    """A client that keeps another."""

    def __init__(self) -> None:
        self.inner = Slotted()


def change_class(model: str) -> Any:
    client = WithDefault()
    type(client).model = model
    return client


def set_on(client: Any, name: str, model: str) -> Any:
    *above, last = name.split(".")
    setattr(functools.reduce(getattr, above, client), last, model)
    return client


@pytest.mark.parametrize(
    "client_of",
    [
        change_class,
        lambda model: type(change_class(model)),
        lambda model: set_on(Private(), "_model", model),
        lambda model: set_on(Late(), "model", model),
        lambda model: set_on(Slotted(), "model", model),
        lambda model: set_on(Nested(), "inner.model", model),
        lambda model: set_on(SimpleNamespace(), "model", model),
        lambda model: functools.partial(print, model),
    ],
    ids=["class", "the class", "private", "late", "slots", "nested", "namespace", "partial"],
)
def test_a_model_counts_wherever_a_client_keeps_it(
    kind: str, apart: SemanticCache, client_of: Callable[[str], Any]
) -> None:
    """Changed after the first call, and changed back: two models, two answers."""
    ask = decorate(kind, apart, Model())

    answers = [
        call(kind, ask, PROMPT, client=client_of(model)) for model in ("small", "large", "small")
    ]

    assert answers == ["R1", "R2", "R1"]


def test_a_model_set_on_a_class_reaches_its_methods(apart: SemanticCache) -> None:
    """For the object that a method is bound to, and for the class of a class method."""
    model = Model()

    class Bot(WithDefault):
        @apart.cached()
        def ask(self, prompt: str) -> str:
            return model()

    bot = Bot()

    first = bot.ask(PROMPT)
    Bot.model = "large"
    second = bot.ask(PROMPT)
    bot.model = "small"

    assert (first, second, bot.ask(PROMPT)) == ("R1", "R2", "R3")


def test_a_class_that_counts_its_calls_goes_on_hitting(apart: SemanticCache) -> None:
    """What it sets for all counts, and what it counts up does not."""

    class Bot(WithDefault):
        calls = 0

        @classmethod
        def ask(cls, prompt: str) -> str:
            cls.calls += 1
            return f"R{cls.calls}"

    Bot.__qualname__ = "Bot"
    ask = apart.cached()(lambda prompt, bot: bot.ask(prompt))
    answers = [ask(PROMPT, Bot), ask(PROMPT, Bot)]
    Bot.model = "large"

    assert [*answers, ask(PROMPT, Bot)] == ["R1", "R1", "R2"]


class Called:
    """A client that is called."""

    def __init__(self, model: str, answer: Callable[[], str]) -> None:
        self.model, self.calls, self._answer = model, 0, answer

    def __call__(self) -> str:
        self.calls += 1
        return self._answer()


class Locked(Called):
    """A client with something inside that has no form."""

    def __init__(self, model: str, answer: Callable[[], str]) -> None:
        super().__init__(model, answer)
        self.lock = threading.Lock()


@pytest.mark.parametrize("make", [Called, Locked])
def test_functions_made_around_different_clients_share_nothing(
    kind: str, apart: SemanticCache, make: Callable[..., Any]
) -> None:
    """One factory, one name, two models; what a client counts while it works is not its model."""
    model = Model()

    def around(client: Any) -> Any:
        return decorate(kind, apart, lambda _prompt: client())

    small, large = make("small", model), make("large", model)
    answers = [call(kind, around(client), PROMPT) for client in (small, large, small)]

    assert answers == ["R1", "R2", "R1"]


def test_a_model_bound_in_advance_counts(kind: str, apart: SemanticCache) -> None:
    """By a partial, by the decorator or by the call: named in one place or the other, it is one."""
    model = Model()
    small, large = (decorate(kind, apart, model, model=name) for name in ("small", "large"))

    answers = [
        call(kind, small, PROMPT),
        call(kind, large, PROMPT),
        call(kind, small, PROMPT, model="large"),
        call(kind, large, PROMPT, model=None),
    ]

    assert answers == ["R1", "R2", "R2", "R2"]


def test_a_partial_of_one_function_is_another_model(apart: SemanticCache) -> None:
    """What it binds is read at each call."""
    model = Model()

    def ask(prompt: str, client: Client, **_params: Any) -> str:
        return model()

    client = Client()
    cold, warm = (functools.partial(ask, client=client, model=name) for name in ("a", "b"))
    one, other = apart.cached()(cold), apart.cached()(warm)

    first, second = one(PROMPT), other(PROMPT)
    client.temperature = 1.0

    assert (first, second, one(PROMPT)) == ("R1", "R2", "R3")
