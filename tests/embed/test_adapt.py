"""as_embedder: what a user may pass, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache.embed.adapt import EncodeEmbedder, as_embedder
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.errors import ArgumentError, DimensionError, EmbedderError
from semcache.protocols import Embedder
from tests.contracts.embedder import EmbedderContract


class Lengths:
    """Encodes a text as three numbers, not of unit length."""

    model_name = "lengths"
    revision = 3
    api_key = "secret"

    def encode(self, texts: list[str]) -> list[list[float]]:
        """Return a list of lists, as some clients do."""
        return [[1.0, float(len(text)), float(text.count("e"))] for text in texts]


class TestEncodeEmbedder(EmbedderContract):
    """A wrapped encoder keeps the contract."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Wrap an encoder."""
        return as_embedder(Lengths())


class Own:
    """An Embedder by shape alone, whose width costs something to find out."""

    name = "own"

    @property
    def dimension(self) -> int:
        """Fail when asked."""
        raise AssertionError("asked for the width")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Never called."""
        raise AssertionError("asked to embed")


def test_an_embedder_is_taken_as_it_is_and_not_asked_anything() -> None:
    """Its properties may load a model."""
    own = Own()

    assert as_embedder(own) is own


@pytest.mark.parametrize("model", [None, "all-MiniLM-L6-v2", Path("some/folder")])
def test_a_name_a_path_or_nothing_is_a_model_not_yet_loaded(model: Any) -> None:
    """Nothing is looked for before `load()`."""
    embedder = as_embedder(model)

    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert not embedder.loaded


def test_a_wrapped_encoder_is_named_by_what_identifies_it() -> None:
    """Class, model and revision count; keys to a service and memory addresses do not."""
    name = as_embedder(Lengths()).name

    assert "Lengths" in name
    assert "model_name=lengths" in name
    assert "revision=3" in name
    assert "secret" not in name


@pytest.mark.parametrize("wrong", [7, b"model", [], object(), {"model": "x"}])
def test_anything_else_is_refused_with_what_to_pass(wrong: object) -> None:
    """The error says what would do."""
    with pytest.raises(ArgumentError, match=r"embedder=.*embed\(texts\).*encode\(texts\)"):
        as_embedder(wrong)


def test_a_class_is_made_when_it_is_first_needed() -> None:
    """Until then nothing of it runs."""
    embedder = as_embedder(Lengths)

    assert not getattr(embedder, "loaded", True)
    assert "Lengths" in embedder.name
    assert embedder.loaded  # type: ignore[attr-defined]  # of what loads


class Drifting:
    """An encoder that changes its width, or loses rows."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def encode(self, texts: list[str]) -> Any:
        """Return the next prepared answer."""
        return self.answers.pop(0)


def test_a_change_of_width_is_an_error_with_both_widths() -> None:
    """Vectors of two widths cannot share an index."""
    embedder = EncodeEmbedder(Drifting(np.ones((1, 3)), np.ones((1, 4))))
    embedder.embed(["first"])

    with pytest.raises(DimensionError, match=r"3.*4"):
        embedder.embed(["second"])


def test_a_lost_row_is_an_error() -> None:
    """Otherwise vectors land on the wrong texts."""
    embedder = EncodeEmbedder(Drifting(np.ones((1, 3))))

    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        embedder.embed(["one", "two"])


def test_a_row_of_zeros_stays_zeros() -> None:
    """It has no direction to bring to unit length."""
    embedder = EncodeEmbedder(Drifting(np.zeros((1, 3))))

    assert embedder.embed([""]).tolist() == [[0.0, 0.0, 0.0]]
