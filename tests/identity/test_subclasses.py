"""Subclasses of built-in types and models count by what they hold, not by what they show."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from semcache.canonical import canonical_bytes
from semcache.request import Identity


class Secret(str):
    def __str__(self) -> str:
        return "***"


class Odd(int):
    def __int__(self) -> int:
        return 0


class Caller(BaseModel):
    user: str = Field(exclude=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [(Secret("a"), Secret("b")), (Odd(1), Odd(2)), (Caller(user="a"), Caller(user="b"))],
)
def test_what_is_not_shown_counts(one: Any, other: Any) -> None:
    """A masked text, an odd number, a field left out of dumps."""
    assert canonical_bytes(one) != canonical_bytes(other)


def test_a_prompt_of_a_subclass_is_the_text_it_holds() -> None:
    """All tiers and the gate read it; nothing of the class stays with the request."""
    request = Identity().read(Secret("What time is it?"))
    in_message = Identity().read([{"role": "user", "content": Secret("What time is it?")}])

    assert request == in_message == Identity().read("What time is it?")
    assert type(request.text) is type(in_message.text) is str
