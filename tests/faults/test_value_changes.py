"""The cached value changes between store and hit: in place, in type, or into nothing.

Promise: a hit has the type and content of what was stored, and is nobody else's object.
Room: `semcache/value.py`, `semcache/draft.py`
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import threading
import zoneinfo
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from semcache import Config, Decision, Hit, SemanticCache
from semcache.decorator import Decorate
from tests.answers import Finish, Point, form
from tests.fakes import Far, Model
from tests.faults.calls import call, decorate, replies
from tests.faults.conftest import PATIENT

PROMPT = "Describe a green tent"


def test_b124_what_the_caller_changes_is_the_callers_own(kind: str, far: SemanticCache) -> None:
    """The second result is as the first was, at any depth."""
    ask = decorate(kind, far, lambda _prompt: {"text": "tent", "parts": [{"poles": 4}]})

    for _ in range(2):
        answer = call(kind, ask, PROMPT)
        answer["text"] = "x"
        answer["parts"][0]["poles"] = 0
        answer["parts"].append("more")

    assert call(kind, ask, PROMPT) == {"text": "tent", "parts": [{"poles": 4}]}


def test_b124_a_result_that_holds_a_lock_is_given_and_not_cached(
    kind: str, far: SemanticCache
) -> None:
    """Both calls work, and the second is a real one."""
    model = Model()
    ask = decorate(kind, far, lambda _prompt: {"text": model(), "lock": threading.Lock()})

    answers = [call(kind, ask, PROMPT) for _ in range(2)]

    assert [answer["text"] for answer in answers] == ["R1", "R2"]
    assert len(far) == 0


@dataclass(frozen=True)
class Tent:
    """A plain dataclass."""

    colour: str
    poles: list[int] = field(default_factory=list)


class Shelter(BaseModel):
    """A pydantic model."""

    colour: str
    built: dt.date


VALUES: list[Any] = [
    Tent("green", [1, 2]),
    Shelter(colour="green", built=dt.date(2020, 2, 29)),
    ("green", 4, ("nested",)),
    b"\x00\xff green",
    dt.datetime(2020, 2, 29, 12, 30, tzinfo=dt.UTC),
    {"mixed": [Tent("red"), (1, 2), b"x", {"when": dt.date(2020, 1, 1)}]},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_b125_a_hit_has_the_type_that_was_stored(kind: str, value: Any, tmp_path: Path) -> None:
    """From memory and from disk alike."""
    for opening in range(2):
        with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
            ask = decorate(kind, cache, lambda _prompt: value)

            answers = [call(kind, ask, PROMPT) for _ in range(2)]
            hits = sum(cache.stats().hits.values())

        assert [(type(answer), answer) for answer in answers] == [(type(value), value)] * 2
        assert hits == 1 + opening


class Opaque:
    """A type that nobody has registered and that hides its state."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()


