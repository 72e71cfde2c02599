"""No two different requests share canonical bytes, but where the text is levelled as stated.

Each value is compared with a shape, whose `==` tells apart exactly what must be told apart. Small
alphabets make near collisions likely: delimiters, empty parts, one content in several types.
"""

from __future__ import annotations

import datetime as dt
import enum
import math
import pathlib
import re
import unicodedata
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.canonical import canonical_bytes
from semcache.request import Identity

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
AWKWARD = st.text("a1:,\x00\n\"'{[é\u0301\u200b\ud800\U00010000ｎ", max_size=3)


@dataclass(frozen=True)
class Point:
    x: Any
    y: Any


@dataclass(frozen=True)
class Pair:
    x: Any
    y: Any


class Both(NamedTuple):
    x: Any
    y: Any


class Colour(enum.Enum):
    RED = 1
    BLUE = "1"


class Size(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    ONE = "1"


class Noted(str):
    note: Any


def noted(text: str, note: Any) -> Noted:
    made = Noted(text)
    made.note = note
    return made


numbers = (
    st.integers(-2, 2) | st.floats(-2, 2) | st.sampled_from([2**53 + 1, 1e16, math.inf, 1e300])
)
moments = st.builds(
    dt.datetime,
    st.just(2024),
    st.just(1),
    st.integers(1, 2),
    st.integers(0, 1),
    fold=st.integers(0, 1),
    tzinfo=st.sampled_from([None, dt.UTC, dt.timezone(dt.timedelta(hours=1))]),
)
decimals = st.builds(
    Decimal, st.sampled_from(["1", "1.0", "-1", "0", "1e2", "100", f"1.{'0' * 40}1"])
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    AWKWARD,
    st.binary(max_size=2),
    decimals,
    moments,
    st.dates(dt.date(2024, 1, 1), dt.date(2024, 1, 3)),
    st.builds(dt.timedelta, seconds=st.integers(0, 2)),
    st.fractions(0, 1, max_denominator=3),
    st.builds(complex, st.integers(0, 1), st.integers(0, 1)),
    st.sampled_from([*Colour, *Size, Level.ONE, Word.ONE]),
    st.builds(pathlib.PurePosixPath, st.sampled_from("ab")),
    st.builds(pathlib.PureWindowsPath, st.sampled_from("ab")),
    st.builds(uuid.UUID, int=st.integers(0, 1)),
)
hashable = st.recursive(
    leaves,
    lambda inner: st.builds(Point, inner, inner) | st.builds(Both, inner, inner),
    max_leaves=3,
)


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(AWKWARD | st.integers(0, 2), inner, max_size=3),
        st.sets(leaves, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Both, inner, inner),
        st.builds(noted, AWKWARD, inner),
    )


values = st.recursive(hashable, nest, max_leaves=8)


def shape(value: Any) -> Any:
    """Give a value in a form whose `==` tells apart exactly what canonical bytes must."""
    match value:
        case Level() | Word():
            return shape(value.value)
        case enum.Enum():
            return (type(value).__name__, value.name)
        case bool() | None | bytes() | dt.date() | dt.timedelta() | complex():
            stated = (value.fold, str(value.tzinfo)) if isinstance(value, dt.datetime) else ()
            return (type(value).__name__, str(value), *stated)
        case int() | float():
            return ("number", value)
        case Noted():
            return ("noted", str(value), shape(value.note))
        case Point() | Pair() | Both():
            return (type(value).__name__, shape(value.x), shape(value.y))
        case list() | tuple():
            return ("sequence", tuple(map(shape, value)))
        case set():
            return ("set", frozenset(map(shape, value)))
        case dict():
            return ("dict", frozenset((shape(k), shape(v)) for k, v in value.items()))
    return (type(value).__name__, value)


NEIGHBOURS: list[Callable[[Any], Any]] = [
    lambda value: [value],
    lambda value: [value, None],
    lambda value: {"a": value},
    lambda value: {"x": value, "y": None},
    lambda value: Pair(value, None),
    lambda value: str(value),
    lambda value: repr(value).encode("utf-8", "surrogatepass"),
    lambda value: canonical_bytes(value),
    lambda value: noted("a", value),
    lambda value: value,
]


