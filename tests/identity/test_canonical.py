"""Canonical bytes: equal arguments share them, different ones never do, none holds an address."""

from __future__ import annotations

import datetime as dt
import enum
import functools
import threading
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from semcache.canonical import canonical_bytes, digest
from semcache.errors import ValueFormError

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
)
nested = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """Give a value in a form whose `==` tells apart exactly what canonical bytes must."""
    if isinstance(value, dict):
        return ("dict", frozenset((k, shape(v)) for k, v in value.items()))
    if isinstance(value, list):
        return ("list", tuple(shape(v) for v in value))
    kind = "number" if isinstance(value, int | float) and not isinstance(value, bool) else None
    return (kind or type(value).__name__, value)


@dataclass
class Point:
    x: int
    y: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Model(BaseModel):
    name: str
    size: int = 1


class Settings:
    def __init__(self, temperature: float) -> None:
        self.temperature = temperature


class Marker:
    pass


def shout(text: str) -> str:
    return text.upper()


@given(nested, nested)
def test_two_values_share_bytes_only_when_they_are_equal(a: Any, b: Any) -> None:
    """Injectivity over nested JSON with awkward strings, numbers and bytes."""
    assert (canonical_bytes(a) == canonical_bytes(b)) == (shape(a) == shape(b))


@given(st.dictionaries(st.text(), scalars, min_size=2))
def test_the_order_of_dict_keys_is_irrelevant(value: dict[str, Any]) -> None:
    """A dict built backwards has the same bytes."""
    backwards = dict(reversed(value.items()))

    assert canonical_bytes(backwards) == canonical_bytes(value)


@given(st.sets(st.text()))
def test_the_order_of_set_members_is_irrelevant(value: set[str]) -> None:
    """A set and a frozenset of the same members are one value."""
    assert canonical_bytes(frozenset(sorted(value))) == canonical_bytes(value)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (1, "1"),
        (0, None),
        (0, False),
        ("", None),
        ([], {}),
        ([], ""),
        (["ab", "c"], ["a", "bc"]),
        ([[1], 2], [1, [2]]),
        (b"a", "a"),
        ({"a": None}, {}),
        (dt.date(2024, 1, 1), "2024-01-01"),
        (Point(1, 2), Point(2, 1)),
        (Point(1, 2), {"x": 1, "y": 2}),
        (Colour.RED, Colour.BLUE),
        (Model(name="a"), Model(name="b")),
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.zeros(3, dtype=np.float32)),
        (np.array([1, 2]), np.array([2, 1])),
        (Settings(0.0), Settings(1.0)),
        (shout, str.upper),
        (functools.partial(shout, "a"), functools.partial(shout, "b")),
        (Decimal("1.0"), 1),
        (1e300, 10**300),
    ],
)
def test_different_values_have_different_bytes(a: object, b: object) -> None:
    """Type tags and lengths keep look-alikes apart."""
    assert canonical_bytes(a) != canonical_bytes(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (0.0, -0.0),
        ([1, 2], (1, 2)),
        (float("nan"), float("nan")),
        (b"image", bytearray(b"image")),
        (Decimal("1.0"), Decimal("1.00")),
        (Point(1, 2), Point(1, 2)),
        (Settings(0.5), Settings(0.5)),
        (np.float64(0.5), 0.5),
    ],
)
def test_equal_values_have_equal_bytes(a: object, b: object) -> None:
    """What an API would read as the same is the same."""
    assert canonical_bytes(a) == canonical_bytes(b)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Marker(),
        threading.Lock(),
        lambda text: text,
        (n for n in range(3)),
    ],
)
def test_what_has_no_stable_form_is_an_error_and_never_an_address(value: object) -> None:
    """Objects without state, locks, lambdas and generators cannot be keyed by value."""
    with pytest.raises(ValueFormError, match="stable form"):
        canonical_bytes(value)


def test_a_closure_has_no_stable_form() -> None:
    """Two closures share a name and differ in what they captured."""

    def inner(text: str) -> str:
        return text

    with pytest.raises(ValueFormError):
        canonical_bytes(inner)


def test_a_value_that_contains_itself_is_an_error() -> None:
    """A cycle is refused, not followed."""
    cycle: list[object] = []
    cycle.append(cycle)

    with pytest.raises(ValueFormError, match="contains itself"):
        canonical_bytes(cycle)


def test_an_attribute_changed_later_changes_the_bytes() -> None:
    """Values are read when asked, never remembered."""
    settings = Settings(0.0)
    before = canonical_bytes(settings)

    settings.temperature = 1.0

    assert canonical_bytes(settings) != before


@given(st.lists(st.binary(), max_size=4), st.lists(st.binary(), max_size=4))
def test_a_digest_of_parts_keeps_their_boundaries(a: list[bytes], b: list[bytes]) -> None:
    """Parts are length-delimited."""
    assert (digest(*a) == digest(*b)) == (a == b)
