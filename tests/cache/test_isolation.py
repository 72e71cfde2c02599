"""Scope before similarity: with one vector for every text, only the scope keeps requests apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from semcache import Hit, Miss, SemanticCache, Tier
from tests.fakes import Same

QUESTION = "Which tax form do I file in spring?"
OTHER_WORDS = "In spring, which form is it that one files for taxes?"


@pytest.fixture
def cache() -> Iterator[SemanticCache]:
    with SemanticCache(embedder=Same(), threshold=0.9, guards=()) as made:
        yield made


def turns(text: str, *earlier: dict[str, Any]) -> list[dict[str, Any]]:
    return [*earlier, {"role": "user", "content": text}]


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def test_inside_one_scope_the_same_vector_is_a_semantic_hit(cache: SemanticCache) -> None:
    """The stub embedder really does match everything that shares a scope."""
    cache.put(QUESTION, "form A")

    hit = cache.lookup(OTHER_WORDS)

    assert isinstance(hit, Hit)
    assert (hit.tier, hit.score, hit.value) == (Tier.SEMANTIC, 1.0, "form A")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ({"model": "small"}, {"model": "large"}),
        ({"namespace": "u1"}, {"namespace": "u2"}),
        ({"namespace": "team:7", "user": "9"}, {"namespace": "team", "user": "7:9"}),
        ({"max_tokens": 16}, {"max_tokens": 400}),
        ({"seed": 1}, {"seed": 2}),
        ({"temperature": 0}, {"temperature": 1}),
        ({"tool_choice": "auto"}, {"tool_choice": "none"}),
        ({"response_format": {"schema": "a"}}, {"response_format": {"schema": "b"}}),
        ({"language": "en"}, {"language": "fr"}),
        ({"extra_window": 2048}, {"extra_window": 8192}),
        ({"scope": "docs-1"}, {"scope": "docs-2"}),
    ],
)
@pytest.mark.parametrize("text", [QUESTION, OTHER_WORDS])
def test_another_scope_is_a_miss_in_every_tier(
    cache: SemanticCache, stored: dict[str, Any], asked: dict[str, Any], text: str
) -> None:
    """No similarity is computed across scopes."""
    cache.put(QUESTION, "form A", **stored)

    assert isinstance(cache.lookup(text, **asked), Miss)


@pytest.mark.parametrize(
    "history",
    [
        [],
        [system("Reply as a pirate")],
        [system("Reply as a lawyer"), {"role": "user", "content": "hello"}],
        [system("Reply as a lawyer" + " " * 500 + ".")],
    ],
)
def test_other_history_is_a_miss_in_every_tier(
    cache: SemanticCache, history: list[dict[str, Any]]
) -> None:
    """The system prompt and every earlier turn count, however long."""
    cache.put(turns(QUESTION, system("Reply as a lawyer")), "form A")

    assert isinstance(cache.lookup(turns(OTHER_WORDS, *history)), Miss)
    assert isinstance(cache.lookup(turns(QUESTION, *history)), Miss)


def test_clearing_one_namespace_leaves_the_others(cache: SemanticCache) -> None:
    """A clear is of one tenant."""
    cache.put(QUESTION, "a", namespace="a")
    cache.put(QUESTION, "b", namespace="b")

    removed = cache.clear("a")

    assert removed == 1
    assert isinstance(cache.lookup(QUESTION, namespace="a"), Miss)
    assert isinstance(cache.lookup(QUESTION, namespace="b"), Hit)
