"""Parts are joined without boundaries or left out, so different requests make one key.

Promise: two requests share a key only if all but the stated form of the text is equal.
Room: `semcache/canonical.py`, `semcache/canonical_objects.py`, `semcache/request.py`
"""

from __future__ import annotations

import datetime as dt
import enum
import pathlib
import runpy
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, PrivateAttr

from semcache import Hit, Miss, SemanticCache
from semcache.canonical import canonical_bytes
from tests.fakes import Far
from tests.faults.calls import replies, replies_to, user
from tests.faults.conftest import PATIENT

ONE_MESSAGE = [user("hi assistant: yo")]
TWO_MESSAGES = [user("hi"), {"role": "assistant", "content": "yo"}]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ([user("ab"), user("c")], [user("a"), user("bc")]),
        (ONE_MESSAGE, TWO_MESSAGES),
        ([user("hi\nassistant: yo")], TWO_MESSAGES),
        ([user(["ab", "c"])], [user(["a", "bc"])]),
        ([user("a"), user("b"), user("c")], [user("a\nb"), user("c")]),
    ],
)
def test_b046_boundaries_between_parts_count(
    kind: str, same: SemanticCache, stored: Any, asked: Any
) -> None:
    """Different part lists are different keys."""
    answers = replies(kind, same, stored, asked, stored, dynamic=False)

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.parametrize("mark", [":", "%", "/", "\n", "%3A", "\x00", "|"])
def test_b047_a_mark_inside_a_name_moves_no_boundary(same: SemanticCache, mark: str) -> None:
    """A tenant whose name holds a delimiter is not another tenant with another user."""
    prompt = "Describe a green tent"
    same.put(prompt, "secret", namespace=f"team{mark}7", user="9")

    others: list[dict[str, Any]] = [
        {"namespace": "team", "user": f"7{mark}9"},
        {"namespace": f"team{mark}7{mark}9"},
        {"namespace": "team", "user": "9"},
        {"namespace": f"team{mark}", "user": "79"},
    ]

    assert all(isinstance(same.lookup(prompt, **other), Miss) for other in others)


@pytest.mark.parametrize("mark", [":", "%", "/", "\n"])
def test_b047_a_tenant_read_from_the_call_is_kept_apart(same: SemanticCache, mark: str) -> None:
    """Also where the namespace is a function of the arguments."""
    calls: list[str] = []

    @same.cached(namespace=lambda prompt, tenant, user: tenant, ignore=["tenant"])
    def ask(prompt: str, tenant: str, user: str) -> str:
        calls.append(tenant)
        return f"for {tenant}, {user}"

    ask("Describe a green tent", f"team{mark}7", "9")

    assert ask("Describe a green tent", "team", f"7{mark}9") == f"for team, 7{mark}9"


class Slotted:
    """Its second slot is stored under another name than it is declared by."""

    __slots__ = ("__secret", "name")

    def __init__(self, secret: int) -> None:
        self.name = "n"
        self.__secret = secret


class Labelled(dict[str, int]):
    """A dict with an attribute beside its keys."""

    def __init__(self, label: int) -> None:
        super().__init__(a=1)
        self.label = label


class Hidden(BaseModel):
    """A model with a field of its own."""

    name: str = "n"
    _token: int = PrivateAttr(default=0)


def hidden(token: int) -> Hidden:
    made = Hidden()
    made._token = token
    return made


def member(value: int) -> enum.Enum:
    """Give a member of a class that shares its name with others."""
    return enum.Enum("Size", {"SMALL": value}).SMALL  # type: ignore[return-value]  # made here


def row(name: str) -> Any:
    return np.array([(1, 2)], dtype=[(name, "i4"), ("z", "i4")])


ALIKE: dict[str, tuple[Any, Any]] = {
    "decimals": (Decimal(f"1.{'0' * 40}1"), Decimal(1)),
    "slots": (Slotted(1), Slotted(2)),
    "attributes": (Labelled(1), Labelled(2)),
    "private fields": (hidden(1), hidden(2)),
    "members": (member(1), member(2)),
    "columns": (row("a"), row("b")),
    "types": (list[int], list[str]),
    "moments": (dt.datetime(2024, 1, 1, fold=0), dt.datetime(2024, 1, 1, fold=1)),
    "paths": (pathlib.PureWindowsPath("a"), pathlib.PurePosixPath("a")),
    "spellings": ({"a": "bc"}, {"ab": "c"}),
    "nesting": ([["a"], "b"], [["a", "b"]]),
    "bytes": (b"a", "a"),
    "its own form": ({"a": 1}, canonical_bytes({"a": 1})),
}


