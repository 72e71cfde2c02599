"""Models of another make than the default: without a fast tokenizer, or made when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.embed.adapt import as_embedder
from semcache.embed.factory import FactoryEmbedder
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@pytest.fixture
def bag_of_words() -> SentenceTransformer:
    """A real model of the library that counts words and knows no window."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import BoW

    return SentenceTransformer(modules=[BoW(["red", "green", "blue"])], device="cpu")


@pytest.mark.model  # no weights, but torch all the same
def test_a_model_without_word_pieces_knows_no_window(bag_of_words: SentenceTransformer) -> None:
    """Nor can it say what it cannot read; a text of which it reads nothing is a row of zeros."""
    embedder = SentenceTransformerEmbedder(bag_of_words)

    rows = embedder.embed(["red green", "violet", "blue"])

    assert embedder.dimension == 3
    assert embedder.default_threshold is None
    assert embedder.windows("red green") == []
    assert embedder.unknown("violet") == []
    np.testing.assert_allclose(rows, [[0.5**0.5, 0.5**0.5, 0], [0, 0, 0], [0, 0, 1]], atol=1e-6)


@pytest.mark.model
def test_no_texts_give_no_rows(bag_of_words: SentenceTransformer) -> None:
    """The width is kept, so that what is stacked below fits."""
    assert SentenceTransformerEmbedder(bag_of_words).embed([]).shape == (0, 3)


class Fixed:
    """An embedder with more to it than the protocol asks."""

    name = "fixed"
    dimension = 2
    colour = "red"

    def embed(self, texts: list[str]) -> np.ndarray:
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


def test_a_factory_runs_at_the_first_need_and_once() -> None:
    """Name, width, vectors and whatever else it has are those of what it made."""
    made: list[Fixed] = []

    def factory() -> Fixed:
        made.append(Fixed())
        return made[-1]

    embedder = FactoryEmbedder(factory, as_embedder)
    assert not hasattr(embedder, "colour")
    assert not made

    assert (embedder.name, embedder.dimension) == ("fixed", 2)
    assert embedder.embed(["a"]).tolist() == [[1.0, 0.0]]
    assert embedder.colour == "red"
    assert embedder.loaded
    assert len(made) == 1
