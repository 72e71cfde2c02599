"""Small real things that stand in for slow ones: embedders, a clock, a model that counts calls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Clock", "Far", "Model", "Same"]


class Same:
    """An embedder that gives one vector for every text: every cosine is 1.0."""

    name = "same"
    dimension = 8
    default_threshold: float | None = 0.95

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        rows[:, 0] = 1.0
        return rows


class Far:
    """An embedder whose vectors are all but at right angles, so that meaning never matches."""

    name = "far"
    dimension = 256
    default_threshold: float | None = 0.95

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [self._row(text) for text in texts]
        return np.asarray(rows, np.float32).reshape(len(texts), self.dimension)

    def _row(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        row = np.random.default_rng(seed).standard_normal(self.dimension)
        return (row / np.linalg.norm(row)).astype(np.float32)


class Clock:
    """A wall clock that moves when told."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Model:
    """A model that gives a new text at each real call: R1, R2, ..."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *_args: Any, **_kwargs: Any) -> str:
        self.calls += 1
        return f"R{self.calls}"
