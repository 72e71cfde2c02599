"""In a batch of which some is cached, answers and vectors land on the wrong prompts."""

from __future__ import annotations

import asyncio
import random
from itertools import permutations

import numpy as np
import pytest

from semcache import Decision, Hit, SemanticCache
from tests.fakes import Far
from tests.faults.calls import call, decorate

A, B, C = "What is a ferry?", "How do cranes lift?", "Why do tides turn?"


def shuffled() -> tuple[list[str], list[str]]:
    """Give twenty prompts in a mixed order, and the half of them that is cached."""
    prompts = [f"What is so special about harbour number {number}?" for number in range(20)]
    cached = prompts[::2]
    random.Random(131).shuffle(prompts)
    return prompts, cached


@pytest.mark.parametrize("order", list(permutations([A, B, C])))
def test_b130_each_vector_belongs_to_its_text(far: SemanticCache, order: tuple[str, ...]) -> None:
    """One of three is cached already; all end up with their own."""
    far.put(A, A.upper())

    far.put_many([(text, text.upper()) for text in order])
    kept = {e.text: np.frombuffer(e.vectors, np.float32) for e in far.entries()}

    for text in order:
        np.testing.assert_allclose(kept[text], Far().embed([text])[0], atol=1e-6)


@pytest.mark.parametrize("order", list(permutations([A, B, C])))
def test_b130_each_decision_is_in_its_place(far: SemanticCache, order: tuple[str, ...]) -> None:
    """One batch look-up, one of three cached."""
    far.put(A, A.upper())

    decisions = far.lookup_many(order)

    answers = [d.value if isinstance(d, Hit) else None for d in decisions]
    assert answers == [A.upper() if text == A else None for text in order]


@pytest.mark.parametrize("how", ["lookup_many", "alookup"])
def test_b131_twenty_shuffled_prompts_half_of_them_cached(far: SemanticCache, how: str) -> None:
    """Each decision is that of its own prompt, in one batch or at once on an event loop."""
    prompts, cached = shuffled()
    far.put_many([(prompt, prompt.upper()) for prompt in cached], dynamic=False)

    async def ask_all() -> list[Decision]:
        if how == "lookup_many":
            return await asyncio.to_thread(far.lookup_many, prompts, dynamic=False)
        return await asyncio.gather(*(far.alookup(prompt, dynamic=False) for prompt in prompts))

    decisions = asyncio.run(ask_all())

    answers = [d.value if isinstance(d, Hit) else None for d in decisions]
    assert answers == [prompt.upper() if prompt in cached else None for prompt in prompts]


def test_b131_twenty_shuffled_calls_half_of_them_cached(kind: str, far: SemanticCache) -> None:
    """Each call has its own answer, and only the other half is real."""
    prompts, cached = shuffled()
    calls: list[str] = []

    def body(prompt: str) -> str:
        calls.append(prompt)
        return prompt.upper()

    ask = decorate(kind, far, body, dynamic=False)
    for prompt in cached:
        call(kind, ask, prompt)
    calls.clear()

    answers = [call(kind, ask, prompt) for prompt in prompts]

    assert answers == [prompt.upper() for prompt in prompts]
    assert calls == [prompt for prompt in prompts if prompt not in cached]


def test_b131_twenty_calls_at_once_on_a_loop(far: SemanticCache) -> None:
    """Gathered in any order, each has its own."""
    prompts, cached = shuffled()

    @far.cached(dynamic=False)
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return prompt.upper()

    async def main() -> list[str]:
        await asyncio.gather(*map(ask, cached))
        return await asyncio.gather(*map(ask, prompts))

    assert asyncio.run(main()) == [prompt.upper() for prompt in prompts]
