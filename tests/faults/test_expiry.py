"""An expired answer is still found by some tier, a hit keeps a wrong one alive, or seconds are not.

Promise: No answer is served at or after its expiry, and no hit moves that unless asked, to a cap
Room: `semcache/entry.py`, `semcache/walk.py`, `semcache/writer.py`
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache import Config, Hit, Miss, Reason, SemanticCache
from tests.fakes import Clock, Far, Model, Same
from tests.faults.calls import call, decorate
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"


@pytest.mark.parametrize("text", [QUESTION, NEAR, REWORDED])
def test_b109_an_expired_entry_wins_no_search(
    kind: str, text: str, same: SemanticCache, clock: Clock
) -> None:
    """Though nothing has purged it."""
    ask = decorate(kind, same, Model(), ttl_seconds=1)
    call(kind, ask, QUESTION)

    clock.advance(1.1)
    decision = ask.lookup(text)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.EXPIRED
    assert call(kind, ask, text) == "R2"


@pytest.mark.parametrize("ttl", [2, 2.0, timedelta(seconds=2)])
def test_b110_lifetimes_are_seconds(kind: str, ttl: Any, far: SemanticCache, clock: Clock) -> None:
    """Present after one second, gone after three; a timedelta is accepted."""
    ask = decorate(kind, far, Model(), ttl_seconds=ttl)
    call(kind, ask, QUESTION)

    clock.advance(1)
    early = call(kind, ask, QUESTION)
    clock.advance(2)

    assert (early, call(kind, ask, QUESTION)) == ("R1", "R2")


def test_b112_hits_do_not_renew_a_lifetime(kind: str, far: SemanticCache, clock: Clock) -> None:
    """A hit every five seconds for a minute: the answer is gone after ten."""
    ask = decorate(kind, far, Model(), ttl_seconds=10)

    answers = []
    for _ in range(13):
        answers.append(call(kind, ask, QUESTION))
        clock.advance(5)

    assert answers == [f"R{n // 2 + 1}" for n in range(13)]


@pytest.mark.parametrize("ttl", [0, -1, math.nan])
def test_b113_zero_negative_and_not_a_number_are_errors(far: SemanticCache, ttl: float) -> None:
    """They do not mean for ever: nothing is stored."""
    with pytest.raises(ValueError, match="ttl_seconds"):
        far.put(QUESTION, "A", ttl_seconds=ttl)
    with pytest.raises(ValueError, match="ttl_seconds"):
        far.cached(ttl_seconds=ttl)

    assert len(far) == 0


@pytest.mark.parametrize("ttl", [None, math.inf])
def test_b113_none_and_infinity_never_expire(
    kind: str, ttl: float | None, far: SemanticCache, clock: Clock
) -> None:
    """A century later it is there."""
    ask = decorate(kind, far, Model(), ttl_seconds=ttl)
    call(kind, ask, QUESTION)

    clock.advance(100 * 366 * 24 * 3600)

    assert call(kind, ask, QUESTION) == "R1"
    assert isinstance(ask.lookup(QUESTION), Hit)


class Slow(Same):
    """An embedder during whose work time passes."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.clock.advance(self.seconds)
        return super().embed(texts)


def test_an_answer_that_expires_while_the_prompt_is_embedded_is_missed(clock: Clock) -> None:
    """The moment of serving counts, not the moment at which the look-up began."""
    embedder = Slow(clock)
    with SemanticCache(
        embedder=embedder, threshold=0.9, guards=(), clock=clock, config=PATIENT
    ) as cache:
        cache.put(QUESTION, "A", ttl_seconds=10)

        embedder.seconds = 9.0
        early = cache.lookup(REWORDED)
        embedder.seconds = 1.0
        late = cache.lookup(REWORDED)

    assert isinstance(early, Hit)
    assert isinstance(late, Miss)
    assert late.reason is Reason.EXPIRED


def test_an_answer_that_replaces_a_hit_outside_the_served_share_is_as_perishable(
    kind: str, clock: Clock
) -> None:
    """What is decided and not served is called anew and keeps its short lifetime."""
    config = replace(PATIENT, perishable_ttl_seconds=60.0, serve_share=0.0)
    with SemanticCache(embedder=Far(), threshold=0.95, clock=clock, config=config) as cache:
        ask = decorate(kind, cache, Model())

        answers = [call(kind, ask, "What is the newest version of Python?") for _ in range(2)]
        (entry,) = cache.entries()

    assert answers == ["R1", "R2"]
    assert entry.expires_at is not None
    assert entry.expires_at - clock.now <= 60


def test_hits_renew_a_lifetime_only_where_asked_and_never_past_the_cap(
    kind: str, far: SemanticCache, clock: Clock
) -> None:
    """Asked for every four seconds, an answer of ten seconds lives for twenty-five, no longer."""
    ask = decorate(kind, far, Model(), ttl_seconds=10, renew_up_to_seconds=25)

    answers = []
    for _ in range(8):
        answers.append(call(kind, ask, QUESTION))
        clock.advance(4)

    assert answers == ["R1"] * 7 + ["R2"]


