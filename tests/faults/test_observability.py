"""Hits on the streaming path are not counted, or arrive without their details."""

from __future__ import annotations

import pytest

from semcache import Hit, SemanticCache
from tests.fakes import Clock, Model
from tests.faults.calls import call, decide, decorate

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"
TIERS = {"exact": QUESTION, "near-duplicate": NEAR, "semantic": REWORDED}


@pytest.mark.parametrize("tier", TIERS)
def test_b157_a_hit_is_counted_once_with_its_tier(
    kind: str, tier: str, same: SemanticCache
) -> None:
    """Streams like all others; the miss before it is counted once, too."""
    ask = decorate(kind, same, Model())
    call(kind, ask, QUESTION)

    call(kind, ask, TIERS[tier])
    stats = same.stats()

    assert stats.hits == {tier: 1}
    assert sum(stats.misses.values()) == 1
    assert stats.lookups == 2
    assert stats.latency[tier].count == 1
    assert stats.stored == 1


@pytest.mark.parametrize("tier", TIERS)
def test_b158_a_hit_shows_where_it_came_from(
    kind: str, tier: str, same: SemanticCache, clock: Clock
) -> None:
    """Tier, score, age and entry id, whatever the kind of function."""
    ask = decorate(kind, same, Model())
    call(kind, ask, QUESTION)
    clock.advance(5)

    decision = decide(kind, ask, TIERS[tier])

    assert isinstance(decision, Hit)
    assert decision.tier.value == tier
    assert decision.score == pytest.approx(1.0)
    assert decision.age_seconds == 5
    entry = same.get(decision.entry_id)
    assert entry is not None
    assert entry.text == QUESTION
