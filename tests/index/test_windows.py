"""WindowIndex: long texts, window by window."""

from __future__ import annotations

import numpy as np
import pytest

from semcache.errors import ArgumentError, EmbedderError
from semcache.index.windows import WindowIndex

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


@pytest.fixture
def index() -> WindowIndex:
    return WindowIndex(windows=2, dimension=2)


def test_an_entry_is_as_near_as_its_least_similar_window(index: WindowIndex) -> None:
    """An equal beginning does not make up for another end."""
    index.add(b"same end", np.array([EAST, NORTH]))
    index.add(b"other end", np.array([EAST, EAST]))

    found = index.search(np.array([EAST, NORTH]), 5)

    assert found == [(b"same end", 1.0), (b"other end", 0.0)]


def test_windows_are_compared_in_their_places(index: WindowIndex) -> None:
    """The same two halves the other way round are another text."""
    index.add(b"text", np.array([EAST, NORTH]))

    assert index.search(np.array([NORTH, EAST]), 1) == [(b"text", 0.0)]


def test_a_window_of_zeros_is_not_kept_and_takes_its_predecessor_out(index: WindowIndex) -> None:
    """The embedder read nothing there, so nothing can be said of the text."""
    index.add(b"text", np.array([EAST, NORTH]))

    index.add(b"text", np.array([EAST, [0.0, 0.0]]))

    assert b"text" not in index
    assert index.search(np.array([EAST, NORTH]), 1) == []


def test_what_it_holds_can_be_counted_and_taken_out(index: WindowIndex) -> None:
    """Keys, bytes and length follow each other."""
    index.add(b"text", np.array([EAST, NORTH]))
    assert (list(index.keys()), len(index)) == ([b"text"], 1)
    assert index.nbytes > 0

    assert index.remove(b"text")

    assert not index.remove(b"text")
    assert len(index) == 0


def test_wrong_questions_are_errors(index: WindowIndex) -> None:
    """No neighbours asked for, or a text of another number of windows."""
    with pytest.raises(ArgumentError, match="k"):
        index.search(np.array([EAST, NORTH]), 0)
    with pytest.raises(EmbedderError, match="2 windows, got one of 1"):
        index.add(b"short", np.array([EAST]))
