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
from semcache.judge.guards import DEFAULT_GUARDS
from tests.fakes import Same

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
    "config": lambda cache: SemanticCache(config=5),  # type: ignore[arg-type]  # likewise
    "rules": lambda cache: SemanticCache(rules=5),  # type: ignore[arg-type]  # likewise
    "admission": lambda cache: SemanticCache(admission=5),  # type: ignore[arg-type]  # likewise
    "guards": lambda cache: SemanticCache(guards=None),  # type: ignore[arg-type]  # likewise
    "seed": lambda cache: SemanticCache(seed=[]),  # type: ignore[arg-type]  # likewise
    "replace_embedder": lambda cache: SemanticCache(replace_embedder="no"),  # type: ignore[arg-type]  # likewise
    "ttl": lambda cache: cache.cached(ttl=5),
    "dynamic": lambda cache: cache.cached(dynamic="no"),
    "shared": lambda cache: cache.cached(shared="no"),
    "ignore": lambda cache: cache.cached(ignore=[5])(len),
    "scope": lambda cache: cache.cached(scope=[5])(len),
    "no_cache": lambda cache: cache.lookup(QUESTION, no_cache="no"),  # type: ignore[arg-type]  # likewise
    "pinned": lambda cache: cache.put(QUESTION, "a", pinned="no"),  # type: ignore[arg-type]  # likewise
    "prompts": lambda cache: cache.lookup_many(QUESTION),
    "pairs": lambda cache: cache.put_many([("a",)]),  # type: ignore[list-item]  # likewise
    "predicate": lambda cache: cache.purge("rice"),  # type: ignore[arg-type]  # likewise
    "at_least": lambda cache: cache.purge_similar(QUESTION, at_least="0.9"),  # type: ignore[arg-type]  # likewise
    "timeout_seconds": lambda cache: cache.flush("1"),  # type: ignore[arg-type]  # likewise
    "entries": lambda cache: cache.restore([5]),  # type: ignore[list-item]  # likewise
    "path": lambda cache: SemanticCache.from_config(5),  # type: ignore[arg-type]  # likewise
    "values": lambda cache: Config.from_mapping(5),  # type: ignore[arg-type]  # likewise
    "environment": lambda cache: Config.from_environment(5),  # type: ignore[arg-type]  # likewise
}


@pytest.mark.parametrize("argument", WRONG)
def test_a_wrong_argument_is_named(argument: str) -> None:
    """With its value and what to pass."""
    cache = SemanticCache(embedder=False)

    with pytest.raises(ArgumentError, match=rf"^{argument}=.+: .+"):
        WRONG[argument](cache)


@pytest.mark.parametrize("directory", [5, "", " ", "a\0b", b"a", "~nobody-of-that-name/cache"])
def test_a_directory_that_no_system_could_hold_is_named(directory: Any) -> None:
    """Before anything is created; an empty name, as of an unset variable, is not this folder."""
    with pytest.raises(ArgumentError, match=r"^directory=.+: pass a path"):
        SemanticCache(directory, embedder=False)


@pytest.mark.parametrize("depends_on", [None, 5, "kb", {"kb": 1}, [None]])
def test_tags_that_are_none_are_named(depends_on: Any) -> None:
    """Whoever stores by hand learns it at once; a wrapped call goes through without a cache."""
    cache = SemanticCache(embedder=False)

    with pytest.raises(ArgumentError, match=r"^depends_on=.+: "):
        cache.put(QUESTION, "a", depends_on=depends_on)

    assert cache.cached(depends_on=lambda prompt: depends_on)(lambda prompt: "a")(QUESTION) == "a"


def test_guards_that_can_be_read_once_are_asked_each_time() -> None:
    """An iterator of guards is not used up by the first look-up."""
    cache = SemanticCache(embedder=Same(), guards=iter(DEFAULT_GUARDS), threshold=0.9)  # type: ignore[arg-type]  # an iterator
    cache.put("What is 48 + 27?", "75")

    decisions = [cache.lookup("What is 48 + 72?") for _ in range(3)]

    assert not any(isinstance(decision, Hit) for decision in decisions)


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
