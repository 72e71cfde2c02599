"""Expiry, invalidation and forgetting: what is dead is never served, in any tier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from semcache import Config, Hit, Miss, Reason, SemanticCache
from semcache.errors import ArgumentError, EmbedderError
from tests.fakes import Clock, Model, Same

QUESTION = "Which tax form do I file in spring?"
OTHER_WORDS = "In spring, which form is it that one files for taxes?"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "disk"])
def open_cache(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> Iterator[Callable[..., SemanticCache]]:
    opened: list[SemanticCache] = []

    def open_one(**options: Any) -> SemanticCache:
        directory = tmp_path / "cache" if request.param == "disk" else None
        cache = SemanticCache(directory, embedder=Same(), guards=(), clock=clock, **options)
        opened.append(cache)
        return cache

    yield open_one
    for cache in opened:
        cache.close()


@pytest.mark.parametrize("text", [QUESTION, OTHER_WORDS])
@pytest.mark.parametrize("ttl", [10, 10.0, timedelta(seconds=10)])
def test_an_answer_is_served_before_its_expiry_and_never_after(
    open_cache: Callable[..., SemanticCache], clock: Clock, text: str, ttl: Any
) -> None:
    """Lifetimes are seconds or a timedelta, and nothing need have been purged."""
    cache = open_cache(threshold=0.9)
    cache.put(QUESTION, "A", ttl_seconds=ttl)

    clock.advance(9.99)
    assert isinstance(cache.lookup(text), Hit)
    clock.advance(0.01)
    decision = cache.lookup(text)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.EXPIRED


def test_a_hit_does_not_renew_a_lifetime(
    open_cache: Callable[..., SemanticCache], clock: Clock
) -> None:
    """A wrong answer dies however often it is asked for."""
    cache = open_cache()
    cache.put(QUESTION, "A", ttl_seconds=10)

    clock.advance(5)
    assert isinstance(cache.lookup(QUESTION), Hit)
    clock.advance(5)

    assert isinstance(cache.lookup(QUESTION), Miss)


def test_none_never_expires(open_cache: Callable[..., SemanticCache], clock: Clock) -> None:
    """None is no expiry, not the default."""
    cache = open_cache(ttl_seconds=1)
    cache.put(QUESTION, "A", ttl_seconds=None)

    clock.advance(10**9)

    assert isinstance(cache.lookup(QUESTION), Hit)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), "60", True])
def test_a_lifetime_that_cannot_be_is_an_error_that_names_it(
    open_cache: Callable[..., SemanticCache], ttl: Any
) -> None:
    """Zero does not mean for ever."""
    with pytest.raises(ValueError, match="ttl_seconds"):
        open_cache(ttl_seconds=ttl)
    with pytest.raises(ValueError, match="ttl_seconds"):
        open_cache().put(QUESTION, "A", ttl_seconds=ttl)


def test_a_clock_set_back_does_not_make_an_answer_immortal(
    open_cache: Callable[..., SemanticCache], clock: Clock
) -> None:
    """An entry from the future is dead."""
    cache = open_cache()
    cache.put(QUESTION, "A", ttl_seconds=10)

    clock.advance(-3600)

    assert isinstance(cache.lookup(QUESTION), Miss)


@pytest.mark.parametrize("text", [QUESTION, OTHER_WORDS])
def test_an_invalidated_tag_kills_what_depends_on_it_and_nothing_else(
    open_cache: Callable[..., SemanticCache], text: str
) -> None:
    """One counter moves; exact, near and semantic hits are gone at once."""
    cache = open_cache()
    cache.put(QUESTION, "A", depends_on=["kb:tax"])
    cache.put(QUESTION, "B", model="other", depends_on=["kb:law"])

    cache.invalidate("kb:tax")
    decision = cache.lookup(text)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.INVALIDATED
    assert isinstance(cache.lookup(text, model="other"), Hit)


def test_models_and_namespaces_are_invalidated_in_one_step(
    open_cache: Callable[..., SemanticCache],
) -> None:
    """Every entry depends on its model and its namespace."""
    cache = open_cache()
    cache.put(QUESTION, "A", model="m1", namespace="n1")
    cache.put(QUESTION, "B", model="m2", namespace="n2")

    cache.invalidate(model="m1")
    cache.invalidate(namespace="n2")

    assert isinstance(cache.lookup(QUESTION, model="m1", namespace="n1"), Miss)
    assert isinstance(cache.lookup(QUESTION, model="m2", namespace="n2"), Miss)


def test_a_call_that_began_before_an_invalidation_leaves_nothing_behind(
    open_cache: Callable[..., SemanticCache],
) -> None:
    """Its caller has the value; the cache stays empty."""
    cache = open_cache()

    @cache.cached(depends_on=["kb"])
    def ask(prompt: str) -> str:
        cache.invalidate("kb")
        return "old"

    assert ask(QUESTION) == "old"
    assert isinstance(ask.lookup(QUESTION), Miss)


def test_forgetting_a_semantic_hit_marks_the_pair_for_good(
    open_cache: Callable[..., SemanticCache],
) -> None:
    """The wrong answer goes, and the same two questions are never matched again."""
    cache = open_cache()
    cache.put(QUESTION, "A")
    hit = cache.lookup(OTHER_WORDS)
    assert isinstance(hit, Hit)

    assert cache.forget(hit)
    cache.put(QUESTION, "A again")
    decision = cache.lookup(OTHER_WORDS)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.FORGOTTEN
    assert isinstance(cache.lookup(QUESTION), Hit)


def test_what_is_near_in_meaning_is_purged_and_nothing_else(
    open_cache: Callable[..., SemanticCache],
) -> None:
    """Only entries of the prompt's scope at or above the cosine go."""
    cache = open_cache()
    cache.put(QUESTION, "A")
    cache.put(QUESTION, "B", model="another")

    assert cache.purge_similar(OTHER_WORDS, at_least=0.9) == 1
    assert isinstance(cache.lookup(QUESTION), Miss)
    assert isinstance(cache.lookup(QUESTION, model="another"), Hit)


