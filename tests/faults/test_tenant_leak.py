"""The user is not in the key, or is only mixed into the text, so users get each other's answers.

Promise: Nothing of one tenant shows in another's answers, decisions or errors; a call without a
    tenant goes past the cache
Room: `semcache/request.py`, `semcache/tenant.py`, `semcache/binding.py`,
    `semcache/embed/service.py`
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from semcache import Bypass, Hit, Miss, Reason, SemanticCache
from semcache.errors import ArgumentError
from semcache.transfer import export_entries, import_entries
from tests.fakes import Clock, Same
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


@pytest.mark.parametrize("tenant", [None, "", b"acme", object(), ("a", "b"), True])
def test_a_call_without_a_tenant_goes_past_the_cache(
    kind: str, same: SemanticCache, tenant: object
) -> None:
    """What names nobody must not become the name of a tenant that strangers share."""
    ask = decorate(kind, same, lambda _prompt: "for me", namespace=lambda *_args: tenant)

    decisions = [decide(kind, ask, "Describe a tent") for _user in "AB"]

    assert all(isinstance(decision, Bypass) for decision in decisions)
    assert len(same) == 0


async def current_tenant(*_args: object) -> str:
    return "acme"


@pytest.mark.parametrize("tenant", ["", 7, b"acme", current_tenant])
def test_a_tenant_that_cannot_be_one_is_refused_when_the_function_is_defined(
    same: SemanticCache, tenant: Any
) -> None:
    """Not at each call, and not in silence."""
    with pytest.raises(ArgumentError, match="namespace="):
        same.cached(namespace=tenant)(lambda prompt: prompt)


@pytest.mark.parametrize(
    "other", ["JOSÉ", "jose\u0301", "jose", "josé ", "josé\u200b", "josé\x00", "ｊosé", "josé:"]
)
def test_names_that_look_alike_are_two_tenants(same: SemanticCache, other: str) -> None:
    """In every tier, and whichever of them is cleared."""
    same.put("Describe a tent", "A", namespace="josé")

    asked = [same.lookup(text, namespace=other) for text in ("Describe a tent", "Paint a barn")]
    cleared = same.clear(other)

    assert all(isinstance(decision, Miss) for decision in asked)
    assert cleared == 0
    assert isinstance(same.lookup("Describe a tent", namespace="josé"), Hit)


def test_what_one_tenant_takes_out_stays_with_the_others(same: SemanticCache) -> None:
    """By request, by similarity, by a hit that was wrong, by its counter."""
    for tenant in ("a", "b"):
        same.put("Describe a tent", tenant, namespace=tenant)

    wrong = same.lookup("Sketch a marquee", namespace="a")
    assert isinstance(wrong, Hit)
    removed = (
        same.purge_similar("Describe a tent", at_least=0.0, namespace="a"),
        same.remove("Describe a tent", namespace="a"),
        same.forget(wrong),
    )
    same.invalidate(namespace="a")

    assert removed == (1, False, False)
    for text in ("Describe a tent", "Sketch a marquee"):
        found = same.lookup(text, namespace="b")
        assert isinstance(found, Hit)
        assert found.value == "b"


class Choosy(Same):
    """An embedder whose error quotes what it was given."""

    name = "choosy"

    def embed(self, texts: Sequence[str]) -> Any:
        if any("knee" in text for text in texts):
            raise ValueError(f"cannot embed {texts}")
        return super().embed(texts)


def test_one_tenants_error_is_not_told_to_another() -> None:
    """What the embedder said of P. Doe's letter is for the caller who sent it."""
    with SemanticCache(embedder=Choosy(), config=PATIENT) as cache:
        own = [
            cache.lookup(f"{LETTER}, draft {n}", namespace="u1", dynamic=False) for n in range(6)
        ]
        other = cache.lookup("Describe a tent", namespace="u2")

    assert "Doe" in str(own[0])
    assert isinstance(other, Miss)
    assert other.reason is Reason.EMBEDDER_FAILED
    assert "Doe" not in str(other) + repr(other)


@pytest.mark.parametrize("option", ["namespace", "scope"])
def test_two_tenants_who_ask_at_once_make_two_calls(same: SemanticCache, option: str) -> None:
    """A call in flight is shared inside a tenant only: in threads, in tasks, and in streams."""
    both = threading.Barrier(2)
    rule = {option: lambda _prompt, user: user, "ignore": ["user"]}

    @same.cached(**rule)
    def ask(prompt: str, user: str) -> str:
        both.wait(30)
        return f"for {user}"

    @same.cached(**rule)
    def stream(prompt: str, user: str) -> Any:
        both.wait(30)
        yield f"for {user}"

    @same.cached(**rule)
    async def task(prompt: str, user: str) -> str:
        await asyncio.sleep(0)
        return f"for {user}"

    async def gather() -> list[str]:
        return await asyncio.gather(*(task("Describe a tent", user) for user in ("u1", "u2")))

    with ThreadPoolExecutor(2) as pool:
        called = list(pool.map(lambda user: ask("Describe a tent", user), ("u1", "u2")))
        streamed = list(pool.map(lambda user: [*stream("Describe a tent", user)], ("u1", "u2")))

    assert called == asyncio.run(gather()) == ["for u1", "for u2"]
    assert streamed == [["for u1"], ["for u2"]]


def test_the_tenant_is_the_one_of_the_call_not_of_the_moment_it_runs(
    kind: str, same: SemanticCache
) -> None:
    """A coroutine or stream that was made for one user and run under another stays the first's."""
    current = ["u1"]
    ask = decorate(kind, same, lambda _prompt: current[0], namespace=lambda _prompt: current[0])
    assert call(kind, ask, "Describe a tent") == "u1"

    made = ask("Describe a tent")
    current[0] = "u2"
    later = call(kind, lambda: made)

    assert later == "u1"
    assert call(kind, ask, "Describe a tent") == "u2"


def test_an_export_of_one_tenant_brings_nothing_of_another(
    same: SemanticCache, clock: Clock, tmp_path: Path
) -> None:
    """Neither out of the file nor in through it."""
    for tenant in ("a", "b"):
        same.put("Describe a tent", f"{tenant}'s tent", namespace=tenant)
    export_entries(same, tmp_path / "a.jsonl", namespace="a")
    export_entries(same, tmp_path / "all.jsonl")

    kept = []
    for file, only in (("a.jsonl", None), ("all.jsonl", "a")):
        with SemanticCache(embedder=Same(), guards=(), clock=clock, config=PATIENT) as cache:
            import_entries(cache, tmp_path / file, namespace=only)
            kept.append([entry.namespace for entry in cache.entries()])
            asked = cache.lookup("Describe a tent", namespace="b")

        assert isinstance(asked, Miss)
    assert kept == [["a"], ["a"]]
