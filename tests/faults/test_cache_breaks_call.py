"""A dead or broken part of the cache holds up the call, or the whole service.

Promise: Whatever fails in or around the cache, the wrapped call goes through, in bounded time
Room: `semcache/cache.py`, `semcache/cached_function.py`, `semcache/backfill.py`,
    `semcache/aside.py`
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from semcache import Bypass, Config, Hit, Miss, Reason, SemanticCache
from semcache.aside import _pool
from tests.fakes import Far, Model, Same
from tests.faults.calls import call, decide, decorate, replies
from tests.faults.conftest import PATIENT

PROMPT = "Explain how a kettle works"


class Dead(Same):
    """An embedder that does not answer for a minute."""

    name = "dead"

    def __init__(self) -> None:
        self.over = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        self.over.wait(60)
        return super().embed(texts)


def test_b142_a_dead_embedder_costs_its_deadline_once(kind: str) -> None:
    """Then a miss with a reason, and hardly any time while it stays dead."""
    embedder = Dead()
    config = Config(embed_timeout_seconds=0.2)
    with SemanticCache(embedder=embedder, config=config) as cache:
        ask = decorate(kind, cache, lambda prompt: prompt)

        started = time.monotonic()
        decisions = [decide(kind, ask, f"{PROMPT} {n}") for n in "abcdefghij"]
        again = decide(kind, ask, f"{PROMPT} a")
        took = time.monotonic() - started
        embedder.over.set()

    assert {d.reason for d in decisions if isinstance(d, Miss)} == {Reason.EMBEDDER_TIMEOUT}
    assert isinstance(again, Hit)
    assert took < 10


def test_nobody_else_waits_for_an_embedder_that_is_stuck() -> None:
    """One call pays the deadline; those after it do not ask."""
    embedder = Dead()
    with SemanticCache(embedder=embedder, config=Config(embed_timeout_seconds=0.05)) as cache:
        for number in range(10):
            cache.lookup(f"{PROMPT}, part {number}")
        counts = cache.stats().embedder
        embedder.over.set()

    assert (counts["timeouts"], counts["refused"]) == (1, 9)


def test_b142_the_default_deadline_is_a_second() -> None:
    """Nobody has to set it."""
    assert Config().embed_timeout_seconds <= 1.0


class Unloadable(Same):
    """An embedder that raises when it is made ready."""

    name = "unloadable"
    loaded = False

    def load(self) -> None:
        raise OSError("weights not found")


@pytest.mark.usefixtures("unwarned")
@pytest.mark.parametrize("embedder", [Unloadable, lambda: "/no/such/model"])
def test_b143_a_model_that_does_not_load_leaves_the_exact_tier(
    kind: str, embedder: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The service starts, with one warning."""
    with (
        caplog.at_level(logging.WARNING, "semcache"),
        SemanticCache(embedder=embedder(), threshold=0.95, config=PATIENT) as cache,
    ):
        ready = cache.preload(60)
        answers = replies(kind, cache, PROMPT, "Describe a green tent", PROMPT)
        found = cache.explain("Why is the sea salty?")

    assert not ready
    assert answers == ["R1", "R2", "R1"]
    assert isinstance(found, Miss)
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1


