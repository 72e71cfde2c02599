"""A size limit counts only part of what is kept, is hidden, or is met by throwing out the rest.

Promise: Memory, folder and indexes keep to documented bounds; what has no room is refused alone
Room: `semcache/store/memory.py`, `semcache/store/disk.py`, `semcache/store/ledger.py`
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from semcache import Hit, Refused, SemanticCache
from tests.fakes import Clock, Far, Model
from tests.faults.calls import call, decorate
from tests.faults.conftest import PATIENT

MEGABYTE = 1_000_000


def question(number: int) -> str:
    return f"What is so special about harbour number {number}?"


@pytest.mark.parametrize("on_disk", [False, True])
def test_b115_the_bound_holds_though_nothing_has_expired(on_disk: bool, tmp_path: Path) -> None:
    """Room for 100, a lifetime of a day, 1000 inserted: at most 100 in memory."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None,
        embedder=Far(),
        max_entries=100,
        ttl_seconds=timedelta(days=1),
        config=PATIENT,
    ) as cache:
        for start in range(0, 1000, 50):
            pairs = [(question(number), number) for number in range(start, start + 50)]
            cache.put_many(pairs, dynamic=False)
            assert cache.stats().store["memory_entries"] <= 100

        assert len(cache) == (1000 if on_disk else 100)


def test_b115_a_decorated_function_keeps_the_bound(kind: str) -> None:
    """The same for answers that are stored by the way."""
    with SemanticCache(embedder=Far(), max_entries=10, config=PATIENT) as cache:
        ask = decorate(kind, cache, Model(), dynamic=False)
        for number in range(40):
            call(kind, ask, question(number))

        assert len(cache) == 10


