"""Coroutines are cached instead of values, equal calls all pay, and locks belong to a dead loop.

Promise: Equal calls in flight are one call, and nobody waits for one that cannot end
Room: `semcache/flight.py`, `semcache/flight_table.py`, `semcache/flight_seats.py`
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from semcache import SemanticCache
from semcache.flight import Flights
from semcache.value import register
from tests.fakes import Clock, Far, Model
from tests.faults.conftest import PATIENT
from tests.flight.fakes import in_thread, until

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


class Torn:
    """A value whose plain form is torn away by Ctrl-C."""


def test_ctrl_c_while_an_answer_is_copied_leaves_nobody_waiting() -> None:
    """The copy is for those who wait: they make their own call instead of waiting for ever."""

    def torn(_value: Torn) -> object:
        raise KeyboardInterrupt

    def upstream() -> Torn:
        entered.set()
        assert release.wait(DEADLINE_SECONDS)
        return Torn()

    def ask() -> Any:
        return flights.call(b"key", upstream, lambda _answer: True).value

    register(Torn, torn, lambda _plain: Torn())
    flights, entered, release = Flights(), threading.Event(), threading.Event()
    first = in_thread(ask)
    assert entered.wait(DEADLINE_SECONDS)
    others = [in_thread(ask) for _ in range(2)]
    until(lambda: flights.waiting(b"key") == 2)
    release.set()

    assert isinstance(first.exception(DEADLINE_SECONDS), KeyboardInterrupt)
    assert all(isinstance(other.result(DEADLINE_SECONDS / 3), Torn) for other in others)
    assert len(flights) == 0


def test_a_loop_that_stops_in_mid_call_strands_nobody(far: SemanticCache) -> None:
    """Who waited for it in another loop makes the call anew."""
    model, joined, begun = Model(), threading.Event(), threading.Event()

    @far.cached()
    async def ask(prompt: str) -> str:
        answer = model()
        begun.set()
        if answer == "R1":
            await asyncio.get_running_loop().create_future()
        return answer

    async def lead() -> asyncio.Task[str]:
        task = asyncio.ensure_future(ask(PROMPT))
        while not joined.is_set():
            await asyncio.sleep(0)
        return task

    async def follow() -> str:
        task = asyncio.ensure_future(ask(PROMPT))
        while not task.done() and sum(map(ask._flights.waiting, keys_of(ask))) < 2:
            await asyncio.sleep(0)
        joined.set()
        return await asyncio.wait_for(task, DEADLINE_SECONDS)

    loop = asyncio.new_event_loop()
    with ThreadPoolExecutor(1) as pool:
        leading = pool.submit(loop.run_until_complete, lead())
        assert begun.wait(DEADLINE_SECONDS)
        answer = asyncio.run(follow())
        left = leading.result(DEADLINE_SECONDS)
    left.cancel()
    loop.run_until_complete(asyncio.wait([left]))
    loop.close()

    assert answer == "R2"
    assert len(ask._flights) == 0


def test_a_caller_who_gives_up_takes_nobody_along(far: SemanticCache) -> None:
    """The first of five has a short deadline: the call goes on for the four, and is made once."""
    model = Model()

    @far.cached()
    async def ask(prompt: str) -> str:
        answer = model()
        await reached.wait()
        return answer

    async def main() -> list[Any]:
        nonlocal reached
        reached = asyncio.Event()
        tasks: list[asyncio.Future[str]] = []
        for count in (1, 5):  # the first leads: it is alone until the call is under way
            while len(tasks) < count:
                tasks.append(asyncio.ensure_future(ask(PROMPT)))
            while sum(map(ask._flights.waiting, keys_of(ask))) < count:
                await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.wait([tasks[0]])
        reached.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    reached = asyncio.Event()
    first, *others = asyncio.run(main())

    assert isinstance(first, asyncio.CancelledError)
    assert (others, model.calls) == (["R1"] * 4, 1)


def test_equal_callers_never_hold_one_object(far: SemanticCache) -> None:
    """What one of them changes is its own."""

    @far.cached()
    async def ask(prompt: str) -> dict[str, list[int]]:
        await asyncio.sleep(0)
        return {"pages": [1]}

    async def main() -> list[dict[str, list[int]]]:
        return await asyncio.gather(*(ask(PROMPT) for _ in range(3)))

    first, *others = asyncio.run(main())
    first["pages"].append(2)

    assert others == [{"pages": [1]}] * 2
    assert asyncio.run(ask(PROMPT)) == {"pages": [1]}


@pytest.mark.parametrize("in_tasks", [False, True])
def test_a_fresh_answer_that_is_asked_for_is_not_shared(in_tasks: bool, far: SemanticCache) -> None:
    """A refresh neither waits for the call in flight nor lends its answer."""
    model, entered, release = Model(), threading.Event(), threading.Event()

    def body(prompt: str) -> str:
        answer = model()
        entered.set()
        assert answer != "R1" or release.wait(DEADLINE_SECONDS)
        return answer

    plain = far.cached()(body)

    @far.cached()
    async def task(prompt: str) -> str:
        return await asyncio.to_thread(body, prompt)

    with ThreadPoolExecutor(2) as pool:
        leading = pool.submit(asyncio.run, task(PROMPT)) if in_tasks else pool.submit(plain, PROMPT)
        assert entered.wait(DEADLINE_SECONDS)
        refreshed = asyncio.run(task.refresh(PROMPT)) if in_tasks else plain.refresh(PROMPT)
        release.set()
        first = leading.result(DEADLINE_SECONDS)

    assert (first, refreshed) == ("R1", "R2")


def keys_of(ask: Any) -> list[bytes]:
    """Give the keys of the calls in flight."""
    flights = ask._flights
    return [*flights._threads._flights, *flights._tasks._flights]
