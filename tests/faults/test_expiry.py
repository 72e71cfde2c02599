"""What has expired is still found, and lifetimes mean something else than they say."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from semcache import Hit, Miss, Reason, SemanticCache
from tests.fakes import Clock, Model
from tests.faults.calls import call, decorate

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
