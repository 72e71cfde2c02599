"""The demo: two streams of the packaged questions through two fresh caches with a stand-in model.

It chooses the streams and says what is simulated. It prints nothing; `report` does.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from semcache.cache import SemanticCache
from semcache.config import Config
from semcache.data import banking77
from semcache.data.banking77 import Question
from semcache.data.zipf import zipf_stream
from semcache.demo.replay import ReplayResult, replay
from semcache.embed.adapt import as_embedder
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.endpoint import Endpoint
from semcache.errors import ArgumentError, MissingExtraError

__all__ = ["Demo", "Settings", "run_demo", "run_live"]

_START = 1_700_000_000.0
_PATIENT = Config(embed_timeout_seconds=30.0)
"""A busy machine shall show slow figures, not misses that the next run does not have."""

Progress = Callable[[str, int, int], None]
"""Told what is running, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the demo assumes. Every figure that is not measured is here.

    `length` bounds both streams, `exponent` is Zipf's, `model_seconds` is what the stand-in takes
    on its simulated clock, `cost_per_call` is an assumed price in dollars.
    """

    length: int = 1000
    exponent: float = 0.8
    seed: int = 7
    model_seconds: float = 0.45
    cost_per_call: float = 0.002

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ArgumentError("length", self.length, "pass 1 or more requests")
        if not self.cost_per_call >= 0:
            raise ArgumentError("cost_per_call", self.cost_per_call, "pass 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What was shown: results by stream, `repeated` first, and `once` unless the model was real.

    `live` names the real model, if one was asked. `missing` says why there was no semantic tier,
    empty when there was one.
    """

    settings: Settings
    results: dict[str, ReplayResult]
    questions: int
    real_seconds: float
    missing: str = ""
    live: str = ""


@dataclass(slots=True)
class StandIn:
    """A model that answers at once and lets a clock of its own say that it took its time."""

    seconds: float
    now: float = _START

    def clock(self) -> float:
        """Give the simulated wall clock's time."""
        return self.now

    def complete(self, prompt: str) -> str:
        """Answer a question."""
        self.now += self.seconds
        return f"The answer to: {prompt}"


def run_demo(
    settings: Settings, *, embedder: object = None, on_progress: Progress | None = None
) -> Demo:
    """Replay a stream with repetition and one without, each through a fresh cache on disk.

    Args:
        settings: what is assumed.
        embedder: as for SemanticCache; None is the default model. It is loaded once for both.
        on_progress: told what is done.
    """
    began = time.perf_counter()
    questions = banking77.load()
    loaded, missing = _loaded(embedder, on_progress)
    shuffled = list(questions)
    random.Random(settings.seed).shuffle(shuffled)
    streams = {
        "repeated": list(zipf_stream(questions, settings.length, settings.exponent, settings.seed)),
        "once": shuffled[: settings.length],
    }
    results = {}
    for name, stream in streams.items():
        model = StandIn(settings.model_seconds)
        results[name] = _replay(
            name, questions, stream, loaded, model.clock, model.complete, settings, on_progress
        )
    return Demo(
        settings=settings,
        results=results,
        questions=len(questions),
        real_seconds=time.perf_counter() - began,
        missing=missing,
    )


def run_live(
    settings: Settings,
    endpoint: Endpoint,
    *,
    embedder: object = None,
    on_progress: Progress | None = None,
) -> Demo:
    """Replay the stream with repetition through a real model, by the real clock.

    Raises EndpointError when a call fails.
    """
    began = time.perf_counter()
    questions = banking77.load()
    loaded, missing = _loaded(embedder, on_progress)
    stream = list(zipf_stream(questions, settings.length, settings.exponent, settings.seed))
    result = _replay(
        "repeated", questions, stream, loaded, time.time, endpoint.ask, settings, on_progress
    )
    return Demo(
        settings=settings,
        results={"repeated": result},
        questions=len(questions),
        real_seconds=time.perf_counter() - began,
        missing=missing,
        live=f"{endpoint.model} at {endpoint.base_url}",
    )


def _loaded(embedder: object, on_progress: Progress | None) -> tuple[object, str]:
    """Load the embedder; without the weights give False, and what is to be installed."""
    if embedder is False:
        return False, "switched off"
    made = as_embedder(embedder)
    if isinstance(made, SentenceTransformerEmbedder):
        if on_progress is not None:
            on_progress("loading the embedding model", 0, 0)
        try:
            made.load()
        except MissingExtraError as error:
            return False, str(error)
    return made, ""


def _replay(
    name: str,
    questions: Sequence[Question],
    stream: Sequence[Question],
    embedder: object,
    clock: Callable[[], float],
    complete: Callable[[str], str],
    settings: Settings,
    on_progress: Progress | None,
) -> ReplayResult:
    def tell(done: int) -> None:
        if on_progress is not None:
            on_progress(name, done, len(stream))

    with (
        tempfile.TemporaryDirectory(prefix="semcache-demo-") as folder,
        SemanticCache(
            Path(folder) / "cache",
            config=_PATIENT,
            embedder=embedder,
            clock=clock,
            seed=settings.seed,
        ) as cache,
    ):
        cache.preload()
        # The first look-up imports what all others find imported; it is not the cache's time.
        cache.explain("Is everything imported?")
        return replay(
            questions,
            stream,
            cache,
            complete,
            cost_per_call=settings.cost_per_call,
            on_progress=tell,
        )
