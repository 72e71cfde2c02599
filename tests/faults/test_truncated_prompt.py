"""The embedder cuts a long text without a signal, so its tail never reaches the vector.

Promise: a text is matched by vectors that cover all of it, or not by meaning; the steps say which.
Room: `semcache/embed/batching.py`, `semcache/embed/pieces.py`, `semcache/index/windows.py`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache import Hit, Miss, SemanticCache, SentenceTransformerEmbedder
from tests.faults.calls import replies
from tests.faults.conftest import PATIENT

OPENING = "harbour crane ferry ticket " * 100
CHAD = f"{OPENING}Answer with the capital of Chad."
CUBA = f"{OPENING}Answer with the capital of Cuba."


@pytest.mark.model
def test_b052_a_tail_beyond_the_window_counts(kind: str, real: SemanticCache) -> None:
    """400 equal words, two endings, two calls."""
    assert replies(kind, real, CHAD, CUBA, CHAD) == ["R1", "R2", "R1"]


@pytest.mark.model
def test_b052_a_long_prompt_is_matched_window_by_window_or_not_at_all(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Without any guard: the vectors of all windows must agree, so an ending far off is apart."""
    far_off = f"{OPENING}How do I bake bread from rye flour? " * 2
    with SemanticCache(embedder=minilm, guards=(), config=PATIENT) as cache:
        cache.preload(60)
        cache.put(CHAD, "N'Djamena")

        decision = cache.lookup(far_off)

    assert not isinstance(decision, Hit)
    assert any(step.name == "semantic" for step in decision.steps)


@pytest.mark.model
def test_b053_two_limits_on_one_model_keep_apart(minilm: SentenceTransformerEmbedder) -> None:
    """Two embedders over one model object, in threads: each as if it were alone."""
    assert minilm._loaded is not None
    shared = minilm._loaded.model
    short = SentenceTransformerEmbedder(shared, max_tokens=128)
    whole = SentenceTransformerEmbedder(shared, max_tokens=256)
    texts = ["harbour " * 100, "crane and ferry " * 30, "ticket", "a b c d " * 25]
    alone = {id(e): [e.embed(e.windows(text)) for text in texts] for e in (short, whole)}
    assert [len(e.windows("harbour " * 200)) for e in (short, whole)] == [2, 1]

    def embed(turn: int) -> bool:
        embedder = (short, whole)[turn % 2]
        made = [embedder.embed(embedder.windows(text)) for text in texts]
        return all(
            np.allclose(one, other, atol=1e-5)
            for one, other in zip(made, alone[id(embedder)], strict=True)
        )

    with ThreadPoolExecutor(8) as pool:
        agreed = list(pool.map(embed, range(16)))

    assert all(agreed)


class Cutting:
    """An embedder that reads only a part of a text and says nothing of it."""

    name = "cutting"
    dimension = 64

    def __init__(self, part: slice) -> None:
        self._part = part

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for place, character in enumerate(text[self._part]):
                row[(ord(character) + place % 7) % self.dimension] += 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(params=[slice(0, 900), slice(-900, None)], ids=["keeps the start", "keeps the end"])
def cutting(request: pytest.FixtureRequest) -> Iterator[SemanticCache]:
    """A cache over such an embedder, without guards: the vectors alone decide."""
    with SemanticCache(
        embedder=Cutting(request.param), threshold=0.9, guards=(), config=PATIENT
    ) as cache:
        yield cache


FRAME = "Answer in {} words. " + "harbour crane ferry ticket " * 60 + "Name the capital of {}."


@pytest.mark.parametrize("other", [("ten", "Cuba"), ("two", "Chad")], ids=["tail", "head"])
def test_an_embedder_that_cuts_in_silence_joins_no_long_texts(
    kind: str, cutting: SemanticCache, other: tuple[str, str]
) -> None:
    """Whichever end it drops, a text that it has not read whole is not matched by meaning."""
    stored, asked = FRAME.format("ten", "Chad"), FRAME.format(*other)

    assert replies(kind, cutting, stored, asked, stored) == ["R1", "R2", "R1"]


def test_the_steps_say_that_an_end_was_not_read(cutting: SemanticCache) -> None:
    """And what to do about it."""
    decision = cutting.lookup(FRAME.format("ten", "Chad"))

    (reason,) = [step.reason for step in decision.steps if step.name == "semantic"]
    assert reason is not None
    assert "windows" in reason


def test_an_embedder_that_reads_all_still_matches_long_texts() -> None:
    """The check costs no hit where nothing is cut."""
    stored, asked = FRAME.format("ten", "Chad"), FRAME.format("ten", "Chads")
    with SemanticCache(
        embedder=Cutting(slice(None)), threshold=0.9, guards=(), config=PATIENT
    ) as cache:
        cache.put(stored, "N'Djamena")

        decision = cache.lookup(asked)

    assert isinstance(decision, Hit)


class Windowed(Cutting):
    """An embedder that says what fits it, four hundred characters."""

    def windows(self, text: str) -> list[str]:
        return [text[start : start + 400] for start in range(0, len(text), 400)]


@pytest.mark.parametrize("place", [0, 500, 1100])
def test_a_window_that_disagrees_is_enough(place: int) -> None:
    """In front, in the middle or behind: one other window, another text."""
    stored = "a" * 1200
    asked = stored[:place] + "q" * 100 + stored[place + 100 :]
    with SemanticCache(
        embedder=Windowed(slice(0, 400)), threshold=0.95, guards=(), config=PATIENT
    ) as cache:
        cache.put(stored, "A")

        decision = cache.lookup(asked)

    assert isinstance(decision, Miss)


def test_long_texts_differ_by_a_last_word_however_near(kind: str, judged: SemanticCache) -> None:
    """One vector for all: the guards read both texts to their ends."""
    assert replies(kind, judged, CHAD, CUBA, CHAD) == ["R1", "R2", "R1"]
