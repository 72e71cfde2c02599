"""Nobody's object is anybody else's: what one changes never shows anywhere else."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Config, Decision, Hit, SemanticCache
from tests.answers import answers, form, spoil
from tests.faults.calls import KINDS, call, decide, decorate

CONFIG = Config(store_empty=True)
PROMPT = "What is on page one of the manual?"
FEW = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(value=answers)
def test_no_caller_sees_what_another_changes(kind: str, value: Any) -> None:
    """The function's own object, the miss, each hit, the decision, the entry and the observer."""
    seen: list[Decision] = []
    before = form(value)
    with SemanticCache(embedder=False, config=CONFIG, on_decision=seen.append) as cache:
        ask = decorate(kind, cache, lambda _prompt: value, dynamic=False)

        answer = call(kind, ask, PROMPT)
        assert form(answer) == before
        spoil(answer)
        spoil(value)
        for _ in range(2):
            decision = decide(kind, ask, PROMPT)
            assert isinstance(decision, Hit)
            spoil(decision.value)
            answer = call(kind, ask, PROMPT)
            assert form(answer) == before
            spoil(answer)

    values = [hit.value for hit in seen if isinstance(hit, Hit)]
    shown = [item[0] if "stream" in kind else item for item in values]
    assert [form(item) for item in shown] == [before] * 4


@FEW
@given(value=answers)
def test_put_keeps_a_copy_and_lookup_gives_one(value: Any) -> None:
    """Also for many at once, which are stored together."""
    before = form(value)
    with SemanticCache(embedder=False, config=CONFIG) as cache:
        cache.put(PROMPT, value, dynamic=False)
        cache.put_many([(PROMPT + "?", value)], dynamic=False)
        spoil(value)

        for prompt in (PROMPT, PROMPT + "?") * 2:
            hit = cache.lookup(prompt, dynamic=False)
            assert isinstance(hit, Hit)
            assert form(hit.value) == before
            spoil(hit.value)


@FEW
@given(value=answers)
def test_the_rules_of_a_function_read_copies(value: Any) -> None:
    """What `cache_if` and `cost` change reaches neither the caller nor the store."""
    before = form(value)

    def meddle(answer: Any) -> bool:
        spoil(answer)
        return True

    with SemanticCache(embedder=False, config=CONFIG) as cache:
        ask = decorate(
            "plain", cache, lambda _prompt: value, dynamic=False, cache_if=meddle, cost=meddle
        )

        assert form(ask(PROMPT)) == before
        assert form(ask(PROMPT)) == before


@FEW
@given(chunks=st.lists(answers, min_size=2, max_size=4))
def test_two_readers_of_one_stream_share_no_chunk(chunks: list[Any]) -> None:
    """They read in turns, each spoils what it gets, and so does the source what it gave."""
    before = [form(chunk) for chunk in chunks]

    def give() -> Iterator[Any]:
        for chunk in copy.deepcopy(chunks):
            yield chunk
            spoil(chunk)

    with SemanticCache(embedder=False, config=CONFIG) as cache:

        @cache.cached(dynamic=False, is_complete=lambda parts: True)
        def ask(prompt: str) -> Iterator[Any]:
            yield from give()

        readers = [ask(PROMPT), ask(PROMPT)]
        for expected in before:
            for reader in readers:
                chunk = next(reader)
                assert form(chunk) == expected
                spoil(chunk)
        assert [list(reader) for reader in readers] == [[], []]
        assert [form(chunk) for chunk in ask(PROMPT)] == before


@FEW
@given(chunks=st.lists(answers, min_size=2, max_size=4))
def test_two_tasks_on_one_stream_share_no_chunk(chunks: list[Any]) -> None:
    """As above, for async generators."""
    before = [form(chunk) for chunk in chunks]

    async def main(cache: SemanticCache) -> None:
        @cache.cached(dynamic=False, is_complete=lambda parts: True)
        async def ask(prompt: str) -> AsyncIterator[Any]:
            for chunk in copy.deepcopy(chunks):
                yield chunk
                spoil(chunk)

        readers = [ask(PROMPT), ask(PROMPT)]
        for expected in before:
            for reader in readers:
                chunk = await anext(reader)
                assert form(chunk) == expected
                spoil(chunk)
        for reader in readers:
            assert [chunk async for chunk in reader] == []
        assert [form(chunk) async for chunk in ask(PROMPT)] == before

    with SemanticCache(embedder=False, config=CONFIG) as cache:
        asyncio.run(main(cache))
