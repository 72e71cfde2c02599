"""The last user message alone is the key: personas, histories and roles share one answer."""

from __future__ import annotations

from typing import Any

import pytest

from semcache import Config, Hit, Miss, Reason, SemanticCache, SentenceTransformerEmbedder
from tests.faults.calls import replies, user

EXPLAIN = "Explain inflation"
REWORDED = "What is inflation, and how does it come about?"


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def chat(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return list(messages)


LAWYER, PIRATE = system("Reply as a lawyer"), system("Reply as a pirate")


@pytest.mark.parametrize("asked", [EXPLAIN, EXPLAIN.lower() + "!", REWORDED])
def test_b016_two_personas_never_share_an_answer(
    kind: str, apart: SemanticCache, asked: str
) -> None:
    """In every tier: the same text, nearly the same, and other words."""
    stored, other = chat(LAWYER, user(EXPLAIN)), chat(PIRATE, user(asked))

    assert replies(kind, apart, stored, other, stored) == ["R1", "R2", "R1"]


@pytest.mark.parametrize("asked", [EXPLAIN, EXPLAIN.lower() + "!", REWORDED])
@pytest.mark.parametrize(
    "context",
    [
        pytest.param([PIRATE], id="another system message"),
        pytest.param([], id="no system message"),
        pytest.param([LAWYER, user("Hello"), {"role": "assistant", "content": "Hi"}], id="a turn"),
    ],
)
def test_b017_the_context_counts_in_all_three_tiers(
    kind: str, same: SemanticCache, context: list[dict[str, Any]], asked: str
) -> None:
    """What the exact tier honours, the others honour."""
    stored, other = chat(LAWYER, user(EXPLAIN)), chat(*context, user(asked))

    assert replies(kind, same, stored, other) == ["R1", "R2"]


def test_b017_inside_one_context_all_three_tiers_hit(same: SemanticCache) -> None:
    """The misses above are not for want of a candidate."""
    same.put(chat(LAWYER, user(EXPLAIN)), "A")

    found = [
        same.lookup(chat(LAWYER, user(text))) for text in (EXPLAIN, EXPLAIN.lower() + "!", REWORDED)
    ]

    tiers = [decision.tier.value for decision in found if isinstance(decision, Hit)]
    assert tiers == ["exact", "near-duplicate", "semantic"]


@pytest.mark.parametrize("padding", ["", "I have a long story to tell you first. " * 13])
def test_b019_a_follow_up_belongs_to_its_history(
    kind: str, same: SemanticCache, padding: str
) -> None:
    """Also where the turns differ only after 500 characters."""
    spain, kenya = (
        chat(
            user(f"{padding}I live in {country}"),
            {"role": "assistant", "content": "Noted."},
            user("Which tax form do I need?"),
        )
        for country in ("Spain", "Kenya")
    )

    assert replies(kind, same, spain, kenya, spain, dynamic=False) == ["R1", "R2", "R1"]


def long_chat(third_turn: str) -> list[dict[str, Any]]:
    """Give a chat of 12 turns whose third differs."""
    turns = [f"Tell me about phone number {n} on your list." for n in range(1, 12)]
    turns[2] = third_turn
    return [*(user(text) for text in turns), user("and the price?")]


@pytest.mark.model
def test_b020_long_chats_that_differ_in_one_early_turn_are_apart(
    kind: str, real: SemanticCache
) -> None:
    """However much text they share."""
    blue, green = long_chat("I like the blue one."), long_chat("I like the green one.")

    assert replies(kind, real, blue, green, blue, dynamic=False) == ["R1", "R2", "R1"]


@pytest.mark.model
def test_b020_an_option_skips_the_semantic_tier_in_long_chats(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Above N turns only equal and nearly equal requests are served."""
    chats = [[*long_chat("Hello.")[:-1], user(text)] for text in (EXPLAIN, REWORDED)]
    config = Config(semantic_max_turns=8, embed_timeout_seconds=60)
    with SemanticCache(embedder=minilm, threshold=0.1, guards=(), config=config) as cache:
        cache.preload(60)
        cache.put(chats[0], "A")

        equal, reworded = (cache.lookup(chat) for chat in chats)

    assert isinstance(equal, Hit)
    assert isinstance(reworded, Miss)
    assert reworded.reason is Reason.TOO_MANY_TURNS
