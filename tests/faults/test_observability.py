"""Hits on the streaming path are not counted, or arrive without their details.

Promise: each call is counted once, by tier or reason; a hit tells its score, age and entry.
Room: `semcache/telemetry.py`, `semcache/cached_function.py`
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from semcache import Decision, Hit, Miss, SemanticCache
from tests.fakes import Clock, Far, Model
from tests.faults.calls import call, decide, decorate
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"
TIERS = {"exact": QUESTION, "near-duplicate": NEAR, "semantic": REWORDED}


@pytest.mark.parametrize("tier", TIERS)
def test_b157_a_hit_is_counted_once_with_its_tier(
    kind: str, tier: str, same: SemanticCache
) -> None:
    """Streams like all others; the miss before it is counted once, too."""
    ask = decorate(kind, same, Model())
    call(kind, ask, QUESTION)

    call(kind, ask, TIERS[tier])
    stats = same.stats()

    assert stats.hits == {tier: 1}
    assert sum(stats.misses.values()) == 1
    assert stats.lookups == 2
    assert stats.latency[tier].count == 1
    assert stats.stored == 1


@pytest.mark.parametrize("tier", TIERS)
def test_b158_a_hit_shows_where_it_came_from(
    kind: str, tier: str, same: SemanticCache, clock: Clock
) -> None:
    """Tier, score, age and entry id, whatever the kind of function."""
    ask = decorate(kind, same, Model())
    call(kind, ask, QUESTION)
    clock.advance(5)

    decision = decide(kind, ask, TIERS[tier])

    assert isinstance(decision, Hit)
    assert decision.tier.value == tier
    assert decision.score == pytest.approx(1.0)
    assert decision.age_seconds == 5
    entry = same.get(decision.entry_id)
    assert entry is not None
    assert entry.text == QUESTION


def test_details_of_a_hit_survive_a_restart(kind: str, tmp_path: Path, clock: Clock) -> None:
    """Age, entry, saved seconds and saved cost come from disk with the answer."""
    for opening in range(2):
        with SemanticCache(tmp_path / "c", embedder=Far(), clock=clock, config=PATIENT) as cache:
            ask = decorate(kind, cache, lambda _prompt: _slow(clock), cost=1.5, shared=True)

            decision = decide(kind, ask, QUESTION)
            stats = cache.stats()

        clock.advance(10)
        if opening == 0:
            assert isinstance(decision, Miss)
            assert (stats.saved_seconds, stats.saved_cost) == (0.0, 0.0)

    assert isinstance(decision, Hit)
    assert (decision.tier.value, decision.age_seconds) == ("exact", 10.0)
    assert (stats.saved_seconds, stats.saved_cost) == (2.0, 1.5)


def _slow(clock: Clock) -> str:
    clock.advance(2)
    return "an answer"


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_the_time_of_a_slow_reader_is_not_counted_as_saved(
    kind: str, far: SemanticCache, clock: Clock
) -> None:
    """The call took two seconds, whoever read it for an hour."""
    ask = decorate(kind, far, lambda _prompt: _slow(clock))

    _read(kind, ask(QUESTION), lambda: clock.advance(1800))
    _read(kind, ask(QUESTION), lambda: None)

    assert far.stats().saved_seconds == 2.0


def _read(kind: str, made: Any, each: Callable[[], None]) -> None:
    if kind == "stream":
        for _chunk in made:
            each()
        return

    async def run() -> None:
        async for _chunk in made:
            each()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["coroutine", "async stream"])
def test_misses_that_share_one_call_are_told_from_calls(kind: str, far: SemanticCache) -> None:
    """Each is counted once: misses less those that joined are the calls that were made."""
    calls: list[str] = []

    async def body(prompt: str) -> str:
        calls.append(prompt)
        for _ in range(20):
            await asyncio.sleep(0)
        return "an answer"

    @far.cached()
    async def whole(prompt: str) -> str:
        return await body(prompt)

    @far.cached()
    async def parts(prompt: str) -> AsyncIterator[str]:
        yield await body(prompt)

    async def read_parts() -> str:
        return "".join([chunk async for chunk in parts(QUESTION)])

    async def main() -> list[str]:
        ask = read_parts if kind == "async stream" else lambda: whole(QUESTION)
        return await asyncio.gather(*(ask() for _ in range(4)))

    answers = asyncio.run(main())
    stats = far.stats()

    assert answers == ["an answer"] * 4
    assert len(calls) == 1
    assert stats.lookups == 4
    assert sum(stats.misses.values()) - stats.joined == 1
    assert stats.stored == 1


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_a_stream_that_nobody_read_to_its_end_is_counted_as_not_stored(
    kind: str, far: SemanticCache
) -> None:
    """A reader that stops at the finish reason finds here why it never hits."""

    @far.cached()
    def stream(prompt: str) -> Iterator[str]:
        yield "one"
        yield "two"

    @far.cached()
    async def astream(prompt: str) -> AsyncIterator[str]:
        yield "one"
        yield "two"

    async def first() -> None:
        async with aclosing(astream(QUESTION)) as chunks:
            await anext(chunks)

    if kind == "stream":
        with closing(stream(QUESTION)) as chunks:
            next(chunks)
    else:
        asyncio.run(first())

    assert far.stats().refused == {"the stream was not read to its end": 1}
    assert len(far) == 0


def test_an_observer_hears_of_every_decision_once_and_in_order(kind: str) -> None:
    """Miss, hit, refresh and bypass, of streams as of all others; one that fails breaks nothing."""
    heard: list[str] = []

    def observe(decision: Decision) -> None:
        heard.append(type(decision).__name__)
        raise RuntimeError("the log is full")

    with SemanticCache(embedder=Far(), config=PATIENT, on_decision=observe) as cache:
        ask = decorate(kind, cache, Model())
        for how in (ask, ask, ask.refresh, ask, ask.bypass):
            call(kind, how, QUESTION)
        stats = cache.stats()

    assert heard == ["Miss", "Hit", "Miss", "Hit", "Bypass"]
    assert (stats.hits, stats.lookups) == ({"exact": 2}, 5)
    assert stats.errors == {"on_decision": 5}


def test_a_hit_that_is_read_in_part_is_counted_once(far: SemanticCache) -> None:
    """And a stream that nobody began to read is no look-up."""

    @far.cached()
    def ask(prompt: str) -> Iterator[str]:
        yield from ("one", "two", "three")

    list(ask(QUESTION))
    ask(QUESTION)
    with closing(ask(QUESTION)) as chunks:
        next(chunks)
    stats = far.stats()

    assert (stats.hits, stats.lookups) == ({"exact": 1}, 2)
