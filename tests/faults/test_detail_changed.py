"""One number, place, product or identifier differs in a long question, and the answer with it."""

from __future__ import annotations

import pytest

from semcache import Hit, Miss, SemanticCache
from tests.faults.calls import replies


@pytest.mark.model
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("What is 48 + 27?", "What is 48 + 72?"),
        ("Solve 3x = 12", "Solve 3x = 21"),
    ],
)
def test_b007_a_differing_number_is_a_miss(
    kind: str, real: SemanticCache, stored: str, asked: str
) -> None:
    """The digits of a sum are its meaning."""
    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("What is 48 + 27?", "What is 48 + 72?"),
        ("Solve 3x = 12", "Solve 3x = 21"),
    ],
)
def test_b007_a_differing_number_is_a_miss_at_any_similarity(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """It does not rest on the vectors."""
    judged.put(stored, "A")

    assert isinstance(judged.lookup(asked), Miss)


def test_b007_equal_values_are_one_number(judged: SemanticCache) -> None:
    """1,000 and 1000 differ in writing only."""
    judged.put("How many days are 1,000 hours?", "41.7")

    assert isinstance(judged.lookup("How many days are 1000 hours?"), Hit)


@pytest.mark.model
def test_b008_another_country_is_a_miss(kind: str, real: SemanticCache) -> None:
    """One region's policy is not another's."""
    stored = "How long is the warranty on kettles sold in Norway?"
    asked = "How long is the warranty on kettles sold in Mexico?"

    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.model
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (
            "What does --dry-run do in our deploy tool?",
            "What does --dry-lint do in our deploy tool?",
        ),
        ("How do I drop this column?", "How do I drop this table?"),
        ("What is in src/api/users?", "What is in src/api/orders?"),
        ('Explain the error "disk full"', 'Explain the error "disk fault"'),
    ],
)
def test_b010_flags_paths_and_names_are_compared_literally(
    kind: str, real: SemanticCache, stored: str, asked: str
) -> None:
    """Two identifiers that look alike are two things."""
    assert replies(kind, real, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


@pytest.mark.model
def test_b011_closing_an_account_does_not_answer_cancelling_a_card(
    kind: str, real: SemanticCache
) -> None:
    """Two bank questions of one pattern are far apart at the default."""
    stored, asked = "How do I close my savings pot?", "How do I cancel my debit card?"

    assert replies(kind, real, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


@pytest.mark.xfail(raises=ImportError, strict=True, reason="due with the evaluation set")
def test_b011_the_evaluation_prints_false_hits_per_threshold() -> None:
    """So that 0.70 is visibly bad."""
    from semcache import evaluate

    rows = evaluate.sweep(thresholds=[0.70, 0.80, 0.85, 0.90])

    assert rows[0].false_hits > rows[-1].false_hits
