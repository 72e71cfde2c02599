"""Index and store disagree: deleted, evicted or expired entries are found, live ones are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semcache import Hit, Miss, SemanticCache, Tier
from semcache.index.faiss import FaissIndex
from semcache.index.scoped import ScopedIndex
from tests.fakes import Clock, Far, Same
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"


def question(number: int) -> str:
    return f"What is so special about harbour number {number}?"


@pytest.mark.parametrize("how", ["remove", "purge", "forget", "clear"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_b094_a_deleted_entry_is_never_returned(how: str, on_disk: bool, tmp_path: Path) -> None:
    """However it was taken out, in any tier, and its vector's room comes back."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None, embedder=Same(), guards=(), config=PATIENT
    ) as cache:
        cache.put("Describe a green tent", "T", model="other")
        kept = cache.stats().store["vector_bytes"]
        cache.put(QUESTION, "A", namespace="n")
        found = cache.lookup(QUESTION, namespace="n")
        assert isinstance(found, Hit)

        match how:
            case "remove":
                cache.remove(QUESTION, namespace="n")
            case "purge":
                cache.purge(lambda entry: entry.text == QUESTION)
            case "forget":
                cache.forget(found)
            case _:
                cache.clear("n")

        for text in (QUESTION, NEAR, REWORDED):
            assert isinstance(cache.lookup(text, namespace="n"), Miss)
        assert cache.stats().store["vector_bytes"] == kept


@pytest.mark.parametrize("on_disk", [False, True])
def test_b095_a_full_cache_still_finds_the_last(on_disk: bool, tmp_path: Path) -> None:
    """Room for 5, 20 inserted: index and store agree after each, and the last five hit."""
    bound = {"max_disk_bytes": 64 * 1024} if on_disk else {"max_entries": 5}
    value = "x" * (8 * 1024 if on_disk else 1)
    with SemanticCache(
        tmp_path / "c" if on_disk else None,
        embedder=Far(),
        config=PATIENT,
        **bound,  # type: ignore[arg-type]  # one keyword of two
    ) as cache:
        for number in range(20):
            cache.put(question(number), f"{number}{value}", dynamic=False)
            assert len(cache._rooms.projections) == len(cache)
        last = [
            cache.lookup(text, dynamic=False)
            for number in range(15, 20)
            for text in (question(number), question(number).lower())
        ]

        assert len(cache) < 20
        assert all(isinstance(decision, Hit) for decision in last)


def test_b095_a_decorated_function_keeps_index_and_store_in_step() -> None:
    """The same for answers that are stored by the way."""
    with SemanticCache(embedder=Far(), max_entries=5, config=PATIENT) as cache:

        @cache.cached(dynamic=False)
        def ask(prompt: str) -> str:
            return prompt.upper()

        for number in range(20):
            ask(question(number))
            assert len(cache._rooms.projections) == len(cache)
        last = [ask.lookup(question(number)) for number in range(15, 20)]

    assert all(isinstance(decision, Hit) for decision in last)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("dead", [1, 20])
def test_b097_dead_entries_do_not_hide_a_live_one(
    dead: int, on_disk: bool, tmp_path: Path, clock: Clock
) -> None:
    """However many of them come first; and they are dropped from the index."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None, embedder=Same(), guards=(), clock=clock, config=PATIENT
    ) as cache:
        for number in range(dead):
            cache.put(question(number), "dead", ttl_seconds=1, dynamic=False)
        cache.put("Describe a green tent", "live", ttl_seconds=1000)
        clock.advance(10)

        found = [cache.lookup(question(0), dynamic=False) for _ in range(3)][-1]

        assert isinstance(found, Hit)
        assert found.value == "live"
        assert len(cache._rooms.projections) == 1


@pytest.mark.parametrize("stored", [0, 1])
def test_b098_more_neighbours_asked_for_than_there_are(stored: int) -> None:
    """k=5 on an index with no vectors and with one: no row is made up."""
    vector = np.eye(8, dtype=np.float32)[0]
    flat, scoped = FaissIndex(8), ScopedIndex(8)
    for number in range(stored):
        flat.add(bytes([number]), vector)
        scoped.add(b"s", bytes([number]), vector[None])

    expected = [(bytes([number]), 1.0) for number in range(stored)]

    assert flat.search(vector, 5) == expected
    assert scoped.search(b"s", vector[None], 5) == expected


@pytest.mark.parametrize("stored", [0, 1])
def test_b098_the_cache_finds_what_there_is(stored: int, same: SemanticCache) -> None:
    """Also after the only vector was taken out."""
    same.put(QUESTION, "A")
    if not stored:
        same.remove(QUESTION)

    found = same.lookup(REWORDED)

    assert isinstance(found, Hit if stored else Miss)
    assert not isinstance(found, Hit) or found.tier is Tier.SEMANTIC
