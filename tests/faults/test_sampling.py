"""Many samples of one prompt collapse into one answer."""

from __future__ import annotations

import pytest

from semcache import Bypass, Config, SemanticCache
from tests.fakes import Far, Model, Same
from tests.faults.calls import call, decorate

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
