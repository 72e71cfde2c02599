"""Objects are known by their printed address, or not at all, so one gets another's result."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from semcache import SemanticCache
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
        gc.collect()
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
