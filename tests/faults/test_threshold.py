"""A threshold is read backwards, read differently by two paths, or means nothing for a model.

Promise: one number, higher is stricter, alike on every path; a model that nobody measured has none,
and no other model's.
Room: `semcache/judge/threshold.py`, `semcache/rooms.py`
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import Config, Decision, Hit, Miss, Reason, SemanticCache, SentenceTransformerEmbedder
from semcache.embed.weights import MINILM_SHA256, THRESHOLDS
from semcache.errors import ArgumentError
from tests.fakes import Same
from tests.faults.calls import decide, decorate, replies
from tests.faults.conftest import PATIENT

THRESHOLD = 0.9


class Angle:
    """An embedder in the plane: a text that ends in a number of degrees lies at that angle."""

    name = "angle"
    dimension = 2

    def embed(self, texts: Sequence[str]) -> Any:
        angles = np.radians([float(text.rsplit(maxsplit=1)[1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def own_text(text: str) -> str:
    return text


@pytest.fixture
def plane() -> Iterator[SemanticCache]:
    with SemanticCache(
        embedder=Angle(), threshold=THRESHOLD, guards=(), core=own_text, config=PATIENT
    ) as cache:
        yield cache


def summary(decision: Decision) -> tuple[str, float | None]:
    if isinstance(decision, Hit):
        return "hit", decision.score
    nearest = decision.nearest if isinstance(decision, Miss) else None
    return type(decision).__name__, None if nearest is None else nearest.score


def test_b136_all_ways_of_asking_decide_alike(plane: SemanticCache) -> None:
    """A hundred pairs on both sides of one threshold: equal decisions and equal scores."""
    pairs = [(f"first {chr(97 + n % 26)}{n} at 0", f"other words at {n * 0.5}") for n in range(100)]
    for number, (stored, _asked) in enumerate(pairs):
        plane.put(stored, number, scope=number, dynamic=False)

    sync = [plane.lookup(b, scope=n, dynamic=False) for n, (_a, b) in enumerate(pairs)]
    batch = [plane.lookup_many([b], scope=n, dynamic=False)[0] for n, (_a, b) in enumerate(pairs)]
    shown = [plane.explain(b, scope=n, dynamic=False) for n, (_a, b) in enumerate(pairs)]

    async def all_at_once() -> list[Decision]:
        return await asyncio.gather(
            *(plane.alookup(b, scope=n, dynamic=False) for n, (_a, b) in enumerate(pairs))
        )

    ways = [sync, batch, shown, asyncio.run(all_at_once())]
    assert len({tuple(map(summary, decisions)) for decisions in ways}) == 1
    kinds = [summary(decision)[0] for decision in sync]
    assert kinds == [
        "hit" if math.cos(math.radians(n / 2)) >= THRESHOLD else "Miss" for n in range(100)
    ]


def test_b136_the_four_kinds_of_function_decide_alike(kind: str, plane: SemanticCache) -> None:
    """25.8 degrees are within 0.9, 25.9 are not."""
    ask = decorate(kind, plane, lambda prompt: prompt, dynamic=False)
    decide(kind, ask, "stored at 0")

    within, beyond = (decide(kind, ask, f"asked at {angle}") for angle in (25.8, 25.9))

    assert isinstance(within, Hit)
    assert within.score == pytest.approx(math.cos(math.radians(25.8)), abs=1e-6)
    assert isinstance(beyond, Miss)


@pytest.mark.parametrize(
    ("threshold", "served"),
    [(1.0, [True, False, False]), (0.5, [True, True, False]), (0.0, [True, True, True])],
)
def test_b137_higher_is_stricter(threshold: float, served: list[bool]) -> None:
    """1.0 serves only identical vectors, 0.0 everything."""
    with SemanticCache(
        embedder=Angle(), threshold=threshold, guards=(), core=own_text, config=PATIENT
    ) as cache:
        cache.put("stored at 0", "A", dynamic=False)

        found = [
            isinstance(cache.lookup(f"other words at {angle}", dynamic=False), Hit)
            for angle in (0, 45, 90)
        ]

    assert found == served


@pytest.mark.parametrize("threshold", [1.2, -0.1, math.nan])
def test_b137_out_of_range_is_an_error(threshold: float) -> None:
    """It names the argument, the value and the remedy."""
    with pytest.raises(ArgumentError, match=r"threshold=.*from 0 to 1"):
        SemanticCache(threshold=threshold, embedder=False)
    with pytest.raises(ArgumentError, match=r"threshold=.*from 0 to 1"):
        Config(threshold=threshold)


TOPICS = """How tall is a giraffe?|What is the capital of Peru?|Who wrote Dracula?|Define entropy.
How do I whistle?|Why is the sea salty?|Name three rivers in France.|What does a notary do?
How long do eggs boil?|Translate 'bread' into Welsh.|What is a prime number?|Explain offside.
How is glass made?|What do owls eat?|Why do leaves fall?|What is a mortgage?|How do I knit?
What is Ohm's law?|Who painted Guernica?|How do vaccines work?|What is a fjord?|Boil rice how?
Where do eels breed?|What is jazz?|Who was Hypatia?|How do magnets work?|What is a sonnet?
How are pearls formed?|What is inflation?|Why do cats purr?|How do I change a tyre?
What is a black hole?|Who invented paper?|How deep is Lake Baikal?|What is tofu made of?
Why is the sky blue?|What is a bassoon?|How do bees dance?|What is a quorum?|Who was Pele?
How do I prune roses?|What is sourdough?|Why do we yawn?|What is a tariff?|How fast is sound?
What is origami?|Who wrote Faust?|How do locks work?|What is a glacier?|Why do onions sting?
What is a haiku?""".replace("\n", "|").split("|")


@pytest.mark.model
def test_b139_unrelated_texts_do_not_match_at_the_models_own_default(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Fifty pairs, without any guard; the model brings its own threshold."""
    assert len(TOPICS) == 51
    assert minilm.default_threshold is not None
    with SemanticCache(embedder=minilm, guards=(), config=PATIENT) as cache:
        cache.preload(60)
        for number, topic in enumerate(TOPICS[:-1]):
            cache.put(topic, number, scope=number, dynamic=False)

        found = [cache.lookup(t, scope=n, dynamic=False) for n, t in enumerate(TOPICS[1:])]

    assert not [decision for decision in found if isinstance(decision, Hit)]
    assert all(isinstance(d, Miss) and d.nearest and d.nearest.score < 0.6 for d in found)


