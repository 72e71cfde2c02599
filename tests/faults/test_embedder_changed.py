"""Another embedding model reads a directory that its predecessor filled."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import Hit, Miss, Reason, SemanticCache
from semcache.errors import DimensionError
from semcache.index.faiss import FaissIndex
from tests.fakes import Same
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"


class Model(Same):
    """A stub of a given name and width."""

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension


def test_b100_another_model_of_the_same_width_shares_no_vectors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The semantic tier starts anew, the exact tier goes on, and the log says so once."""
    with SemanticCache(
        tmp_path / "c", embedder=Model("X", 384), threshold=0.9, config=PATIENT
    ) as cache:
        cache.put(QUESTION, "A")

    with (
        caplog.at_level(logging.WARNING, "semcache"),
        SemanticCache(
            tmp_path / "c", embedder=Model("Y", 384), threshold=0.9, guards=(), config=PATIENT
        ) as cache,
    ):
        found = [cache.lookup(text) for text in (QUESTION, NEAR, REWORDED, REWORDED)]

    exact, near, *semantic = found
    assert isinstance(exact, Hit)
    assert isinstance(near, Hit)
    assert all(isinstance(decision, Miss) for decision in semantic)
    told = [r.getMessage() for r in caplog.records if "embedder" in r.getMessage()]
    assert len(told) == 1
    assert "'X'" in told[0]
    assert "'Y'" in told[0]


def test_b101_another_width_is_refused_at_open(tmp_path: Path) -> None:
    """The error names both widths."""
    with SemanticCache(tmp_path / "c", embedder=Model("X", 384), config=PATIENT) as cache:
        cache.put(QUESTION, "A")

    with pytest.raises(DimensionError, match=r"384.*768"):
        SemanticCache(tmp_path / "c", embedder=Model("Y", 768), config=PATIENT)


class Liar(Model):
    """An embedder whose vectors are narrower than it says."""

    def embed(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 10), np.float32) / np.sqrt(10)


def test_b101_a_vector_of_ten_numbers_is_an_error_that_names_both_widths() -> None:
    """In the index an error; in a look-up a miss that says why; never a native crash."""
    with pytest.raises(DimensionError, match=r"384.*10"):
        FaissIndex(384).add(b"k", np.ones(10, np.float32))
    with pytest.raises(DimensionError, match=r"384.*10"):
        FaissIndex(384).search(np.ones(10, np.float32), 1)

    with SemanticCache(embedder=Liar("liar", 384), config=PATIENT) as cache:
        cache.put(QUESTION, "A")
        decision = cache.lookup(REWORDED)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.EMBEDDER_FAILED
    assert "384" in decision.detail
    assert "10" in decision.detail
