"""Many samples of one prompt collapse into one answer.

Promise: numbered samples are entries of their own; else the policy goes by the temperature.
Room: `semcache/sampling.py`, `semcache/walk.py`
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import Bypass, Config, SemanticCache
from tests.fakes import Far, Model, Same
from tests.faults.calls import KINDS, call, decorate

PROMPT = "Write a line about the sea"


@pytest.mark.parametrize("sampled", [True, False])
def test_b148_thirty_numbered_samples_are_thirty_entries(kind: str, sampled: bool) -> None:
    """Run twice at temperature 1, under either policy: the second run repeats the first."""
    config = Config(cache_sampled=sampled, embed_timeout_seconds=60)
    with SemanticCache(embedder=Same(), guards=(), config=config) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)

        runs = [
            [call(kind, ask, PROMPT, temperature=1, sample=number) for number in range(30)]
            for _run in range(2)
        ]

    assert runs[0] == runs[1] == [f"R{number}" for number in range(1, 31)]


def test_b148_without_a_number_the_policy_decides(kind: str) -> None:
    """Where sampled answers are not cached, each is a call."""
    with SemanticCache(embedder=Far(), config=Config(cache_sampled=False)) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)

        answers = [call(kind, ask, PROMPT, temperature=1) for _ in range(3)]

    assert answers == ["R1", "R2", "R3"]


POLICIES = {
    "always": (Config(), [True, True, True, True]),
    "only at 0": (Config(cache_sampled=False), [True, False, False, False]),
    "at most 0.3": (Config(max_temperature=0.3), [True, True, False, False]),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_b149_the_policy_says_at_which_temperature(kind: str, policy: str) -> None:
    """0, 0.3, 0.31 and absent: absent counts as not deterministic."""
    config, expected = POLICIES[policy]
    with SemanticCache(embedder=Far(), config=config) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)

        cached = []
        for params in ({"temperature": 0}, {"temperature": 0.3}, {"temperature": 0.31}, {}):
            twice = [call(kind, ask, PROMPT, **params) for _ in range(2)]
            cached.append(twice[0] == twice[1])
            assert isinstance(ask.lookup(PROMPT, **params), Bypass) != cached[-1]

    assert cached == expected


COLD_ONLY = Config(cache_sampled=False, embed_timeout_seconds=60)
UP_TO_A_THIRD = Config(max_temperature=0.3, embed_timeout_seconds=60)


@pytest.mark.parametrize("sample", [None, True, False])
def test_only_a_number_makes_a_sample_of_its_own(kind: str, sample: bool | None) -> None:
    """A parameter left at None, or a switch, does not turn many samples into one."""
    with SemanticCache(embedder=Same(), guards=(), config=COLD_ONLY) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)

        answers = [call(kind, ask, PROMPT, temperature=1, sample=sample) for _ in range(3)]

    assert answers == ["R1", "R2", "R3"]


@dataclass
class Settings:
    """Where some clients keep what they send."""

    temperature: float | None = None


HOT: dict[str, dict[str, Any]] = {
    "not a number": {"temperature": float("nan")},
    "a truth value": {"temperature": False},
    "None": {"temperature": None},
    "a word": {"temperature": "low"},
    "a text": {"temperature": "0.9"},
    "an option": {"options": {"temperature": 0.9}},
    "an object's": {"config": Settings(0.9)},
    "an object's, unset": {"config": Settings()},
    "cold, and hot in the body": {"temperature": 0, "extra_body": {"temperature": 0.9}},
    "endless": {"temperature": float("inf")},
}


@pytest.mark.parametrize("said", HOT)
def test_what_is_not_known_to_be_cold_is_sampled_anew(said: str) -> None:
    """Wherever a temperature is said, and whatever is said instead of one."""
    with SemanticCache(embedder=Far(), config=UP_TO_A_THIRD) as cache:
        for kind in KINDS:
            ask = decorate(kind, cache, Model(), dynamic=False)

            answers = [call(kind, ask, PROMPT, **HOT[said]) for _ in range(2)]

            assert answers == ["R1", "R2"]


COLD: dict[str, dict[str, Any]] = {
    "numpy's": {"temperature": np.float32(0.25)},
    "a decimal": {"temperature": Decimal("0.3")},
    "a text": {"temperature": "0"},
    "an option": {"options": {"temperature": 0}},
    "an object's": {"config": Settings(0.0)},
    "cold, and a schema that names it": {
        "temperature": 0,
        "schema": {"temperature": {"type": "number"}},
    },
}


@pytest.mark.parametrize("said", COLD)
def test_what_is_known_to_be_cold_is_cached(said: str) -> None:
    """In whatever type a client says it."""
    with SemanticCache(embedder=Far(), config=UP_TO_A_THIRD) as cache:
        for kind in KINDS:
            ask = decorate(kind, cache, Model(), dynamic=False)

            answers = [call(kind, ask, PROMPT, **COLD[said]) for _ in range(2)]

            assert answers == ["R1", "R1"]


def test_samples_asked_for_at_once_do_not_share_a_call(tmp_path: Path) -> None:
    """Thirty tasks with a number each, and the same thirty answers after a restart."""
    runs = []
    for _run in range(2):
        with SemanticCache(tmp_path / "c", embedder=Same(), guards=(), config=COLD_ONLY) as cache:
            model = Model()

            @cache.cached(dynamic=False, shared=True)
            async def ask(prompt: str, temperature: float, sample: int) -> str:
                await asyncio.sleep(0)
                return f"{sample}: {model()}"  # noqa: B023  # called in this round

            async def main() -> list[str]:
                calls = (ask(PROMPT, 1.0, number) for number in range(30))
                return await asyncio.gather(*calls)

            runs.append(asyncio.run(main()))

    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 30


def test_sampled_calls_without_a_number_never_join_one_in_flight() -> None:
    """Ten at once are ten calls, though each is equal to the others."""
    model = Model()
    with SemanticCache(embedder=Far(), config=COLD_ONLY) as cache:

        @cache.cached(dynamic=False)
        async def ask(prompt: str, temperature: float = 1.0) -> str:
            await asyncio.sleep(0)
            return model()

        async def main() -> list[str]:
            return await asyncio.gather(*(ask(PROMPT) for _ in range(10)))

        answers = asyncio.run(main())

    assert len(set(answers)) == 10


def test_a_reworded_prompt_gets_the_sample_it_asked_for(kind: str, same: SemanticCache) -> None:
    """The tiers that forgive wording do not forgive another number."""
    ask = decorate(kind, same, Model(), dynamic=False)
    reworded = "On the sea, do write a line"

    first = [call(kind, ask, PROMPT, sample=number) for number in range(3)]
    later = [call(kind, ask, reworded, sample=number) for number in (2, 1, 0, 3)]

    assert later == [*reversed(first), "R4"]


def test_a_default_of_the_function_counts_as_said_by_the_call() -> None:
    """A temperature in a signature, or bound in by a partial, is the call's temperature."""
    model = Model()
    with SemanticCache(embedder=Far(), config=COLD_ONLY) as cache:

        def ask(prompt: str, temperature: float = 1.0, sample: int | None = None) -> str:
            return model()

        hot = cache.cached(dynamic=False)(ask)
        cold = cache.cached(dynamic=False)(partial(ask, temperature=0.0))

        answers = [hot(PROMPT), hot(PROMPT), cold(PROMPT), cold(PROMPT), hot(PROMPT, 1.0, 7)]
        again = hot(PROMPT, sample=7)

    assert answers == ["R1", "R2", "R3", "R3", "R4"]
    assert again == "R4"
