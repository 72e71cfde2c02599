"""Wrong arguments are told apart by name, value and remedy; odd ones never break a wrapped call."""

from __future__ import annotations

import asyncio
import enum
import os
import threading
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from semcache import Config, Hit, SemanticCache
from semcache.errors import ArgumentError

QUESTION = "What is the capital of Ghana?"


class Raises:
    def __semcache_key__(self) -> object:
        raise KeyError("x")


class Slotted:
    __slots__ = ("hidden",)

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


class Switch(enum.Flag):
    ON = 1


@pytest.mark.parametrize(
    "make", [Raises, Slotted, partial(Decimal, "sNaN"), partial(Switch, 0)], ids=str
)
def test_an_argument_whose_own_code_fails_does_not_break_the_call(make: Callable[[], Any]) -> None:
    """It has no stable form, whatever it raised."""
    value = make()
    cache = SemanticCache(embedder=False)

    @cache.cached()
    def ask(prompt: str, extra: Any) -> str:
        return "answer"

    assert ask(QUESTION, value) == "answer"
    assert not isinstance(cache.lookup(QUESTION, extra=value), Hit)
    assert not isinstance(cache.lookup(QUESTION, temperature=10**400), Hit)


def test_a_clock_that_fails_does_not_break_the_call() -> None:
    """The answer is the function's, stored or not."""
    ticks = iter([1e9])
    cache = SemanticCache(embedder=False, clock=lambda: next(ticks))
    ask = cache.cached()(lambda prompt: "answer")

    assert [ask(QUESTION), ask(QUESTION)] == ["answer", "answer"]


def test_every_keyword_of_put_counts_as_it_does_in_a_look_up() -> None:
    """`source` is a name like any other."""
    cache = SemanticCache(embedder=False)
    cache.put(QUESTION, "from the web", source="web")

    assert not isinstance(cache.lookup(QUESTION), Hit)
    assert isinstance(cache.lookup(QUESTION, source="web"), Hit)


class Name(str, enum.Enum):  # noqa: UP042  # its format() is not its value
    ACME = "acme"


def test_names_of_an_enum_are_their_texts() -> None:
    """What is stored under one spelling is invalidated and cleared under the other."""
    cache = SemanticCache(embedder=False)
    cache.put(QUESTION, "Accra", namespace=Name.ACME, model=Name.ACME)
    found = cache.lookup(QUESTION, namespace="acme", model="acme")

    cache.invalidate(model="acme")

    assert isinstance(found, Hit)
    assert not isinstance(cache.lookup(QUESTION, namespace="acme", model=Name.ACME), Hit)
    assert cache.clear(Name.ACME) == 1


WRONG: dict[str, Callable[[SemanticCache], object]] = {
    "cached": lambda cache: cache.cached(len),
    "cost": lambda cache: cache.cached(cost="1"),
    "cache_if": lambda cache: cache.cached(cache_if=True),
    "depends_on": lambda cache: cache.cached(depends_on=5)(len),
    "model": lambda cache: cache.invalidate(model=5),  # type: ignore[arg-type]  # likewise
    "namespace": lambda cache: cache.invalidate(namespace=""),
    "serve_share": lambda cache: cache.set_serving(serve_share=2),
    "entry_id": lambda cache: cache.get(5),  # type: ignore[arg-type]  # likewise
    "ttl_seconds": lambda cache: cache.put(QUESTION, "a", ttl_seconds=10**400),
    "clock": lambda cache: SemanticCache(clock=5),  # type: ignore[arg-type]  # likewise
    "core": lambda cache: SemanticCache(core=5),  # type: ignore[arg-type]  # likewise
    "enabled": lambda cache: Config(enabled="no"),  # type: ignore[arg-type]  # likewise
    "stale_seconds": lambda cache: Config(stale_seconds="1"),  # type: ignore[arg-type]  # likewise
    "store_timeout_seconds": lambda cache: Config(store_timeout_seconds=1e12),
}


@pytest.mark.parametrize("argument", WRONG)
def test_a_wrong_argument_is_named(argument: str) -> None:
    """With its value and what to pass."""
    cache = SemanticCache(embedder=False)

    with pytest.raises(ArgumentError, match=rf"^{argument}=.+: .+"):
        WRONG[argument](cache)


def test_a_coroutine_needs_none_of_the_loops_threads() -> None:
    """The caller may keep all of them busy, with work that waits for this very call."""
    cache = SemanticCache(embedder=False)

    @cache.cached()
    async def ask(prompt: str) -> str:
        return "answer"

    async def main() -> str:
        loop, done = asyncio.get_running_loop(), threading.Event()
        threads = min(32, (os.cpu_count() or 1) + 4)
        busy = [loop.run_in_executor(None, done.wait, 20) for _ in range(threads)]
        try:
            return await asyncio.wait_for(ask(QUESTION), 10)
        finally:
            done.set()
            await asyncio.gather(*busy)

    assert asyncio.run(main()) == "answer"