@pytest.mark.parametrize("at_least", [-0.1, 1.1, float("nan")])
def test_a_cosine_that_cannot_be_is_an_error_that_names_it(
    at_least: float, open_cache: Callable[..., SemanticCache]
) -> None:
    """Nothing is purged by a slip of the keyboard."""
    with pytest.raises(ArgumentError, match="at_least"):
        open_cache().purge_similar(QUESTION, at_least=at_least)


def test_without_vectors_nothing_is_purged_by_meaning() -> None:
    """The error quotes the prompt and says what else there is."""
    with (
        SemanticCache(embedder=False) as cache,
        pytest.raises(EmbedderError, match=r"no vector: .*purge\(\)"),
    ):
        cache.purge_similar(QUESTION, at_least=0.9)


def test_forgetting_an_old_hit_spares_the_new_answer(
    open_cache: Callable[..., SemanticCache],
) -> None:
    """An entry id names one write."""
    cache = open_cache()
    cache.put(QUESTION, "bad")
    hit = cache.lookup(QUESTION)
    assert isinstance(hit, Hit)
    cache.put(QUESTION, "good")

    assert not cache.forget(hit)
    again = cache.lookup(QUESTION)

    assert isinstance(again, Hit)
    assert again.value == "good"


def test_a_stale_answer_is_served_while_one_caller_refreshes_it(
    open_cache: Callable[..., SemanticCache], clock: Clock
) -> None:
    """The first caller after the expiry makes the call, the others get the old answer."""
    cache = open_cache(config=Config(ttl_seconds=10, stale_seconds=60))
    model = Model()
    seen: list[str] = []

    @cache.cached()
    def ask(prompt: str) -> str:
        answer = model()
        if model.calls == 2:
            seen.append(ask(prompt="Which tax form do I file in spring?"))
        return answer

    assert ask(QUESTION) == "R1"
    clock.advance(11)
    first, decision = ask.decide(QUESTION)

    assert (first, seen) == ("R2", ["R1"])
    assert isinstance(decision, Miss)
    assert ask(QUESTION) == "R2"


def test_an_answer_is_not_served_stale_once_invalidated(
    open_cache: Callable[..., SemanticCache], clock: Clock
) -> None:
    """Stale is old, not wrong."""
    cache = open_cache(config=Config(stale_seconds=60))
    cache.put(QUESTION, "A", ttl_seconds=10, depends_on=["kb"])
    clock.advance(11)
    cache.lookup(QUESTION)

    cache.invalidate("kb")

    assert isinstance(cache.lookup(QUESTION), Miss)


def test_default_lifetimes_end_at_different_moments(clock: Clock) -> None:
    """Entries stored together do not all expire together; a lifetime given is kept exactly."""
    with SemanticCache(embedder=False, clock=clock, ttl_seconds=3600, seed=1) as cache:
        for n in range(20):
            cache.put(f"question number {n}?", n)
        ends = {entry.expires_at for entry in cache.entries()}

        assert len(ends) == 20
        assert all(0.95 * 3600 <= end - clock.now <= 3600 for end in ends if end is not None)
