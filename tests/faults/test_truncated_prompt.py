"""The embedder cuts a long text without a signal, so its tail never reaches the vector."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from semcache import Hit, SemanticCache, SentenceTransformerEmbedder
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