class Unmeasured(Same):
    """A model that nobody has measured."""

    name = "unmeasured"
    default_threshold = None


@pytest.mark.usefixtures("unwarned")
def test_b139_an_unknown_model_asks_for_a_measured_threshold(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning; until then the semantic tier is off and says why, while the others serve."""
    with (
        caplog.at_level(logging.WARNING, "semcache"),
        SemanticCache(embedder=Unmeasured(), guards=(), config=PATIENT) as cache,
    ):
        cache.put("Describe a green tent", "A")
        reworded = cache.lookup("Explain how a kettle works")
        near = cache.lookup("describe a green tent!")

    told = [r.getMessage() for r in caplog.records if "'unmeasured'" in r.getMessage()]
    assert len(told) == 1
    assert "threshold=" in told[0]
    assert isinstance(reworded, Miss)
    assert reworded.reason is Reason.NO_THRESHOLD
    assert reworded.steps[-1].threshold is None
    assert isinstance(near, Hit)


def test_an_unmeasured_model_serves_nothing_by_meaning(kind: str) -> None:
    """Nor is it asked at a look-up, in any kind of function."""
    with SemanticCache(embedder=Unmeasured(), guards=(), config=PATIENT) as cache:
        asked = ("Describe a green tent", "Explain how a kettle works", "Describe a green tent")

        assert replies(kind, cache, *asked) == ["R1", "R2", "R1"]


def test_a_threshold_of_zero_is_a_threshold_and_not_none_given() -> None:
    """For a model with a number of its own and for one without; from code and the environment."""
    zeros: list[dict[str, Any]] = [
        {"threshold": 0},
        {"threshold": 0.0},
        {"config": Config.from_environment({"SEMCACHE_THRESHOLD": "0"})},
    ]
    for embedder in (Angle(), Measured()):
        for zero in zeros:
            with SemanticCache(embedder=embedder, guards=(), core=own_text, **zero) as cache:
                cache.put("stored at 0", "A", dynamic=False)

                assert isinstance(cache.lookup("other words at 80", dynamic=False), Hit)


class Measured(Angle):
    """A model that brings a number of its own."""

    name = "measured"
    default_threshold: Any = 0.5


class Late(Measured):
    """It can tell its number, as all else, only once it is loaded."""

    def __init__(self) -> None:
        self.loaded = False

    def load(self) -> None:
        self.loaded = True

    @property
    def default_threshold(self) -> Any:  # type: ignore[override]  # a property, as many have it
        if not self.loaded:
            raise RuntimeError("it is not loaded")
        return 0.5


@pytest.mark.parametrize("embedder", [Measured, Late])
def test_a_models_own_number_is_the_one_used(embedder: type[Measured]) -> None:
    """However late it is known."""
    with SemanticCache(embedder=embedder(), guards=(), core=own_text, config=PATIENT) as cache:
        cache.preload(60)
        cache.put("stored at 0", "A", dynamic=False)

        found = [cache.lookup(f"other words at {angle}", dynamic=False) for angle in (59, 61)]

    assert [summary(decision)[0] for decision in found] == ["hit", "Miss"]


@pytest.mark.parametrize("number", [7.0, -0.1, math.nan, "0.9", True])
def test_a_models_own_number_that_cannot_be_is_no_number(number: Any) -> None:
    """The tier is off; nothing else takes the number's place."""

    class Odd(Measured):
        default_threshold = number

    with SemanticCache(embedder=Odd(), guards=(), core=own_text, config=PATIENT) as cache:
        cache.put("stored at 0", "A", dynamic=False)
        decision = cache.lookup("other words at 0", dynamic=False)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.NO_THRESHOLD


class Stretched(Angle):
    """It gives vectors of any length, so that an inner product or a distance is no cosine."""

    name = "stretched"

    def embed(self, texts: Sequence[str]) -> Any:
        lengths = np.array([[0.01 if "short" in text else 40.0] for text in texts])
        return super().embed(texts) * lengths


def test_the_score_is_a_cosine_whatever_the_length_of_a_vector() -> None:
    """A long vector is not nearer, a short one not farther."""
    with SemanticCache(
        embedder=Stretched(), threshold=THRESHOLD, guards=(), core=own_text, config=PATIENT
    ) as cache:
        cache.put("stored at 0", "A", dynamic=False)
        asked = ["short words at 25", "long words at 25", "short words at 27", "long words at 27"]

        found = [summary(cache.lookup(text, dynamic=False)) for text in asked]

    cosines = [math.cos(math.radians(angle)) for angle in (25, 25, 27, 27)]
    assert [kind for kind, _score in found] == ["hit", "hit", "Miss", "Miss"]
    assert [score for _kind, score in found] == pytest.approx(cosines, abs=1e-5)


def test_a_restart_reads_the_threshold_and_the_scores_alike(tmp_path: Path) -> None:
    """From disk as from memory, to the last bit."""
    asked = [f"other words at {angle}" for angle in (0, 25.8, 25.9, 90)]
    options: dict[str, Any] = {"threshold": THRESHOLD, "guards": (), "core": own_text}
    with SemanticCache(tmp_path / "c", embedder=Angle(), config=PATIENT, **options) as cache:
        cache.put("stored at 0", "A", dynamic=False)
        before = [summary(cache.lookup(text, dynamic=False)) for text in asked]

    with SemanticCache(tmp_path / "c", embedder=Angle(), config=PATIENT, **options) as cache:
        after = [summary(cache.lookup(text, dynamic=False)) for text in asked]

    assert [kind for kind, _score in before] == ["hit", "hit", "Miss", "Miss"]
    assert after == before


@pytest.mark.model
def test_a_number_holds_for_the_weights_and_the_prompt_it_was_measured_with() -> None:
    """Not for whatever a folder is called, nor for the same weights behind a prompt."""
    plain, prompted = SentenceTransformerEmbedder(), SentenceTransformerEmbedder(prompt="query: ")

    assert plain.default_threshold == 0.95
    assert prompted.default_threshold is None
    assert set(THRESHOLDS) == {MINILM_SHA256}


@pytest.mark.model
def test_b140_a_plain_paraphrase_hits_at_the_default(kind: str, real: SemanticCache) -> None:
    """A polite opening and "city" change nothing."""
    stored = "What is the capital of Ghana?"
    asked = "Can you tell me the capital city of Ghana?"

    assert replies(kind, real, stored, asked) == ["R1", "R1"]