@pytest.fixture(params=["memory", "disk"])
def bounded(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A cache with room for 10 MB."""
    options: dict[str, Any] = {"max_bytes": 10 * MEGABYTE}
    if request.param == "disk":
        options |= {"directory": tmp_path / "c", "max_disk_bytes": 10 * MEGABYTE}
    with SemanticCache(embedder=False, config=PATIENT, **options) as cache:
        yield cache


def test_b116_large_values_stay_inside_the_limit(bounded: SemanticCache) -> None:
    """50 values of 1 MB, room for 10 MB: the newest are there."""
    for number in range(50):
        bounded.put(question(number), "x" * MEGABYTE, dynamic=False)

    found = [isinstance(bounded.lookup(question(n), dynamic=False), Hit) for n in range(50)]

    assert 5 <= sum(found) <= 10
    assert all(found[-5:])


def test_b116_an_oversize_value_is_refused_and_the_small_ones_survive(
    bounded: SemanticCache,
) -> None:
    """One value of 20 MB pushes nothing out, and its caller is told."""
    for number in range(8):
        bounded.put(question(number), "small", dynamic=False)

    outcome = bounded.put("How large is large?", "x" * 20 * MEGABYTE, dynamic=False)
    found = [bounded.lookup(question(n), dynamic=False) for n in range(8)]

    assert isinstance(outcome, Refused)
    assert all(isinstance(decision, Hit) for decision in found)
    assert not isinstance(bounded.lookup("How large is large?", dynamic=False), Hit)
    assert len(bounded._rooms.projections) == len(bounded) == 8


def test_b116_an_oversize_answer_is_given_and_not_kept(kind: str, bounded: SemanticCache) -> None:
    """The call works; the small ones survive here too."""
    bounded.put(question(1), "small", dynamic=False)
    ask = decorate(kind, bounded, lambda _prompt: "x" * 20 * MEGABYTE, dynamic=False)

    answer = call(kind, ask, "How large is large?")
    bounded.flush()

    assert len(answer) == 20 * MEGABYTE
    assert isinstance(bounded.lookup(question(1), dynamic=False), Hit)
    assert not isinstance(ask.lookup("How large is large?"), Hit)


def test_b116_the_limits_are_in_the_manual() -> None:
    """No hidden bound drops entries."""
    manual = SemanticCache.__doc__ or ""

    assert "max_disk_bytes" in manual
    assert "2 GiB" in manual
    assert "256 MiB" in manual


def test_the_folder_keeps_near_its_bound_whatever_comes_in_at_once(tmp_path: Path) -> None:
    """One batch of ten times the bound: neither the file nor SQLite's log grows to hold it."""
    folder = tmp_path / "c"
    bound = 2 * MEGABYTE
    with SemanticCache(folder, embedder=False, max_disk_bytes=bound, config=PATIENT) as cache:
        pairs = [(question(number), "x" * 100_000) for number in range(200)]

        cache.put_many(pairs, dynamic=False)
        cache.put(question(200), "small", dynamic=False)
        size = sum(file.stat().st_size for file in folder.iterdir())
        kept = cache.stats().store["disk_bytes"]

    assert 0.8 * bound < kept <= bound
    assert size < 2 * bound + 10 * MEGABYTE


def test_indexes_hold_nothing_that_found_no_room(kind: str) -> None:
    """Pinned entries fill the cache, and each call is of a scope that nobody searches again."""
    with SemanticCache(embedder=Far(), max_entries=5, config=PATIENT) as cache:
        for number in range(5):
            cache.put(question(number), number, pinned=True, dynamic=False)
        ask = decorate(kind, cache, Model(), dynamic=False)

        answers = [call(kind, ask, "Who is it?", seed=number) for number in range(20)]
        cache.flush()

        assert answers == [f"R{number}" for number in range(1, 21)]
        assert len(cache._rooms.projections) == len(cache) == 5


def test_tags_weigh_as_answers_do() -> None:
    """A hundred kilobytes of tags on each of fifty answers do not fit into a megabyte."""
    with SemanticCache(embedder=False, max_bytes=MEGABYTE, config=PATIENT) as cache:
        for number in range(50):
            tags = [f"document {number}/{part} {'x' * 80}" for part in range(1000)]
            cache.put(question(number), "small", depends_on=tags, dynamic=False)

        assert 1 <= len(cache) <= 10


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_batch_is_told_what_found_no_room(on_disk: bool, tmp_path: Path) -> None:
    """Those that are reported as stored are there, and no others."""
    options: dict[str, Any] = {"max_entries": 10} if not on_disk else {"max_disk_bytes": 20_000}
    with SemanticCache(
        tmp_path / "c" if on_disk else None, embedder=False, config=PATIENT, **options
    ) as cache:
        pairs = [(question(number), "x" * 1000) for number in range(40)]

        outcomes = cache.put_many(pairs, dynamic=False)
        found = [isinstance(cache.lookup(text, dynamic=False), Hit) for text, _ in pairs]

    assert [not isinstance(outcome, Refused) for outcome in outcomes] == found
    assert 5 <= sum(found) <= 15


def test_a_smaller_bound_holds_from_the_moment_of_opening(tmp_path: Path) -> None:
    """A folder that was filled under a larger one is cut to size, the oldest going first."""
    folder = tmp_path / "c"
    with SemanticCache(folder, embedder=False, config=PATIENT) as cache:
        cache.put_many([(question(n), "x" * 10_000) for n in range(50)], dynamic=False)

    with SemanticCache(folder, embedder=False, max_disk_bytes=100_000, config=PATIENT) as cache:
        sizes = len(cache), len(cache._rooms.projections)
        kept = cache.stats().store["disk_bytes"]
        oldest, newest = (cache.lookup(question(n), dynamic=False) for n in (0, 49))

    assert sizes == (9, 9)
    assert kept <= 100_000
    assert not isinstance(oldest, Hit)
    assert isinstance(newest, Hit)


def test_what_has_expired_goes_before_what_is_pinned_or_alive() -> None:
    """Dead weight makes room first, however recently it was asked for."""
    clock = Clock()
    with SemanticCache(embedder=False, max_entries=3, clock=clock, config=PATIENT) as cache:
        cache.put(question(0), 0, ttl_seconds=100, dynamic=False)
        cache.put(question(1), 1, ttl_seconds=10, pinned=True, dynamic=False)
        cache.put(question(2), 2, ttl_seconds=100, dynamic=False)
        clock.advance(10)

        cache.put(question(3), 3, dynamic=False)
        found = [isinstance(cache.lookup(question(n), dynamic=False), Hit) for n in range(4)]

    assert found == [True, False, True, True]
