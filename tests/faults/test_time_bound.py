"""Prompts that are bound to a moment, a conversation or a person are cached for everybody."""

from __future__ import annotations

import pytest

from semcache import Bypass, Reason, SemanticCache
from tests.faults.calls import decide, decorate, replies


@pytest.mark.parametrize("prompt", ["Any trains delayed this evening?", "tell me more about that"])
def test_b145_time_bound_and_follow_up_prompts_are_kept_out(
    kind: str, same: SemanticCache, prompt: str
) -> None:
    """Neither stored nor served, though an answer that fits is there."""
    same.put("Describe a green tent", "A")

    answers = replies(kind, same, prompt, prompt)
    decision = decide(kind, decorate(kind, same, lambda prompt: prompt), prompt)

    assert answers == ["R1", "R2"]
    assert isinstance(decision, Bypass)
    assert decision.reason is Reason.DYNAMIC
    assert len(same) == 1


def test_b146_a_personal_balance_is_not_shared(kind: str, same: SemanticCache) -> None:
    """Two callers, two wordings: two calls."""
    answers = replies(
        kind, same, "How many loyalty points do I have?", "What is my loyalty point balance?"
    )

    assert answers == ["R1", "R2"]
    assert len(same) == 0
