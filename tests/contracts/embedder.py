"""What every Embedder must do. Subclass EmbedderContract and give it an `embedder` fixture."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from semcache.protocols import Embedder

TEXTS = [
    "How do I reset my password?",
    "b",
    "What is the capital of Ghana, and how many people live there these days?",
    "Where is my order?",
]


class EmbedderContract:
    """The cases; an implementation adds the fixture."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The implementation on trial."""
        raise NotImplementedError

    def test_gives_one_unit_row_of_float32_for_each_text(self, embedder: Embedder) -> None:
        """Rows have the promised width and unit length."""
        rows = embedder.embed(TEXTS)

        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), embedder.dimension)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)

    def test_gives_no_row_for_no_text(self, embedder: Embedder) -> None:
        """An empty batch has the width too."""
        assert embedder.embed([]).shape == (0, embedder.dimension)

    def test_a_text_has_one_row_whatever_is_beside_it(self, embedder: Embedder) -> None:
        """Rows keep the order of the texts and do not depend on the batch."""
        alone = np.vstack([embedder.embed([text]) for text in TEXTS])

        together = embedder.embed(TEXTS)
        reversed_ = embedder.embed(TEXTS[::-1])

        np.testing.assert_allclose(together, alone, atol=1e-6)
        np.testing.assert_allclose(reversed_[::-1], alone, atol=1e-6)

    def test_threads_get_what_one_thread_gets(self, embedder: Embedder) -> None:
        """Sixteen callers at once change nothing."""
        expected = embedder.embed(TEXTS)

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda place: embedder.embed([TEXTS[place % 4]]), range(16)))

        for place, rows in enumerate(answers):
            np.testing.assert_allclose(rows[0], expected[place % 4], atol=1e-6)

    def test_its_name_says_what_it_is(self, embedder: Embedder) -> None:
        """A name is text, stays, and holds no memory address."""
        name = embedder.name

        assert name
        assert name == embedder.name
        assert hex(id(embedder)) not in name