@PATIENT
@given(values, values)
def test_two_values_share_bytes_only_when_they_are_equal(one: Any, other: Any) -> None:
    """Nested JSON, bytes, sets, dataclasses, enums, dates, decimals, paths, subclasses."""
    assert (canonical_bytes(one) == canonical_bytes(other)) == (shape(one) == shape(other))


@PATIENT
@given(values, st.sampled_from(NEIGHBOURS))
def test_a_value_never_shares_bytes_with_what_is_made_of_it(
    value: Any, make: Callable[[Any], Any]
) -> None:
    """Wrapped, named, printed, or its own canonical bytes passed as a value."""
    made = make(value)

    assert (canonical_bytes(value) == canonical_bytes(made)) == (shape(value) == shape(made))


@PATIENT
@given(st.decimals(allow_nan=False), st.decimals(allow_nan=False), st.integers(1, 40))
def test_decimals_share_bytes_only_when_they_are_equal_numbers(
    one: Decimal, other: Decimal, precision: int
) -> None:
    """To the last digit, whatever precision the thread computes with."""
    with localcontext(prec=precision):
        same = canonical_bytes(one) == canonical_bytes(other)

    assert same == (one == other)


@PATIENT
@given(st.fractions(), st.fractions())
def test_fractions_share_bytes_only_when_they_are_equal(one: Fraction, other: Fraction) -> None:
    """In lowest terms."""
    assert (canonical_bytes(one) == canonical_bytes(other)) == (one == other)


TEXTS = st.text("ab:\r\n \u200b\u3000e\u00e9\u0301", min_size=1, max_size=4)
turns = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": TEXTS},
        optional={"name": TEXTS},
    ),
    max_size=2,
)
requests = st.fixed_dictionaries(
    {
        "turns": turns,
        "text": TEXTS,
        "name": st.none() | TEXTS,
        "parts": st.lists(TEXTS, max_size=1),
        "namespace": TEXTS,
        "model": st.none() | TEXTS,
        "scope": st.none() | TEXTS | st.lists(TEXTS, max_size=2),
        "params": st.dictionaries(st.sampled_from(["a", "b"]), TEXTS | st.none(), max_size=2),
    }
)
reader = Identity()


def key(asked: dict[str, Any]) -> bytes:
    last: dict[str, Any] = {"role": "user", "content": [*asked["parts"], asked["text"]]}
    if asked["name"] is not None:
        last["name"] = asked["name"]
    return reader.read(
        [*asked["turns"], last],
        model=asked["model"],
        namespace=asked["namespace"],
        scope=asked["scope"],
        params=asked["params"],
    ).key


def levelled(asked: dict[str, Any]) -> dict[str, Any]:
    """Level the last text as stated: Unicode form, line ends and outer blanks, nothing else."""
    text = re.sub("\r\n?", "\n", unicodedata.normalize("NFC", asked["text"]))
    return {**asked, "text": text.strip("\n \u200b\u3000")}


@PATIENT
@given(requests, requests, st.sets(st.sampled_from(sorted(["turns", "text", "name", "parts"]))))
def test_two_requests_share_a_key_only_when_all_but_the_form_of_the_text_is_equal(
    one: dict[str, Any], drawn: dict[str, Any], changed: set[str]
) -> None:
    """Whatever parts differ; delimiters, blanks and Unicode forms inside them move nothing."""
    other = {**one, **{name: drawn[name] for name in changed}}

    assert (key(one) == key(other)) == (levelled(one) == levelled(other))
    assert (key(one) == key(drawn)) == (levelled(one) == levelled(drawn))


@PATIENT
@given(TEXTS)
def test_three_ways_of_writing_one_question_are_one_request(text: str) -> None:
    """A text, a message, and a message of one part."""
    forms: list[Any] = [
        text,
        [{"role": "user", "content": text}],
        [{"role": "user", "content": [{"type": "text", "text": text}]}],
    ]

    assert len({reader.read(form).key for form in forms}) == 1
