"""Dicts, sets, arrays and functions as arguments crash the key or are dropped from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from semcache import SemanticCache
from tests.faults.calls import replies_to

PROMPT = "Describe a green tent"


@dataclass
class User:
    """Somebody."""

    id: int
    tags: list[str] = field(default_factory=list)


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: {"id": 7, "tags": ["a"]}, {"id": 7, "tags": ["b"]}),
        (lambda: {"a", "b", 3}, {"a", "b"}),
        (lambda: User(7, ["a"]), User(7, ["b"])),
        (lambda: np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)),
        (lambda: [{"x": (1, {2})}], [{"x": (1, {3})}]),
    ],
    ids=["dict", "set", "dataclass", "array", "nested"],
)
def test_b049_arguments_count_by_value(
    kind: str, apart: SemanticCache, make: Any, other: Any
) -> None:
    """Equal values made anew hit, other values do not."""
    users = [{"user": value} for value in (make(), make(), other)]

    assert replies_to(kind, apart, PROMPT, *users) == ["R1", "R1", "R2"]


def upper(text: str) -> str:
    return text.upper()


def lower(text: str) -> str:
    return text.lower()


def shouting(mark: str) -> Any:
    def shout(text: str) -> str:
        return text + mark

    return shout


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (upper, lower),
        (str.upper, str.lower),
        (lambda text: text.upper(), lambda text: text.lower()),
        (shouting("!"), shouting("?")),
    ],
    ids=["functions", "methods", "lambdas", "closures"],
)
def test_b050_calls_with_different_functions_never_share_an_answer(
    kind: str, apart: SemanticCache, one: Any, other: Any
) -> None:
    """A stable name counts; what has none makes the call uncached."""
    first, second = replies_to(kind, apart, PROMPT, {"formatter": one}, {"formatter": other})

    assert first != second


def test_b050_a_function_with_a_stable_name_hits(kind: str, apart: SemanticCache) -> None:
    """A module-level function is known by its name."""
    formatter = {"formatter": upper}

    assert replies_to(kind, apart, PROMPT, formatter, formatter) == ["R1", "R1"]
