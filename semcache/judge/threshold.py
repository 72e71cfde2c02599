"""The simplest policy: serve at a fixed score or above. It knows nothing of the two texts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from semcache.errors import ArgumentError

__all__ = ["Threshold"]

# Two vectors of one text may differ in the last bits: an identical text must pass at 1.0.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Threshold:
    """Serve a candidate whose score is `minimum` or higher.

    `minimum` is a score from 0 to 1 (cosine or Jaccard, higher is closer). Raises ArgumentError
    for anything else.

    >>> Threshold(0.95).decide(0.951), Threshold(0.95).decide(0.949)
    (True, False)
    """

    minimum: float

    def __post_init__(self) -> None:
        is_number = isinstance(self.minimum, int | float) and not isinstance(self.minimum, bool)
        if not is_number or not math.isfinite(self.minimum) or not 0 <= self.minimum <= 1:
            raise ArgumentError("minimum", self.minimum, "pass a score from 0 to 1, such as 0.95")

    def decide(self, score: float) -> bool:
        """Say whether a candidate with this score may be served. A score above 1 counts as 1."""
        return min(score, 1.0) >= self.minimum - _TOLERANCE
