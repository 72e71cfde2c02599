"""Prompts that are bound to a moment, a conversation or a person are cached for everybody.

Promise: What a stored answer cannot know is neither stored nor served; lasting questions are
    cached
Room: `semcache/admit/dynamic.py`, `semcache/admit/rules/`, `semcache/walk.py`
"""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache import Bypass, Config, Hit, Miss, Reason, SemanticCache
from tests.fakes import Clock, Same
from tests.faults.calls import call, decide, decorate, replies, user
from tests.faults.conftest import PATIENT


@pytest.mark.parametrize("prompt", ["Any trains delayed this evening?", "tell me more about that"])
def test_b145_time_bound_and_follow_up_prompts_are_kept_out(
    kind: str, same: SemanticCache, prompt: str
) -> None:
    """Neither stored nor served, though an answer that fits is there."""
    same.put("Describe a green tent", "A")

    answers = replies(kind, same, prompt, prompt)
    decision = decide(kind, decorate(kind, same, lambda prompt: prompt), prompt)

    assert answers == ["R1", "R2"]
    assert isinstance(decision, Bypass)
    assert decision.reason is Reason.DYNAMIC
    assert len(same) == 1


def test_b146_a_personal_balance_is_not_shared(kind: str, same: SemanticCache) -> None:
    """Two callers, two wordings: two calls."""
    answers = replies(
        kind, same, "How many loyalty points do I have?", "What is my loyalty point balance?"
    )

    assert answers == ["R1", "R2"]
    assert len(same) == 0


@pytest.mark.parametrize(
    "prompt",
    [
        "What platform is the Cardiff train on?",
        "Is the ring road still closed?",
        "Hat der Zug nach Köln Verspätung?",
        "La pharmacie est-elle encore ouverte ?",
        "¿Hay retrasos en el metro esta tarde?",
        "Il treno per Roma è in ritardo?",
        "Há atrasos no metrô hoje à noite?",
        "山手線は動いていますか",
        "2호선 지연됐어?",
        "Электрички сегодня опаздывают?",
        "二号线现在挤不挤",
    ],
)
def test_how_things_run_just_now_is_asked_anew_in_any_language(
    same: SemanticCache, prompt: str
) -> None:
    """A train that was late is not late for ever."""
    same.put("Describe a green tent", "A")

    decision = same.lookup(prompt)

    assert isinstance(decision, Bypass)
    assert decision.reason is Reason.DYNAMIC


@pytest.mark.parametrize(
    "prompt",
    [
        "Remind me to call mum.",
        "Add eggs to my shopping list.",
        "Stell einen Timer auf zehn Minuten",
        "Pon un temporizador de diez minutos",
        "10分のタイマーをセットして",
        "明早七点叫我起床",
    ],
)
def test_an_order_about_ones_own_day_is_carried_out_each_time(
    kind: str, same: SemanticCache, prompt: str
) -> None:
    """ "Done" is true of one call only."""
    answers = replies(kind, same, prompt, prompt)

    assert answers == ["R1", "R2"]
    assert len(same) == 0


@pytest.mark.parametrize("prompt", ["Which of those is cheapest?", "¿Y en inglés?", "那另外两个呢"])
def test_a_follow_up_is_cached_with_its_conversation_only(
    kind: str, far: SemanticCache, prompt: str
) -> None:
    """Alone, and behind a system prompt, it has no answer of its own; with its turns it has."""
    system = {"role": "system", "content": "You are a guide."}
    turns = [user("Name three tents"), {"role": "assistant", "content": "A, B and C"}]

    alone = replies(kind, far, prompt, prompt)
    instructed = replies(kind, far, *[[system, user(prompt)]] * 2)
    talking = replies(kind, far, *[[*turns, user(prompt)]] * 2)

    assert (alone, instructed, talking) == (["R1", "R2"], ["R1", "R2"], ["R1", "R1"])


@pytest.mark.parametrize(
    "prompt",
    [
        "How do I get the current date in Python?",
        "How do I check what my credit score is?",
        "Why do trains run on rails?",
        "Is a set closed under union?",
        "What does the Fed do?",
        "Which logic gate is universal?",
        "What happens next in the water cycle after condensation?",
        "Remind me how photosynthesis works",
        "Warum haben Züge Verspätung?",
        "¿Cómo perdió Napoleón la batalla de Waterloo?",
        "秦始皇活了多少岁",
        "闹钟是谁发明的",
        "電車はなぜ動くのですか",
    ],
)
def test_a_lasting_question_in_the_same_words_is_cached(far: SemanticCache, prompt: str) -> None:
    """A filter that holds everything back is no filter."""
    answers = replies("plain", far, prompt, prompt)

    assert answers == ["R1", "R1"]


def test_what_was_stored_against_the_rules_is_not_served_under_them(same: SemanticCache) -> None:
    """Overruling the filter is for the call that does it."""
    same.put("Who called me this morning?", "Anna", dynamic=False)

    asked = same.lookup("Who called me this morning?")
    overruled = same.lookup("Who called me this morning?", dynamic=False)

    assert isinstance(asked, Bypass)
    assert isinstance(overruled, Hit)


def test_a_cache_without_the_filter_leaves_nothing_for_one_that_has_it(tmp_path: Path) -> None:
    """The directory is the same, the entry is exactly the one that is asked for."""
    prompt = "Is the museum open now?"
    loose = Config(dynamic_filter=False, embed_timeout_seconds=60.0, store_timeout_seconds=30.0)
    with SemanticCache(tmp_path / "c", embedder=Same(), config=loose) as before:
        before.put(prompt, "Yes")
        assert isinstance(before.lookup(prompt), Hit)

    with SemanticCache(tmp_path / "c", embedder=Same(), config=PATIENT) as after:
        decision = after.lookup(prompt)

    assert isinstance(decision, Bypass)


def test_what_perishes_is_lent_for_its_short_life_only(kind: str, clock: Clock) -> None:
    """And what belongs to one caller is not lent even then."""
    config = Config(
        perishable_ttl_seconds=60.0, embed_timeout_seconds=60.0, store_timeout_seconds=30.0
    )
    with SemanticCache(embedder=Same(), guards=(), clock=clock, config=config) as cache:
        ask = decorate(kind, cache, lambda _prompt: clock.now)

        first = call(kind, ask, "How did the FTSE close?")
        clock.advance(30)
        lent = call(kind, ask, "How did the FTSE close?")
        clock.advance(31)
        anew = call(kind, ask, "How did the FTSE close?")
        own = [decide(kind, ask, "Did my mum text me back?") for _ in range(2)]

    assert (lent, anew) == (first, first + 61)
    assert all(isinstance(decision, Bypass) for decision in own)


def test_the_verdict_is_the_same_in_every_shape_of_a_message(same: SemanticCache) -> None:
    """A provider's content parts do not hide the question from the filter."""
    text = "Has Anna replied?"
    shapes = [
        text,
        user(text),
        [user([{"type": "text", "text": text}])],
        [user([{"type": "input_text", "text": text}])],
        [{"role": "user", "parts": [{"text": text}]}],
    ]

    decisions = [same.lookup(shape) for shape in shapes]

    assert all(isinstance(decision, Bypass) for decision in decisions)
    assert not any(isinstance(decision, Miss) for decision in decisions)
