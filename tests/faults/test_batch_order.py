"""In a batch of which some is cached, answers and vectors land on the wrong prompts.

Promise: each prompt of a batch has its own decision, answer and vector, in its own place.
Room: `semcache/cache.py`, `semcache/writer.py`
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Bypass, Decision, Hit, Miss, Refused, SemanticCache, Stored
from semcache.errors import ArgumentError
from tests.fakes import Far
from tests.faults.calls import call, decorate, user
from tests.faults.conftest import PATIENT

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


def values(decisions: Sequence[Decision]) -> list[Any]:
    return [d.value if isinstance(d, Hit) else None for d in decisions]


def test_what_is_set_aside_in_the_middle_shifts_nothing(far: SemanticCache) -> None:
    """Prompts for the clock, blank ones, opaque ones and repeats among those that are cached."""
    far.put_many([(A, "a"), (C, "c")])
    prompts = iter([A, "What time is it now?", B, "", [user(object())], C, A])  # type: ignore[arg-type]  # any content

    decisions = far.lookup_many(prompts)

    kinds: list[type] = [Hit, Bypass, Miss, Miss, Bypass, Hit, Hit]
    assert [type(decision) for decision in decisions] == kinds
    assert values(decisions) == ["a", None, None, None, None, "c", "a"]


def test_what_is_refused_in_the_middle_shifts_nothing(far: SemanticCache) -> None:
    """A prompt that the gate holds back and an empty answer take no other's place."""
    pairs = [(A, "a"), ("What time is it now?", "noon"), (B, ""), (C, "c")]

    stored = far.put_many(pairs)

    assert [type(item) for item in stored] == [Stored, Refused, Refused, Stored]
    assert values(far.lookup_many([A, B, C])) == ["a", None, "c"]


def test_the_last_of_two_answers_to_one_prompt_stands(far: SemanticCache) -> None:
    """In a batch as one after the other."""
    stored = far.put_many([(A, "old"), (B, "b"), (A, "new")])

    assert values(far.lookup_many([A, B])) == ["new", "b"]
    assert [far.get(s.entry_id) is not None for s in stored if isinstance(s, Stored)] == [
        False,
        True,
        True,
    ]


class Lacking(Far):
    """An embedder that leaves out the row of one text."""

    def embed(self, texts: Sequence[str]) -> Any:
        return super().embed([text for text in texts if text != B])


class Broken(Far):
    """An embedder that has no numbers for one text."""

    def embed(self, texts: Sequence[str]) -> Any:
        rows = super().embed(texts)
        rows[[text == B for text in texts]] = np.nan
        return rows


@pytest.mark.parametrize("embedder", [Lacking(), Broken()])
@pytest.mark.parametrize("order", list(permutations([A, B, C])))
def test_a_row_that_is_missing_puts_no_vector_on_another_text(
    embedder: Far, order: tuple[str, ...]
) -> None:
    """A text has its own vector or none."""
    with SemanticCache(embedder=embedder, threshold=0.95, config=PATIENT) as cache:
        cache.put_many([(text, text.upper()) for text in order])
        kept = {e.text: np.frombuffer(e.vectors, np.float32) for e in cache.entries()}
        found = values(cache.lookup_many(order))

    assert found == [text.upper() for text in order]
    for text, vector in kept.items():
        assert not len(vector) or np.allclose(vector, Far().embed([text])[0], atol=1e-6)


def test_batches_in_threads_at_once_keep_their_own_order(far: SemanticCache) -> None:
    """Texts of many callers may share a forward pass; none gets a neighbour's decision."""
    prompts, cached = shuffled()
    far.put_many([(prompt, prompt.upper()) for prompt in cached], dynamic=False)
    orders = [random.Random(seed).sample(prompts, len(prompts)) for seed in range(4)]

    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(lambda order: far.lookup_many(order, dynamic=False), orders))

    wanted = [[p.upper() if p in cached else None for p in order] for order in orders]
    assert [values(batch) for batch in batches] == wanted


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([A, B, C, "", "What time is it now?"]), max_size=8))
def test_a_batch_decides_as_one_look_up_after_the_other(prompts: list[str]) -> None:
    """In any order, with any repeats."""
    with SemanticCache(embedder=Far(), threshold=0.95, config=PATIENT) as cache:
        cache.put(B, "b")

        batch = cache.lookup_many(prompts)

        assert values(batch) == values([cache.lookup(prompt) for prompt in prompts])
        assert [type(d) for d in batch] == [type(cache.lookup(prompt)) for prompt in prompts]


def test_a_prompt_that_is_a_list_counts_in_its_order(kind: str, far: SemanticCache) -> None:
    """One call for many questions: other orders are other calls."""
    ask = decorate(kind, far, lambda prompts: [text.upper() for text in prompts])

    answers = [call(kind, ask, list(order)) for order in permutations([A, B, C])]

    assert answers == [[text.upper() for text in order] for order in permutations([A, B, C])]


def test_one_text_is_no_batch_of_its_letters(far: SemanticCache) -> None:
    """It is refused by name, with what to do."""
    with pytest.raises(ArgumentError, match=r"^prompts='What.+lookup\(\)"):
        far.lookup_many(A)
    with pytest.raises(ArgumentError, match=r"^pairs='ab'"):
        far.put_many(["ab"])  # type: ignore[list-item]  # the mistake under test
