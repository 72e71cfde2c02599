"""A size limit is ignored, hidden, or met by throwing out everything else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from semcache import Hit, Refused, SemanticCache
from tests.fakes import Far, Model
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
