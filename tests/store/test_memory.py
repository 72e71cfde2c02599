"""Memory: who stays and who goes when there is too much."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.errors import ArgumentError
from semcache.store.memory import MemoryStore
from tests.contracts.store import make_entry
from tests.fakes import Clock


def names(store: MemoryStore) -> set[str]:
    return {entry.text for entry in store.scan()}


def small(**changes: Any) -> MemoryStore:
    settings: dict[str, Any] = {"max_entries": 3, "max_bytes": 10**6, "clock": Clock()}
    return MemoryStore(**(settings | changes))


def test_the_least_recently_used_goes_first() -> None:
    """A look-up moves an entry to the front."""
    store = small()
    store.put([make_entry("a"), make_entry("b"), make_entry("c")])
    store.get(make_entry("a").key)

    dropped = store.put([make_entry("d")])

    assert dropped == (make_entry("b").key,)
    assert names(store) == {"a", "c", "d"}


def test_the_bound_of_entries_holds_for_long_lifetimes() -> None:
    """Entries that are far from expiring are evicted all the same."""
    store = small(max_entries=100)

    store.put([make_entry(str(n), expires_at=1_700_086_400.0) for n in range(1000)])

    assert len(store) == 100
    assert store.get(make_entry("999").key) is not None


def test_the_bound_of_bytes_holds() -> None:
    """The sum of sizes never exceeds the bound, and follows overwrites and deletes."""
    size = make_entry("a").size_bytes
    store = small(max_entries=100, max_bytes=3 * size)

    store.put([make_entry(name) for name in "abcd"])
    assert (names(store), store.size_bytes) == ({"b", "c", "d"}, 3 * size)

    store.put([make_entry("b")])
    store.delete([make_entry("c").key])
    assert store.size_bytes == 2 * size


def test_fifty_small_ones_survive_a_huge_one() -> None:
    """A value larger than the bound is refused and pushes nothing out."""
    store = small(max_entries=100, max_bytes=100_000)
    store.put([make_entry(str(n), answer="x" * 500) for n in range(50)])

    store.put([make_entry("huge", answer="x" * 200_000)])

    assert len(store) == 50


def test_expired_entries_go_before_live_ones() -> None:
    """However recently they were used."""
    clock = Clock()
    store = small(clock=clock)
    store.put([make_entry("live"), make_entry("dead", expires_at=clock() + 10)])
    store.put([make_entry("other")])
    clock.advance(11)
    store.get(make_entry("dead").key)

    store.put([make_entry("new")])

    assert names(store) == {"live", "other", "new"}


def test_the_grace_counts_as_life() -> None:
    """An entry inside its grace is not dropped as expired."""
    clock = Clock()
    store = small(clock=clock, grace_seconds=60.0)
    store.put([make_entry("live"), make_entry("stale", expires_at=clock() + 10)])
    store.put([make_entry("other")])
    clock.advance(11)

    store.put([make_entry("new")])

    assert names(store) == {"stale", "other", "new"}


def test_an_overwritten_expiry_is_forgotten() -> None:
    """The old lifetime of a renewed entry does not get it dropped."""
    clock = Clock()
    store = small(clock=clock)
    store.put([make_entry("a", expires_at=clock() + 10), make_entry("b")])
    store.put([make_entry("c"), make_entry("a", answer="new")])
    clock.advance(11)

    store.put([make_entry("d")])

    assert names(store) == {"a", "c", "d"}


def test_pinned_entries_go_last() -> None:
    """They outlive every other entry, but not the bound."""
    store = small()
    store.put([make_entry("p1", pinned=True), make_entry("p2", pinned=True)])
    store.put([make_entry("a"), make_entry("b")])
    assert names(store) == {"p1", "p2", "b"}

    store.put([make_entry("p3", pinned=True), make_entry("p4", pinned=True)])

    assert names(store) == {"p2", "p3", "p4"}


def test_unpinning_by_overwrite_counts() -> None:
    """An entry is in one order only."""
    store = small()
    store.put([make_entry("a", pinned=True), make_entry("b"), make_entry("c")])
    store.put([make_entry("a")])

    store.put([make_entry("d"), make_entry("e"), make_entry("f")])

    assert names(store) == {"d", "e", "f"}


def test_the_heap_of_expiries_stays_small() -> None:
    """Rewriting one key for ever does not grow anything."""
    store = small()

    for number in range(1000):
        store.put([make_entry("a", answer=str(number), expires_at=1_800_000_000.0)])

    assert len(store._expiries) < 200


@pytest.mark.parametrize("changes", [{"max_entries": 0}, {"max_bytes": 0}], ids=str)
def test_a_bound_that_holds_nothing_is_an_error(changes: dict[str, int]) -> None:
    """The error names the argument."""
    with pytest.raises(ArgumentError, match=next(iter(changes))):
        small(**changes)
