"""A word that reverses the question barely moves the vector, so the old answer is served."""

from __future__ import annotations

import pytest

from semcache import Miss, SemanticCache, SentenceTransformerEmbedder
from tests.faults.calls import replies
from tests.faults.conftest import PATIENT

ON = "How do I switch on two-step login for my account?"
OFF = "How do I switch off two-step login for my account?"


@pytest.mark.model
def test_b001_switching_on_does_not_answer_switching_off(kind: str, real: SemanticCache) -> None:
    """The opposite question is a call of its own."""
    assert replies(kind, real, ON, OFF, ON) == ["R1", "R2", "R1"]


@pytest.mark.model
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_b001_no_threshold_lets_the_opposite_in(
    threshold: float, minilm: SentenceTransformerEmbedder
) -> None:
    """Whatever number a tuner might propose, the veto stands."""
    with SemanticCache(embedder=minilm, threshold=threshold, config=PATIENT) as cache:
        cache.preload(60)
        cache.put(ON, "under Settings", dynamic=False)

        decision = cache.lookup(OFF, dynamic=False)

    assert isinstance(decision, Miss)
    assert decision.nearest is not None


@pytest.mark.model
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Is the warehouse door locked at night?", "Is the warehouse door unlocked at night?"),
        ("Does the coupon stack with sales?", "Does the coupon not stack with sales?"),
    ],
)
def test_b002_an_exact_reversal_is_a_miss(
    kind: str, real: SemanticCache, stored: str, asked: str
) -> None:
    """A prefix or a "not" is enough."""
    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.xfail(raises=ImportError, strict=True, reason="due with the evaluation set")
def test_b002_the_evaluation_set_reports_opposites_on_a_line_of_their_own() -> None:
    """A false-hit rate of opposites cannot hide in a total."""
    from semcache import evaluate

    assert "opposite" in str(evaluate.report())


@pytest.mark.model
def test_b004_a_negated_line_is_labelled_anew(kind: str, real: SemanticCache) -> None:
    """The label of a sentence is not the label of its negation."""
    stored = "Label this line: The parcel is a gift."
    asked = "Label this line: The parcel is not a gift."

    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.xfail(raises=ImportError, strict=True, reason="due with the threshold tuner")
def test_b005_the_tuner_says_when_no_threshold_reaches_the_precision() -> None:
    """It proposes to switch the semantic tier off; it never returns the least bad number."""
    from semcache.evaluate import tune  # type: ignore[import-not-found]  # the room to come

    assert tune("tests/data/hard-pairs.jsonl", precision=0.99).threshold is None
