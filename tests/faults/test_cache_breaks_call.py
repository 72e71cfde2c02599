"""A dead or broken embedder holds up the call, or the whole service."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from semcache import Config, Hit, Miss, Reason, SemanticCache
from tests.fakes import Same
from tests.faults.calls import decide, decorate, replies
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


def test_b142_the_default_deadline_is_a_second() -> None:
    """Nobody has to set it."""
    assert Config().embed_timeout_seconds <= 1.0


class Unloadable(Same):
    """An embedder that raises when it is made ready."""

    name = "unloadable"
    loaded = False

    def load(self) -> None:
        raise OSError("weights not found")


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
