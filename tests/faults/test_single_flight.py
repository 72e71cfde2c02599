"""Coroutines are cached instead of values, equal calls all pay, and locks belong to a dead loop."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from semcache import SemanticCache
from tests.fakes import Clock, Far, Model
from tests.faults.conftest import PATIENT

PROMPT = "Explain how a kettle works"
MANY = 20
DEADLINE_SECONDS = 30.0


def test_b082_the_value_is_cached_not_the_coroutine(far: SemanticCache) -> None:
    """It can be awaited again, and gathered."""
    model = Model()

    @far.cached()
    async def ask(prompt: str) -> str:
        return model()

    async def main() -> list[str]:
        twice = [await ask(PROMPT), await ask(PROMPT)]
        return [*twice, *await asyncio.gather(ask(PROMPT), ask(PROMPT))]

    assert asyncio.run(main()) == ["R1"] * 4


def in_threads(ask: Any, entered: threading.Event, release: threading.Event) -> list[Any]:
    """Start 20 calls at once; let the function go on when it has been entered."""
    with ThreadPoolExecutor(MANY) as pool:
        waiting = [pool.submit(ask, PROMPT) for _ in range(MANY)]
        assert entered.wait(DEADLINE_SECONDS)
        release.set()
        return [one.exception(DEADLINE_SECONDS) or one.result() for one in waiting]


@pytest.mark.parametrize("fails", [False, True])
def test_b083_twenty_equal_calls_in_threads(fails: bool, far: SemanticCache) -> None:
    """One real call; on failure every waiter has the error or an answer, and nothing is stored."""
    model, entered, release = Model(), threading.Event(), threading.Event()

    @far.cached()
    def ask(prompt: str) -> str:
        answer = model()
        entered.set()
        assert release.wait(DEADLINE_SECONDS)
        if fails:
            raise RuntimeError(answer)
        return answer

    answers = in_threads(ask, entered, release)

    if fails:
        assert all(isinstance(answer, RuntimeError) for answer in answers)
        assert len(far) == 0
    else:
        assert (answers, model.calls) == (["R1"] * MANY, 1)


@pytest.mark.parametrize("fails", [False, True])
def test_b083_twenty_equal_calls_in_tasks(fails: bool, far: SemanticCache) -> None:
    """The same on an event loop."""
    model = Model()

    @far.cached()
    async def ask(prompt: str) -> str:
        answer = model()
        for _ in range(MANY):
            await asyncio.sleep(0)
        if fails:
            raise RuntimeError(answer)
        return answer

    async def main() -> list[Any]:
        return await asyncio.gather(*(ask(PROMPT) for _ in range(MANY)), return_exceptions=True)

    answers = asyncio.run(main())

    if fails:
        assert all(isinstance(answer, RuntimeError) for answer in answers)
        assert len(far) == 0
    else:
        assert (answers, model.calls) == (["R1"] * MANY, 1)


def test_b085_one_function_in_many_loops(far: SemanticCache) -> None:
    """Two runs one after the other, a third in a thread, and a plain call inside a running loop."""
    model = Model()

    @far.cached()
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return model()

    @far.cached()
    def ask_plainly(prompt: str) -> str:
        return model()

    async def main(*prompts: str) -> list[str]:
        answers = await asyncio.gather(*(ask(prompt) for prompt in prompts))
        return [*answers, ask_plainly(PROMPT)]

    first = asyncio.run(main(PROMPT, PROMPT))
    second = asyncio.run(main(PROMPT, "Describe a green tent"))
    with ThreadPoolExecutor(1) as pool:
        third = pool.submit(asyncio.run, main(PROMPT)).result(DEADLINE_SECONDS)

    assert first == ["R1", "R1", "R2"]
    assert second == ["R1", "R3", "R2"]
    assert third == ["R1", "R2"]


def test_b085_equal_calls_in_two_loops_at_once(far: SemanticCache) -> None:
    """Neither waits for what belongs to the other's loop."""
    model, both = Model(), threading.Barrier(2)

    @far.cached()
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return model()

    def run() -> str:
        both.wait(DEADLINE_SECONDS)
        return asyncio.run(ask(PROMPT))

    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(run) for _ in range(2)]
        found = {answer.result(DEADLINE_SECONDS) for answer in answers}

    assert found <= {"R1", "R2"}


@pytest.mark.parametrize("in_tasks", [False, True])
def test_b086_more_calls_at_once_than_the_cache_holds(in_tasks: bool) -> None:
    """20 different calls, room for 5: 20 right answers, no error, and the bound holds."""
    prompts = [f"What is so special about harbour number {n}?" for n in range(MANY)]
    with SemanticCache(
        embedder=Far(), max_entries=5, ttl_seconds=60, clock=Clock(), config=PATIENT
    ) as cache:

        @cache.cached()
        def ask(prompt: str) -> str:
            return prompt.upper()

        @cache.cached()
        async def aask(prompt: str) -> str:
            await asyncio.sleep(0)
            return prompt.upper()

        async def main() -> list[str]:
            return await asyncio.gather(*map(aask, prompts))

        if in_tasks:
            answers = asyncio.run(main())
        else:
            with ThreadPoolExecutor(MANY) as pool:
                answers = list(pool.map(ask, prompts))

        assert answers == [prompt.upper() for prompt in prompts]
        assert len(cache) <= 5
        assert cache.stats().errors == {}
