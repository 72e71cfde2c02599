"""Parts are joined without boundaries, so different requests make one key."""

from __future__ import annotations

from typing import Any

import pytest

from semcache import Miss, SemanticCache
from tests.faults.calls import replies, user

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
