"""Turns what a user passes as `embedder=` into an Embedder. Loads nothing and calls nothing."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

from semcache.embed.factory import FactoryEmbedder
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.errors import ArgumentError
from semcache.protocols import Embedder, Vectors
from semcache.vectors import unit_rows

__all__ = ["EncodeEmbedder", "as_embedder"]

# Attributes that identify a model. Others may be secrets, and a name is written to disk.
_IDENTITY = (
    "model",
    "model_name",
    "model_id",
    "model_name_or_path",
    "name",
    "revision",
    "version",
    "dim",
    "prefix",
    "prompt",
)


class Encoder(Protocol):
    """An object with `encode(texts)` that returns one row a text."""

    def encode(self, texts: list[str], /) -> Any:
        """Return numbers of shape (len(texts), any width)."""
        ...


class EncodeEmbedder:
    """An Embedder over an object with `encode`: rows are checked and brought to unit length.

    Its name is the object's class with those attributes that identify a model (`model`,
    `model_name`, `revision` and the like, when they are plain text or numbers). Two models that
    differ in nothing of that need a class with `embed`, `name` and `dimension` of their own.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The fingerprint: class and identifying attributes, no memory address."""
        kind = type(self._encoder)
        found = {word: inspect.getattr_static(self._encoder, word, None) for word in _IDENTITY}
        plain = [f"{word}={value}" for word, value in found.items() if isinstance(value, str | int)]
        return " ".join([f"{kind.__module__}.{kind.__qualname__}", *plain])

    @property
    def known_dimension(self) -> int | None:
        """The width, if it is known without asking the object, which may be far away."""
        return self._dimension

    @property
    def dimension(self) -> int:
        """The width of every vector; asks the object once, by encoding a word."""
        if self._dimension is None:
            self.embed(["width"])
        assert self._dimension is not None
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dimension), rows of unit length or zeros.

        Raises:
            DimensionError: another width than before.
            EmbedderError: not one finite row a text.
        """
        asked = list(texts) or ["width"]
        rows = unit_rows(self._encoder.encode(asked), count=len(asked), dimension=self._dimension)
        self._dimension = rows.shape[1]
        return rows[: len(texts)]


def as_embedder(embedder: object) -> Embedder:
    """Return an Embedder for `embedder`.

    Args:
        embedder: None (the default model), a model's name or path, a SentenceTransformer, an object
            with `embed`, `name` and `dimension`, an object with `encode(list of texts)`, or a class
            or function without arguments that makes one of these when it is first needed.

    Raises:
        ArgumentError: none of these. Says what to pass.

    Example:
        >>> as_embedder(None).loaded
        False
    """
    if embedder is None:
        return SentenceTransformerEmbedder()
    if isinstance(embedder, str | os.PathLike):
        return SentenceTransformerEmbedder(embedder)
    if _is_embedder(embedder):
        return embedder
    if _is_sentence_transformer(embedder):
        return SentenceTransformerEmbedder(embedder)
    if _is_encoder(embedder):
        return EncodeEmbedder(embedder)
    if isinstance(embedder, type) or inspect.isroutine(embedder):
        return FactoryEmbedder(embedder, as_embedder)
    raise ArgumentError(
        "embedder",
        type(embedder),
        "pass a model name, the path of a model folder, an object with embed(texts), name and "
        "dimension, or with encode(texts), or a class or function that makes one",
    )


def _has(candidate: object, *names: str) -> bool:
    """Whether the attributes exist, without running properties: one may load a model."""
    absent = object()
    return not isinstance(candidate, type) and all(
        inspect.getattr_static(candidate, name, absent) is not absent for name in names
    )


def _is_embedder(candidate: object) -> TypeGuard[Embedder]:
    return _has(candidate, "embed", "name", "dimension")


def _is_encoder(candidate: object) -> TypeGuard[Encoder]:
    return _has(candidate, "encode")


def _is_sentence_transformer(candidate: object) -> TypeGuard[Any]:
    library = sys.modules.get("sentence_transformers")
    return library is not None and isinstance(candidate, library.SentenceTransformer)
