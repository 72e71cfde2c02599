"""Answers of every storable type, what makes two of them alike, and how to spoil one in place."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import typing
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import faiss  # noqa: F401  # before a cache imports it in a thread: that moves the random state
import pydantic
from hypothesis import strategies as st

from semcache.match import neardup

__all__ = ["Finish", "Point", "Usage", "answers", "chat_chunks", "form", "spoil"]


neardup.preload()


class Finish(enum.StrEnum):
    """An enum whose members are texts, as SDKs have them."""

    STOP = "stop"
    TOOLS = "tool_calls"


class Rank(enum.IntEnum):
    """An enum whose members are numbers."""

    LOW = 1
    HIGH = 2


class Point(typing.NamedTuple):
    """A typed namedtuple."""

    label: str
    values: list[float]


@dataclasses.dataclass(slots=True)
class Usage:
    """A slotted dataclass."""

    tokens: int
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Source:
    """A frozen dataclass that holds what is not."""

    title: str
    usage: Usage


class Tool(pydantic.BaseModel):
    """A call of a tool, as a client's model of it."""

    model_config = pydantic.ConfigDict(extra="allow")
    id: str
    arguments: dict[str, Any] = {}


class Message(pydantic.BaseModel):
    """A message as a client's model of it."""

    content: str | None = None
    tool_calls: list[Tool] = []
    finish: Finish = Finish.STOP
    at: dt.datetime | None = None


_ZONES = st.none() | st.just(dt.UTC) | st.timezones()
_OFFSETS = st.integers(-1439, 1439).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))
_moments = st.datetimes(timezones=_ZONES | _OFFSETS)
_floats = st.floats() | st.sampled_from([float("nan"), -0.0, float("inf"), float("-inf"), 5e-324])
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    _floats,
    st.decimals() | st.just(Decimal("-0E-7")),
    st.text(max_size=12),
    st.binary(max_size=12),
    st.binary(max_size=12).map(bytearray),
    st.dates(),
    _moments,
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([*Finish, *Rank]),
)
_keys = st.text(max_size=8) | st.integers() | st.sampled_from([*Finish])


def _instances(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    usages = st.builds(Usage, st.integers(), st.lists(st.text(max_size=4), max_size=3))
    tools = st.builds(
        Tool,
        id=st.text(max_size=6),
        arguments=st.dictionaries(st.text(max_size=4), inner, max_size=3),
        extra_field=inner,
    )
    return st.one_of(
        usages,
        st.builds(Source, st.text(max_size=6), usages),
        st.builds(Point, st.text(max_size=6), st.lists(_floats, max_size=3)),
        tools,
        st.builds(
            Message,
            content=st.none() | st.text(max_size=8),
            tool_calls=st.lists(tools, max_size=2),
            finish=st.sampled_from(Finish),
            at=st.none() | _moments,
        ),
    )


answers: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(_keys, inner, max_size=4),
        st.dictionaries(_keys, inner, max_size=4).map(OrderedDict),
        st.sets(_keys, max_size=4),
        st.frozensets(_keys, max_size=4),
        _instances(inner),
    ),
    max_leaves=8,
)


@st.composite
def chat_chunks(draw: st.DrawFn) -> list[Any]:
    """Draw a whole stream in the chat shape: deltas of text and of a tool call, then an end."""
    texts = draw(st.lists(st.text(max_size=6), max_size=4))
    deltas: list[dict[str, Any]] = [{"content": text} for text in texts]
    if draw(st.booleans()):
        arguments = draw(st.text(max_size=8))
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
    ended = {"index": 0, "delta": {}, "finish_reason": draw(st.sampled_from(Finish))}
    open_ones = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    return [{"choices": [choice], "created": draw(_moments)} for choice in [*open_ones, ended]]


def form(value: Any) -> Any:
    """Give what two values share exactly if they are alike: types, order, zones, bits of floats."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if isinstance(value, dt.datetime):
        zone = value.tzinfo
        return kind, value.replace(tzinfo=None), value.fold, type(zone), str(zone)
    if kind is Decimal:
        return kind, value.as_tuple()
    if isinstance(value, dict):
        return kind, [(form(key), form(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return kind, [form(item) for item in value]
    if isinstance(value, set | frozenset):
        return kind, sorted((form(item) for item in value), key=repr)
    if isinstance(value, pydantic.BaseModel):
        hidden = value.model_extra, sorted(value.model_fields_set)
        return kind, form(value.__dict__), form(hidden)
    if dataclasses.is_dataclass(value):
        return kind, [form(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return kind, bytes(value) if kind is bytearray else value


def spoil(value: Any) -> None:
    """Change everything in a value that can be changed, at any depth."""
    if isinstance(value, list | tuple):
        for item in value:
            spoil(item)
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoilt"] = True
    elif isinstance(value, list | bytearray):
        value.append(7)
    elif isinstance(value, set):
        value.add("spoilt")
    elif isinstance(value, pydantic.BaseModel):
        spoil(value.__dict__)
        spoil(value.model_extra)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            spoil(getattr(value, field.name))
