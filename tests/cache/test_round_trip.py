"""What goes in comes out: from memory, from disk, and from a directory that is opened again."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Admission, Config, Hit, SemanticCache, Stored
from tests.answers import answers, chat_chunks, form

CONFIG = Config(store_empty=True, store_timeout_seconds=30.0)
FEW = settings(max_examples=30, deadline=None)
SLOW = settings(max_examples=12, deadline=None)


def open_cache(directory: str | None = None) -> SemanticCache:
    """Open a cache without a model; what it is given is stored unless it is an error or cut."""
    return SemanticCache(directory, embedder=False, config=CONFIG)


def question(number: int) -> str:
    return f"What is on page {number} of the manual?"


@pytest.fixture(scope="module")
def memory() -> Iterator[SemanticCache]:
    with open_cache() as cache:
        yield cache


def _ask(cache: SemanticCache, number: int) -> Any:
    decision = cache.lookup(question(number), dynamic=False)
    assert isinstance(decision, Hit), decision
    return decision.value


@FEW
@given(value=answers)
def test_memory_gives_back_what_was_put(memory: SemanticCache, value: Any) -> None:
    """Type, order, zone and every bit, for any nesting of any storable types."""
    stored = memory.put(question(0), value, dynamic=False)

    assert isinstance(stored, Stored)
    assert form(_ask(memory, 0)) == form(value)


@SLOW
@given(values=st.lists(answers, min_size=1, max_size=6))
def test_a_directory_gives_back_what_was_put_after_it_is_opened_again(values: list[Any]) -> None:
    """The first opening answers from memory, the second from disk, and then from memory again."""
    with tempfile.TemporaryDirectory() as directory:
        with open_cache(directory) as cache:
            for number, value in enumerate(values):
                assert isinstance(cache.put(question(number), value, dynamic=False), Stored)
            first = [_ask(cache, number) for number in range(len(values))]
        with open_cache(directory) as cache:
            later = [[_ask(cache, number) for number in range(len(values))] for _ in range(2)]

    assert form(first) == form(later[0]) == form(later[1]) == form(values)


@SLOW
@given(chunks=chat_chunks() | st.lists(answers, min_size=1, max_size=5))
def test_a_directory_replays_the_chunks_that_were_read(chunks: list[Any]) -> None:
    """A generator and an async one, on the miss, on the hit and after it is opened again."""
    calls: list[str] = []

    def decorated(cache: SemanticCache) -> tuple[Any, Any]:
        @cache.cached(dynamic=False, shared=True, is_complete=lambda parts: True)
        def stream(prompt: str) -> Iterator[Any]:
            calls.append(prompt)
            yield from chunks

        @cache.cached(dynamic=False, shared=True, is_complete=lambda parts: True)
        async def astream(prompt: str) -> AsyncIterator[Any]:
            calls.append(prompt)
            for chunk in chunks:
                yield chunk

        return stream, astream

    async def collect(source: AsyncIterator[Any]) -> list[Any]:
        return [chunk async for chunk in source]

    with tempfile.TemporaryDirectory() as directory:
        for _opening in range(2):
            with open_cache(directory) as cache:
                stream, astream = decorated(cache)
                for _reading in range(2):
                    assert form(list(stream(question(1)))) == form(chunks)
                    assert form(asyncio.run(collect(astream(question(2))))) == form(chunks)

    assert len(calls) == 2


@FEW
@given(chunks=chat_chunks())
def test_a_stream_that_ends_in_the_chat_shape_is_admitted(chunks: list[Any]) -> None:
    """And none of its beginnings is, however long."""
    admission = Admission(store_empty=True)

    assert admission.check(chunks, chunks) is None
    for length in range(1, len(chunks)):
        assert admission.check(chunks[:length], chunks[:length]) is not None