class Unsayable:
    """Something that can be neither printed nor weighed."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


def tags_that_end_badly(*_args: object, **_kwargs: object) -> Iterator[str]:
    yield "kb:kettles"
    raise KeyError("the rest")


@pytest.mark.parametrize(
    "rules",
    [
        {"depends_on": tags_that_end_badly},
        {"depends_on": lambda *_args, **_kwargs: [7]},
        {"ignore": lambda _name: Unsayable()},
        {"namespace": lambda *_args, **_kwargs: Unsayable()},
        {"scope": lambda *_args, **_kwargs: Unsayable()},
    ],
)
def test_a_rule_that_fails_late_goes_past_the_cache(
    kind: str, far: SemanticCache, rules: dict[str, Any]
) -> None:
    """After it returned: while its tags are counted, or what it gave is weighed or printed."""

    def body(prompt: str, **_kwargs: Any) -> str:
        return prompt

    ask = decorate(kind, far, body, **rules)

    assert call(kind, ask, PROMPT, tone="dry") == PROMPT
    assert isinstance(decide(kind, ask, PROMPT, tone="dry"), Bypass)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_closed_cache_lets_the_call_through(kind: str, on_disk: bool, tmp_path: Path) -> None:
    """A service that is being shut down answers its last requests."""
    cache = SemanticCache(tmp_path / "c" if on_disk else None, embedder=Same(), config=PATIENT)
    ask = decorate(kind, cache, lambda prompt: prompt.upper())
    cache.close()

    answers = [call(kind, ask, text) for text in (PROMPT, PROMPT, "Describe a green tent")]

    assert answers == [PROMPT.upper(), PROMPT.upper(), "DESCRIBE A GREEN TENT"]


def test_a_process_that_can_start_no_more_threads_still_answers(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the embedder's thread nor those of the async side can be had."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    _pool.forget()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with SemanticCache(embedder=Same(), config=PATIENT) as cache:
            ask = decorate(kind, cache, Model())
            answers = [call(kind, ask, PROMPT) for _ in range(2)]
            errors = cache.stats().errors
    _pool.forget()

    assert answers == ["R1", "R1"]
    assert errors == {Reason.CACHE_FAILED.value: 1}


class Unhashable(type):
    """A class whose classes cannot be looked up in any table."""

    __hash__ = None  # type: ignore[assignment]  # the point of it


class Odd(metaclass=Unhashable):
    """An answer of such a class."""


def test_an_answer_that_cannot_be_read_reaches_its_caller(kind: str, far: SemanticCache) -> None:
    """Reading it for the store raises what nobody thought of."""
    odd = Odd()
    ask = decorate(kind, far, lambda _prompt: odd)

    answers = [call(kind, ask, PROMPT) for _ in range(2)]

    assert all(answer is odd for answer in answers)
    assert len(far) == 0


class LateToFail(Same):
    """An embedder that is fine until it has been loaded, and then knows no threshold."""

    name = "late to fail"
    loaded = False

    def load(self) -> None:
        self.loaded = True

    @property
    def default_threshold(self) -> float:
        raise RuntimeError("not measured")


def test_an_embedder_that_breaks_a_promise_of_its_class_is_a_miss(kind: str) -> None:
    """What fails around the embedding, not in it, costs the semantic tier and not the call."""
    with SemanticCache(embedder=LateToFail(), config=PATIENT) as cache:
        cache.preload(60)

        answers = replies(kind, cache, PROMPT, "Describe a green tent", PROMPT)
        missed = cache.lookup("Describe a tent of green canvas")

    assert answers == ["R1", "R2", "R1"]
    assert isinstance(missed, Miss)
    assert missed.reason is Reason.NO_THRESHOLD


class Moody(Far):
    """An embedder that fails as often as it was told to."""

    name = "moody"

    def __init__(self, fails: Callable[[Sequence[str]], bool]) -> None:
        self.fails = fails

    def embed(self, texts: Sequence[str]) -> Any:
        if self.fails(texts):
            raise RuntimeError("not now")
        return super().embed(texts)


def test_a_text_that_the_embedder_left_out_is_embedded_once_it_answers_again() -> None:
    """One bad moment does not leave an answer exact-only for as long as the process lives."""
    bad = [True]
    with SemanticCache(embedder=Moody(lambda _texts: bad[0]), config=PATIENT) as cache:
        cache.put(PROMPT, "It boils.")
        cache.flush()
        before = [entry.windows for entry in cache.entries()]

        bad[0] = False
        cache.lookup("Describe a green tent")
        cache.flush()
        after = [entry.windows for entry in cache.entries()]

    assert (before, after) == ([0], [1])


def test_a_text_that_the_embedder_never_takes_is_given_up() -> None:
    """Three times behind the caller, and not for ever."""
    tries: list[Sequence[str]] = []

    def fails(texts: Sequence[str]) -> bool:
        is_hard = any("kettle" in text for text in texts)
        tries.extend([texts] * is_hard)
        return is_hard

    with SemanticCache(embedder=Moody(fails), config=PATIENT) as cache:
        cache.put(PROMPT, "It boils.")
        cache.flush()
        for number in range(8):
            cache.lookup(f"Describe tent number {number}")
            cache.flush()

        assert len(tries) == 1 + 3
        assert isinstance(cache.lookup(PROMPT), Hit)
