"""Parameters beside the messages are left out of the key: length, sampling, schema, unknown."""

from __future__ import annotations

from typing import Any

import pytest

from semcache import SemanticCache
from tests.faults.calls import replies_to

PROMPT = "Describe a green tent"


def schema(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    return {"type": "json_schema", "json_schema": {"type": "object", "properties": properties}}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ({"max_tokens": 16}, {"max_tokens": 400}),
        ({}, {"logit_bias": {"50256": -100}}),
        ({"seed": 1}, {"seed": 2}),
    ],
)
def test_b022_limits_biases_and_seeds_count(
    kind: str, apart: SemanticCache, stored: dict[str, Any], asked: dict[str, Any]
) -> None:
    """Equal messages under other parameters are another call."""
    assert replies_to(kind, apart, PROMPT, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ({"temperature": 0}, {"temperature": 1}),
        ({"top_p": 0.1}, {"top_p": 0.9}),
    ],
)
def test_b023_sampling_parameters_count(
    kind: str, apart: SemanticCache, stored: dict[str, Any], asked: dict[str, Any]
) -> None:
    """The second call does not return the first answer."""
    assert replies_to(kind, apart, PROMPT, stored, asked, stored) == ["R1", "R2", "R1"]


def test_b025_a_hit_never_breaks_the_schema_asked_for(kind: str, apart: SemanticCache) -> None:
    """Another answer schema is another call."""
    value = {"response_format": schema("value")}
    parts = {"response_format": schema("colour", "poles")}

    assert replies_to(kind, apart, PROMPT, value, parts, value) == ["R1", "R2", "R1"]


def test_b026_a_keyword_nobody_has_heard_of_counts(kind: str, apart: SemanticCache) -> None:
    """Unknown parameters are in the key by default."""
    small, big = {"extra_window": 2048}, {"extra_window": 8192}

    assert replies_to(kind, apart, PROMPT, small, big, small) == ["R1", "R2", "R1"]


def test_b026_leaving_one_out_needs_an_ignore_list(kind: str, apart: SemanticCache) -> None:
    """Only what is named there does not count."""
    small, big = {"extra_window": 2048}, {"extra_window": 8192}

    answers = replies_to(kind, apart, PROMPT, small, big, ignore=["extra_window"])

    assert answers == ["R1", "R1"]
