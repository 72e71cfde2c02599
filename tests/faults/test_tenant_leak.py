"""The user is not in the key, or is only mixed into the text, so users get each other's answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from semcache import Bypass, Hit, Miss, Reason, SemanticCache
from tests.fakes import Same
from tests.faults.calls import call, decide, decorate, replies
from tests.faults.conftest import PATIENT

RENEW = "When does my plan renew?"
LONG = " ".join(f"Word {n} of a long question about parcels and harbours." for n in range(20))


def test_b064_without_scopes_a_personal_question_is_kept_out(
    kind: str, same: SemanticCache
) -> None:
    """Because of "my": neither stored nor served."""
    ask = decorate(kind, same, lambda _prompt: "on the 3rd")

    decisions = [decide(kind, ask, RENEW) for _user in "AB"]

    assert all(isinstance(decision, Bypass) for decision in decisions)
    assert {decision.reason for decision in decisions} == {Reason.DYNAMIC}
    assert len(same) == 0


def test_b064_with_scopes_each_user_has_their_own(same: SemanticCache) -> None:
    """Even where the filter is overruled."""
    same.put(RENEW, "on the 3rd", namespace="a", dynamic=False)

    assert isinstance(same.lookup(RENEW, namespace="b", dynamic=False), Miss)
    assert isinstance(same.lookup(RENEW, namespace="a", dynamic=False), Hit)


@pytest.mark.parametrize("how", ["namespace", "scope"])
def test_b065_a_long_question_of_another_user_is_a_miss(same: SemanticCache, how: str) -> None:
    """A hard partition, whatever the similarity, also inside the vector index."""
    same.put(LONG, "A", **{how: "u1"}, dynamic=False)  # type: ignore[arg-type]  # a keyword by name

    texts = (LONG, LONG.lower(), LONG + " Please?", "Describe a green tent")
    others = [same.lookup(text, **{how: "u2"}, dynamic=False) for text in texts]  # type: ignore[arg-type]  # ditto

    assert all(isinstance(decision, Miss) for decision in others)
    assert all(decision.nearest is None for decision in others if isinstance(decision, Miss))


@dataclass
class Context:
    """What a framework passes around."""

    user: str


@pytest.mark.parametrize("rule", ["path", "callable"])
def test_b067_ignoring_an_argument_does_not_remove_the_scope(
    kind: str, same: SemanticCache, rule: str
) -> None:
    """The scope names what in the ignored context must be identical."""
    scope = ["ctx.user"] if rule == "path" else (lambda *_args, ctx, **_rest: ctx.user)
    ask = decorate(kind, same, lambda _prompt, ctx: f"for {ctx.user}", ignore=["ctx"], scope=scope)

    answers = [call(kind, ask, "Describe a tent", ctx=Context(user)) for user in ("u1", "u2")]

    assert answers == ["for u1", "for u2"]


LETTER = "Draft a letter to P. Doe about the knee operation"
PROBES = [
    LETTER,
    LETTER.lower(),
    LETTER + ".",
    "Please draft a letter to P. Doe about the knee operation",
    "Draft a letter to P. Doe about the knee",
    "Draft a letter to P. Doe about the hip operation",
    "Write a letter to P. Doe about the knee operation",
    "Draft a letter to P Doe on the knee operation",
    "Draft a mail to P. Doe about the knee operation",
    "Draft a letter to Q. Doe about the knee operation",
]


def test_b068_a_probe_from_another_scope_learns_nothing(same: SemanticCache) -> None:
    """Each of ten variants goes the way it would go through an empty cache."""
    with SemanticCache(embedder=Same(), guards=(), config=PATIENT) as empty:
        same.put(LETTER, "Dear P.", namespace="u1", dynamic=False)

        probed = [same.lookup(text, namespace="u2", dynamic=False) for text in PROBES]
        cold = [empty.lookup(text, namespace="u2", dynamic=False) for text in PROBES]

    assert all(isinstance(decision, Miss) for decision in probed)
    assert [str(decision) for decision in probed] == [str(decision) for decision in cold]


def test_b068_the_manual_warns_of_shared_scopes() -> None:
    """Whoever shares a scope can tell from the time what others asked."""
    manual = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").lower()

    assert "namespace" in manual
    assert "timing" in manual or "response time" in manual


def test_b068_inside_the_scope_the_probe_would_have_hit(kind: str, same: SemanticCache) -> None:
    """The misses above come from the scope alone."""
    assert set(replies(kind, same, *PROBES, dynamic=False)) == {"R1"}
