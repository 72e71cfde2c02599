"""Turns texts into vectors, in bounded time. Importing it loads no model and no torch."""

from __future__ import annotations

from semcache.embed.adapt import as_embedder
from semcache.embed.batching import Embedded, Embedding, NoEmbedding
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.embed.service import EmbeddingService

__all__ = [
    "Embedded",
    "Embedding",
    "EmbeddingService",
    "NoEmbedding",
    "SentenceTransformerEmbedder",
    "as_embedder",
]
