"""Parameters beside the messages are left out of the key: length, sampling, schema, unknown.

Promise: every argument counts by value, known or not, at any depth; a schema by what it asks for
Room: `semcache/canonical.py`, `semcache/canonical_objects.py`, `semcache/binding.py`
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import pytest

from semcache import SemanticCache
from tests.fakes import Model, Same
from tests.faults.calls import call, decorate, replies_to
from tests.faults.conftest import PATIENT

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


HERE = __name__


def as_dataclass(**fields: Any) -> type:
    return make_dataclass("Answer", fields.items(), namespace={"__module__": HERE})


def as_typed_dict(**fields: Any) -> Any:
    return TypedDict("Answer", fields)  # type: ignore[operator]  # made at run time, as versions are


def as_named_tuple(**fields: Any) -> Any:
    return NamedTuple("Answer", fields.items())  # type: ignore[misc]  # as above


def as_enum(**fields: Any) -> Any:
    return enum.Enum("Answer", list(fields), module=HERE)


@pytest.mark.parametrize("wrap", [lambda made: made, lambda made: list[made]], ids=["one", "list"])
@pytest.mark.parametrize("make", [as_dataclass, as_typed_dict, as_named_tuple, as_enum])
def test_a_schema_class_counts_by_what_it_asks_for(
    kind: str, apart: SemanticCache, make: Callable[..., Any], wrap: Callable[[Any], Any]
) -> None:
    """Two versions of a class of one name are two schemas; the same one made anew is one."""
    versions = [make(value=str), make(colour=str, poles=int), make(value=str)]

    answers = replies_to(
        kind, apart, PROMPT, *({"response_model": wrap(made)} for made in versions)
    )

    assert answers == ["R1", "R2", "R1"]


def test_the_choices_of_a_literal_count(kind: str, apart: SemanticCache) -> None:
    """As do the parts of any other type."""
    types = [
        Literal["red", "green"],
        Literal["red"],
        str | None,
        list[str],
        Literal["red", "green"],
    ]

    answers = replies_to(kind, apart, PROMPT, *({"output_type": made} for made in types))

    assert answers == ["R1", "R2", "R3", "R4", "R1"]


@pytest.mark.parametrize("name", ["max_tokens", "logprobs", "stop"])
def test_absent_none_zero_and_false_are_four_values(
    kind: str, apart: SemanticCache, name: str
) -> None:
    """A provider reads each in its own way."""
    params: list[dict[str, Any]] = [{}, {name: None}, {name: 0}, {name: False}, {name: ""}]

    answers = replies_to(kind, apart, PROMPT, *params, *params)

    assert answers == ["R1", "R2", "R3", "R4", "R5"] * 2


@pytest.mark.parametrize(
    "wrap",
    [
        lambda value: {"config": {"generation": [{"temperature": value}]}},
        lambda value: {"extra_body": {"guided": {"choice": (value,)}}},
        lambda value: {"settings": Settings(value)},
        lambda value: {"settings": Late(value)},
    ],
    ids=["config", "extra body", "settings", "set after its fields"],
)
def test_a_parameter_counts_however_deep_it_lies(
    kind: str, apart: SemanticCache, wrap: Callable[[float], dict[str, Any]]
) -> None:
    """Inside dicts, lists, and objects of settings."""
    cold, hot = wrap(0.0), wrap(0.9)

    assert replies_to(kind, apart, PROMPT, cold, hot, cold) == ["R1", "R2", "R1"]


@dataclass
class Settings:
    """Settings with one inside another."""

    temperature: float
    limits: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limits.append({"temperature": self.temperature})


@dataclass
class Late:
    """Settings of which some are no fields."""

    given: Any = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        self.temperature, self.given = self.given, None


def test_parameters_count_after_a_restart(kind: str, tmp_path: Path) -> None:
    """What is on disk is under its own parameters alone."""
    short, long = {"max_tokens": 16, "stop": {"a", "b"}}, {"max_tokens": 400, "stop": {"a", "b"}}
    model, answers = Model(), []
    for asked in ((short,), (long, short)):
        with SemanticCache(tmp_path, embedder=Same(), guards=(), config=PATIENT) as cache:
            ask = decorate(kind, cache, model)
            answers += [call(kind, ask, PROMPT, **params) for params in asked]

    assert answers == ["R1", "R2", "R1"]
