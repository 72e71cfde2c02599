"""Another embedding model reads a directory that its predecessor filled.

Promise: vectors of two models, or of two widths, are never compared, whatever a model is called.
Room: `semcache/match/projections.py`, `semcache/rooms.py`, `semcache/embed/fingerprint.py`
"""

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
from tests.faults.calls import call, decide, decorate
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"


class Model(Same):
    """A stub of a given name and width."""

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension


@pytest.mark.usefixtures("unwarned")
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


class Late(Model):
    """A model that is loaded when first needed: nothing of it is known when a cache opens."""

    loaded = False

    def load(self) -> None:
        self.loaded = True


OPTIONS: dict[str, Any] = {"threshold": 0.9, "guards": (), "config": PATIENT}


@pytest.mark.parametrize("kind_of_model", [Model, Late])
def test_one_name_and_two_widths_are_two_models(kind_of_model: type[Model], tmp_path: Path) -> None:
    """Replaced on purpose, or by a model that loads too late to be refused: both live on."""
    folder = tmp_path / "c"
    with SemanticCache(folder, embedder=Model("X", 8), **OPTIONS) as cache:
        cache.put(QUESTION, "old")

    with SemanticCache(
        folder, embedder=kind_of_model("X", 16), replace_embedder=True, **OPTIONS
    ) as cache:
        cache.preload()
        before = cache.lookup(REWORDED)
        cache.put("Describe a green tent", "new")
        after = cache.lookup(REWORDED)
        exact = cache.lookup(QUESTION)

    assert isinstance(before, Miss)
    assert isinstance(after, Hit)
    assert isinstance(exact, Hit)
    assert (after.value, exact.value) == ("new", "old")
    for width in (8, 16):
        with SemanticCache(folder, embedder=Model("X", width), **OPTIONS) as cache:
            found = cache.lookup(REWORDED)
            assert isinstance(found, Hit)
            assert found.value == ("old" if width == 8 else "new")


def test_a_width_is_refused_whoever_filled_the_directory(tmp_path: Path) -> None:
    """Also a model that was loaded long after the directory was opened."""
    with SemanticCache(tmp_path / "c", embedder=Late("X", 8), **OPTIONS) as cache:
        cache.preload()
        cache.put(QUESTION, "A")

    with pytest.raises(DimensionError, match=r"8.*16"):
        SemanticCache(tmp_path / "c", embedder=Model("Y", 16), **OPTIONS)


def test_a_directory_without_vectors_takes_any_model(tmp_path: Path) -> None:
    """Empty, emptied, or filled without a model at all: there is nothing to disagree with."""
    folder = tmp_path / "c"
    for embedder in (Model("X", 8), Model("Y", 16), False, Model("Z", 32)):
        with SemanticCache(folder, embedder=embedder, **OPTIONS) as cache:
            cache.put(QUESTION, "A")
            assert isinstance(cache.lookup(QUESTION), Hit)
            cache.remove(QUESTION)


def test_two_models_at_once_on_one_directory_keep_to_their_own(tmp_path: Path) -> None:
    """During a roll-out old and new processes run side by side: only words and texts are shared."""
    with (
        SemanticCache(tmp_path / "c", embedder=Model("X", 8), **OPTIONS) as old,
        SemanticCache(tmp_path / "c", embedder=Model("Y", 8), **OPTIONS) as new,
    ):
        old.put(QUESTION, "A")

        crossed = [new.lookup(text) for text in (REWORDED, QUESTION, NEAR)]
        new.put("Describe a green tent", "B")
        own = [cache.lookup("Explain how a kettle works") for cache in (old, new)]

    assert [isinstance(decision, Hit) for decision in crossed] == [False, True, True]
    assert [d.value if isinstance(d, Hit) else None for d in own] == ["A", "B"]


def test_a_model_that_comes_back_finds_its_own_vectors(tmp_path: Path) -> None:
    """A change of model is no loss: what it once embedded is still there."""
    found = []
    for name in ("X", "Y", "X"):
        with SemanticCache(tmp_path / "c", embedder=Model(name, 8), **OPTIONS) as cache:
            found.append(cache.lookup(REWORDED))
            if len(found) == 1:
                cache.put(QUESTION, "A")

    assert [isinstance(decision, Hit) for decision in found] == [False, False, True]


class Growing(Model):
    """A service that was switched to a wider model while we were running."""

    def embed(self, texts: Sequence[str]) -> Any:
        rows = super().embed(texts)
        return rows if self.name == "X" else np.hstack([rows, rows])


def test_a_model_that_changes_its_width_while_running_is_a_miss_that_says_so(kind: str) -> None:
    """No vector of the new width meets the old ones, and the call goes through."""
    embedder = Growing("X", 8)
    with SemanticCache(embedder=embedder, **OPTIONS) as cache:
        cache.put(QUESTION, "A")
        embedder.name = "X, a later version"

        ask = decorate(kind, cache, lambda _prompt: "called")
        decision = decide(kind, ask, REWORDED)
        answer = call(kind, ask, REWORDED)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.EMBEDDER_FAILED
    assert "8" in decision.detail
    assert "16" in decision.detail
    assert answer == "called"


class Remote:
    """An object with `encode` behind a wire that may be down."""

    model = "remote"
    is_up = True

    def encode(self, texts: list[str]) -> Any:
        if not self.is_up:
            raise ConnectionError("no route to host")
        return np.ones((len(texts), 4))


def test_a_model_that_is_down_keeps_no_filled_directory_from_opening(tmp_path: Path) -> None:
    """Its width cannot be known then: the exact tier serves, the semantic tier says why not."""
    with SemanticCache(tmp_path / "c", embedder=Remote(), **OPTIONS) as cache:
        cache.put(QUESTION, "A")
    down = Remote()
    down.is_up = False

    with SemanticCache(tmp_path / "c", embedder=down, **OPTIONS) as cache:
        exact, reworded = cache.lookup(QUESTION), cache.lookup(REWORDED)

    assert isinstance(exact, Hit)
    assert isinstance(reworded, Miss)
    assert reworded.reason is Reason.EMBEDDER_FAILED