def test_an_answer_that_nobody_asks_for_dies_on_time_though_it_could_be_renewed(
    kind: str, far: SemanticCache, clock: Clock
) -> None:
    """Only a hit renews, and what has expired is not renewed by being asked for."""
    ask = decorate(kind, far, Model(), ttl_seconds=10, renew_up_to_seconds=100)
    call(kind, ask, QUESTION)

    clock.advance(10)

    assert isinstance(ask.lookup(QUESTION), Miss)
    assert isinstance(ask.lookup(QUESTION), Miss)
    assert call(kind, ask, QUESTION) == "R2"


def test_explaining_renews_nothing(same: SemanticCache, clock: Clock) -> None:
    """What is not served is not used; what is served in other words is."""
    same.put(QUESTION, "A", ttl_seconds=10, renew_up_to_seconds=100)
    clock.advance(5)

    same.explain(QUESTION)
    (before,) = same.entries()
    same.lookup(REWORDED)
    (after,) = same.entries()

    assert before.expires_at == clock.now + 5
    assert after.expires_at == clock.now + 10


def test_a_renewal_survives_a_restart_and_is_seen_by_others(tmp_path: Path, clock: Clock) -> None:
    """One opened beside and one opened later both serve the answer, up to the cap."""
    folder = tmp_path / "c"

    def open_one() -> SemanticCache:
        return SemanticCache(folder, embedder=Far(), clock=clock, config=PATIENT)

    with open_one() as one, open_one() as beside:
        one.put(QUESTION, "A", ttl_seconds=10, renew_up_to_seconds=25)
        beside.lookup(QUESTION)
        clock.advance(8)
        one.lookup(QUESTION)
        one.flush()
        clock.advance(8)
        seen = beside.lookup(QUESTION)
    with open_one() as later:
        clock.advance(8)
        restarted = later.lookup(QUESTION)
        clock.advance(1)
        capped = later.lookup(QUESTION)

    assert isinstance(seen, Hit)
    assert isinstance(restarted, Hit)
    assert isinstance(capped, Miss)


def test_a_thousand_hits_are_written_down_ten_times_a_lifetime(
    tmp_path: Path, clock: Clock
) -> None:
    """The journal does not grow with the traffic."""
    with SemanticCache(tmp_path / "c", embedder=False, clock=clock, config=PATIENT) as cache:
        disk = cache._rooms.disk
        assert disk is not None
        cache.put(QUESTION, "A", ttl_seconds=1000, renew_up_to_seconds=10**6)
        before = disk._database._generation.sequence

        for _ in range(1000):
            clock.advance(1)
            assert isinstance(cache.lookup(QUESTION), Hit)
            cache.flush()

        assert disk._database._generation.sequence - before == 10


@pytest.mark.parametrize("end", ["expired", "invalidated", "forgotten", "removed by another"])
def test_a_renewal_brings_nothing_back(tmp_path: Path, clock: Clock, end: str) -> None:
    """A hit was served, and before its renewal was written down the answer came to its end."""
    folder = tmp_path / "c"
    with (
        SemanticCache(folder, embedder=Far(), clock=clock, config=PATIENT) as cache,
        SemanticCache(folder, embedder=Far(), clock=clock, config=PATIENT) as other,
    ):
        cache.put(QUESTION, "A", ttl_seconds=10, renew_up_to_seconds=100, depends_on=["kb"])
        clock.advance(9)
        hit = cache.preview(cache.open(QUESTION))  # type: ignore[arg-type]  # a Handle
        assert isinstance(hit, Hit)

        match end:
            case "expired":
                clock.advance(1)
            case "invalidated":
                cache.invalidate("kb")
            case "forgotten":
                cache.forget(hit)
            case _:
                other.remove(QUESTION)
        cache.count(hit)
        cache.flush()

        for one in (cache, other):
            assert isinstance(one.lookup(QUESTION), Miss)
        ends = [entry.expires_at for entry in cache.entries()]
        assert ends in ([], [1_700_000_010.0])


def test_the_ceiling_of_all_lifetimes_bounds_renewals_too(clock: Clock) -> None:
    """Whoever set `max_ttl_seconds` meant every answer."""
    config = replace(PATIENT, max_ttl_seconds=15.0, renew_up_to_seconds=1000.0)
    with SemanticCache(embedder=Far(), clock=clock, config=config) as cache:
        cache.put(QUESTION, "A", ttl_seconds=10)

        clock.advance(9)
        early = cache.lookup(QUESTION)
        clock.advance(6)
        late = cache.lookup(QUESTION)

    assert isinstance(early, Hit)
    assert isinstance(late, Miss)


@pytest.mark.parametrize("cap", [0, -1, math.nan, math.inf, "60", True])
def test_a_cap_that_is_none_is_an_error_that_names_it(far: SemanticCache, cap: Any) -> None:
    """Renewal for ever is not on offer."""
    for use in (far.cached, Config):
        with pytest.raises(ValueError, match="renew_up_to_seconds"):
            use(renew_up_to_seconds=cap)
    with pytest.raises(ValueError, match="renew_up_to_seconds"):
        far.put(QUESTION, "A", renew_up_to_seconds=cap)

    assert len(far) == 0
