"""The model in the key is missing, or is a snapshot of how the client once was."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from semcache import SemanticCache
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
