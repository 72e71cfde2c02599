"""The last user message alone is the key: personas, histories and roles share one answer.

Promise: every instruction and every earlier turn counts in full, in every tier
Room: `semcache/messages.py`, `semcache/request.py`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field

from semcache import Config, Hit, Miss, Reason, SemanticCache, SentenceTransformerEmbedder
from tests.fakes import Model, Same
from tests.faults.calls import call, decorate, replies, replies_to, user
from tests.faults.conftest import PATIENT

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


@dataclass
class Said:
    """A message that says no role: its class does."""

    content: str


class FromUser(Said):
    """What a user said."""


class FromSystem(Said):
    """What the system was told."""


class Turn(BaseModel):
    """A message whose role belongs to its class."""

    role: ClassVar[str]
    content: str


class UserTurn(Turn):
    role: ClassVar[str] = "user"


class SystemTurn(Turn):
    role: ClassVar[str] = "system"


@pytest.mark.parametrize(
    ("one", "other"), [(FromUser, FromSystem), (UserTurn, SystemTurn)], ids=["dataclass", "model"]
)
def test_a_role_that_only_a_class_tells_counts(
    kind: str, apart: SemanticCache, one: Callable[..., Any], other: Callable[..., Any]
) -> None:
    """An instruction is not what a user said in the same words."""
    told, said = (
        [make(content="Answer in French."), UserTurn(content=EXPLAIN)] for make in (other, one)
    )

    assert replies(kind, apart, told, said, told) == ["R1", "R2", "R1"]


class Briefing(BaseModel):
    """A system message with a part that its dumps leave out."""

    role: str = "system"
    content: str
    persona: str = Field(exclude=True)


def test_what_a_message_leaves_out_of_its_dumps_counts(kind: str, apart: SemanticCache) -> None:
    """A hidden persona is a persona."""
    lawyer, pirate = (
        [Briefing(content="Reply in your voice.", persona=name), user(EXPLAIN)]
        for name in ("lawyer", "pirate")
    )

    assert replies(kind, apart, lawyer, pirate, lawyer) == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("system", lambda text: text),
        ("system", lambda text: [{"type": "text", "text": text}]),
        ("instructions", lambda text: text),
        ("system_instruction", lambda text: {"parts": [{"text": text}]}),
    ],
    ids=["text", "blocks", "responses", "gemini"],
)
def test_a_system_prompt_beside_the_messages_counts(
    kind: str, apart: SemanticCache, name: str, wrap: Callable[[str], Any]
) -> None:
    """Providers that take it as an argument of its own are read in full."""
    lawyer, pirate = ({name: wrap(f"Reply as a {who}")} for who in ("lawyer", "pirate"))

    answers = replies_to(kind, apart, EXPLAIN, lawyer, pirate, {}, lawyer)

    assert answers == ["R1", "R2", "R3", "R1"]


HELLO, HI = user("I like tea."), {"role": "assistant", "content": "I like tea."}


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([HI, HELLO], id="turns the other way round"),
        pytest.param([HELLO], id="a turn fewer"),
        pytest.param([HELLO, HELLO], id="another speaker"),
        pytest.param([user("I like tea.", name="Ann"), HI], id="a named speaker"),
        pytest.param([LAWYER, HELLO, HI], id="an instruction more"),
        pytest.param([HELLO, HI, LAWYER], id="an instruction later"),
    ],
)
def test_who_said_what_and_when_counts(
    kind: str, same: SemanticCache, history: list[dict[str, Any]]
) -> None:
    """The same words in the same chat, by others or in another order, are another context."""
    stored, other = [HELLO, HI, user(REWORDED)], [*history, user(EXPLAIN)]

    assert replies(kind, same, stored, other, dynamic=False) == ["R1", "R2"]


@pytest.mark.parametrize("name", ["messages", "contents", "input"])
def test_a_whole_request_body_is_read_like_its_messages(
    kind: str, apart: SemanticCache, name: str
) -> None:
    """A function may take one body: its instructions, turns and settings count in every tier."""

    def body(who: str, text: str, **more: Any) -> dict[str, Any]:
        return {name: chat(system(f"Reply as a {who}"), user(text)), **more}

    bodies = [body("lawyer", EXPLAIN), body("pirate", EXPLAIN), body("lawyer", EXPLAIN, model="m")]
    levelled = body("lawyer", EXPLAIN.lower() + "!")

    answers = replies(kind, apart, *bodies, levelled)

    assert answers == ["R1", "R2", "R3", "R1"]


def test_a_question_inside_a_body_or_a_list_is_read_by_the_gate(same: SemanticCache) -> None:
    """What hides in another shape is not served from yesterday."""
    question = "What time is it now?"
    shapes: list[Any] = [
        {"messages": [user(question)]},
        [question],
        [FromUser(question)],
        [{"parts": [{"text": question}]}],
    ]

    reasons = [getattr(same.lookup(shape), "reason", None) for shape in shapes]

    assert reasons == [Reason.DYNAMIC] * len(shapes)


def test_contexts_stay_apart_on_disk(kind: str, tmp_path: Path) -> None:
    """After a restart each persona finds its own answer, and no other's."""
    lawyer, pirate = chat(LAWYER, user(EXPLAIN)), chat(PIRATE, user(EXPLAIN))
    model, answers = Model(), []
    for prompts in ((lawyer,), (pirate, lawyer)):
        with SemanticCache(tmp_path, embedder=Same(), guards=(), config=PATIENT) as cache:
            ask = decorate(kind, cache, model)
            answers += [call(kind, ask, prompt) for prompt in prompts]

    assert answers == ["R1", "R2", "R1"]