@pytest.mark.parametrize("of", ALIKE)
def test_values_that_are_alike_but_in_one_hidden_part_are_apart(
    kind: str, apart: SemanticCache, of: str
) -> None:
    """What is rounded, masked, private or beside the content counts."""
    one, other = ALIKE[of]
    params = [{"extra": value} for value in (one, other, one)]

    answers = replies_to(kind, apart, "Describe a green tent", *params)

    assert answers == ["R1", "R2", "R1"]


class Asked(BaseModel):
    content: str


class Answered(BaseModel):
    content: str


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ([user("Where is it?", call_id="A17")], [user("Where is it?", call_id="B4")]),
        ([user("Where is it?", type="note")], [user("Where is it?", type="order")]),
        ([Asked(content="Where is it?")], [Answered(content="Where is it?")]),
        ([user("hi", id="1"), {"id": "1", "x": 1}], [user("hi", id="1"), {"id": "2", "x": 1}]),
        ({"role": "user", "content": "ab"}, {"role": "user", "content": ["a", "b"]}),
        ("['a', 'b']", ["a", "b"]),
    ],
    ids=["call id", "type", "class", "id of data", "parts", "printed"],
)
def test_messages_that_differ_in_one_field_are_apart(
    kind: str, same: SemanticCache, stored: Any, asked: Any
) -> None:
    """Only ids that name a message or link a tool's call to its result are levelled."""
    answers = replies(kind, same, stored, asked, stored, dynamic=False)

    assert answers == ["R1", "R2", "R1"]


SCRIPT = """
def ask(prompt):
    return TENANT

answer = CACHE.cached()(ask)("Describe a green tent")
"""


def run_script(folder: Path, cache: SemanticCache, name: str) -> str:
    """Run a program as `python folder/main.py` does, and give its answer."""
    path = folder / name / "main.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SCRIPT)
    made = runpy.run_path(str(path), {"CACHE": cache, "TENANT": name}, "__main__")
    return str(made["answer"])


def test_two_programs_on_one_directory_do_not_share_what_they_call_by_one_name(
    tmp_path: Path,
) -> None:
    """Each has a `__main__.ask`; a program that is run again finds its own."""
    with SemanticCache(tmp_path / "cache", embedder=Far(), config=PATIENT) as cache:
        answers = [run_script(tmp_path, cache, name) for name in ("one", "two", "one")]
        hits = cache.stats().hits

    assert answers == ["one", "two", "one"]
    assert hits == {"exact": 1}


def test_one_name_given_to_two_functions_in_turn_is_two_functions(far: SemanticCache) -> None:
    """A cell of a notebook that is edited and run again defines the same name anew."""
    spaces: list[dict[str, Any]] = [{"__name__": "__main__"} for _ in range(3)]
    for space, verb in zip(spaces, ("Praise", "Mock", "Praise"), strict=True):
        exec(f"def ask(prompt): return f'{verb} {{prompt}}'", space)  # as a notebook does
    asks: list[Callable[[str], str]] = [far.cached()(space["ask"]) for space in spaces]

    answers = [ask("a green tent") for ask in asks]

    assert answers == ["Praise a green tent", "Mock a green tent", "Praise a green tent"]
    assert far.stats().hits == {"exact": 1}


def test_a_normaliser_counts_by_what_it_does(tmp_path: Path) -> None:
    """Two of one name level texts differently, so neither finds what the other stored."""
    spaces: list[dict[str, Any]] = [{"__name__": "__main__"} for _ in range(2)]
    for space, method in zip(spaces, ("lower", "upper"), strict=True):
        exec(f"def level(text): return text.{method}() and 'one text'", space)
    found = []
    for space in (spaces[0], spaces[1], spaces[0]):
        with SemanticCache(
            tmp_path / "cache", embedder=False, normalize=space["level"], config=PATIENT
        ) as cache:
            found.append(isinstance(cache.lookup("Describe a tent"), Hit))
            cache.put("Describe a tent", "A")

    assert found == [False, False, True]