@pytest.mark.usefixtures("unwarned")
def test_b125_what_cannot_keep_its_type_is_not_cached_and_said_once(
    kind: str, far: SemanticCache, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, however often it happens."""
    opaque = type(f"Opaque_{kind.replace(' ', '_')}", (Opaque,), {})
    ask = decorate(kind, far, lambda _prompt: opaque())

    with caplog.at_level(logging.WARNING, "semcache"):
        answers = [call(kind, ask, PROMPT) for _ in range(3)]

    assert all(type(answer) is opaque for answer in answers)
    assert len(far) == 0
    assert len([r for r in caplog.records if opaque.__name__ in r.getMessage()]) == 1


@pytest.mark.parametrize("value", [0, False, 0.0])
def test_b127_falsy_values_are_stored(kind: str, value: Any, far: SemanticCache) -> None:
    """A number and a truth value are answers."""
    calls: list[str] = []

    def body(prompt: str) -> Any:
        calls.append(prompt)
        return value

    ask = decorate(kind, far, body)

    answers = [call(kind, ask, PROMPT) for _ in range(2)]

    assert [(type(answer), answer) for answer in answers] == [(type(value), value)] * 2
    assert len(calls) == 1


@pytest.mark.parametrize("value", ["", [], None])
@pytest.mark.parametrize("store_empty", [False, True])
def test_b127_empty_values_are_stored_when_asked_for(value: Any, store_empty: bool) -> None:
    """By default they are not; once stored, each is a hit."""
    calls: list[str] = []
    config = Config(store_empty=store_empty, embed_timeout_seconds=60)
    with SemanticCache(embedder=Far(), config=config) as cache:

        @cache.cached()
        def ask(prompt: str) -> Any:
            calls.append(prompt)
            return value

        answers = [ask(PROMPT), ask(PROMPT)]
        decision = ask.lookup(PROMPT)

    assert answers == [value, value]
    assert len(calls) == (1 if store_empty else 2)
    assert isinstance(decision, Hit) == store_empty


def test_b128_an_empty_cache_is_a_cache(kind: str) -> None:
    """Its length of nothing does not make it nothing."""
    with SemanticCache(embedder=Far(), config=PATIENT) as cache:
        assert len(cache) == 0
        assert cache

        assert replies(kind, cache, PROMPT, PROMPT) == ["R1", "R1"]


def test_b128_an_empty_cache_passed_to_the_decorator_is_used() -> None:
    """Named outright, too."""
    model = Model()
    with SemanticCache(embedder=Far(), config=PATIENT) as cache:

        @Decorate(cache)
        def ask(prompt: str) -> str:
            return model()

        assert [ask(PROMPT), ask(PROMPT)] == ["R1", "R1"]


def test_a_rule_that_changes_the_answer_changes_neither_the_callers_nor_the_stored(
    kind: str, far: SemanticCache
) -> None:
    """`cache_if` and `cost` are asked about a copy."""

    def meddle(answer: Any) -> float:
        inner = answer[0] if isinstance(answer, list) else answer
        inner["text"] = "meddled"
        return 1.0

    rules = {"cache_if": meddle, "cost": meddle}
    ask = decorate(kind, far, lambda _prompt: {"text": "tent"}, **rules)

    assert [call(kind, ask, PROMPT) for _ in range(2)] == [{"text": "tent"}] * 2
    assert far.stats().hits == {"exact": 1}


def test_an_observer_and_a_caller_do_not_share_a_hit(kind: str) -> None:
    """What a logger keeps of a hit stays as it was served, and a logger changes no answer."""
    kept: list[Hit[Any]] = []

    def observe(decision: Decision) -> None:
        if isinstance(decision, Hit):
            kept.append(decision)

    with SemanticCache(embedder=Far(), config=PATIENT, on_decision=observe) as cache:
        ask = decorate(kind, cache, lambda _prompt: {"parts": [1]})
        call(kind, ask, PROMPT)

        call(kind, ask, PROMPT)["parts"].append(2)
        seen = kept[0].value[0] if "stream" in kind else kept[0].value
        assert seen == {"parts": [1]}
        seen["parts"].append(3)

        assert call(kind, ask, PROMPT) == {"parts": [1]}


def test_a_function_that_keeps_its_answer_and_changes_it_changes_no_hit(
    kind: str, far: SemanticCache
) -> None:
    """A client that reuses one buffer for all of its answers."""
    buffer: dict[str, Any] = {}

    def body(prompt: str) -> dict[str, Any]:
        buffer.update(text=prompt, tokens=[len(prompt)])
        return buffer

    ask = decorate(kind, far, body, shared=True)
    first = [form(call(kind, ask, prompt)) for prompt in (PROMPT, "Describe a red kettle")]
    buffer["tokens"].append(0)

    assert [form(call(kind, ask, p)) for p in (PROMPT, "Describe a red kettle")] == first


def test_callers_that_wait_for_one_call_get_an_object_each(far: SemanticCache) -> None:
    """Tasks that share one call in flight share no answer."""

    @far.cached()
    async def ask(prompt: str) -> dict[str, list[str]]:
        await asyncio.sleep(0)
        return {"tags": [prompt]}

    async def main() -> list[dict[str, list[str]]]:
        answers = await asyncio.gather(*(ask(PROMPT) for _ in range(3)))
        answers[0]["tags"].append("mine")
        return [*answers[1:], await ask(PROMPT)]

    assert asyncio.run(main()) == [{"tags": [PROMPT]}] * 3


def test_a_text_with_a_class_of_its_own_does_not_come_back_as_a_plain_one(
    kind: str, far: SemanticCache
) -> None:
    """A str that says by its class that it is cut must not lose that on the way."""

    class CutText(str):
        __slots__ = ()

    ask = decorate(kind, far, lambda _prompt: CutText("Half a te"))

    answers = [call(kind, ask, PROMPT) for _ in range(2)]

    assert [type(answer) for answer in answers] == [CutText, CutText]
    assert len(far) == 0


def test_moments_numbers_and_enums_are_what_they_were_after_a_restart(
    kind: str, tmp_path: Path
) -> None:
    """Zones and folds, minus zero, NaN, exact decimals and the order of a dict."""
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    answer = {
        "when": dt.datetime(2024, 10, 27, 2, 30, tzinfo=zone, fold=1),
        "numbers": [-0.0, float("nan"), float("-inf"), Decimal("1.10"), 2**70, True],
        "finish": Finish.STOP,
        "point": Point("a", [0.1]),
        2: "an int for a key",
    }

    for _opening in range(2):
        with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
            ask = decorate(kind, cache, lambda _prompt: answer, shared=True)
            back = [call(kind, ask, PROMPT) for _ in range(2)]
            hits = dict(cache.stats().hits)

        assert [form(item) for item in back] == [form(answer)] * 2

    assert hits == {"exact": 2}
