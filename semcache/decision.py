"""What a look-up returns, and why: Hit, Miss or Bypass, each with the steps that led there.

A decision is a value. It is always built, never only in a debug mode, so the explanation cannot
disagree with what happened. Nothing here looks anything up, reads a clock or writes a log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Literal, TypeAlias, TypeVar

__all__ = [
    "Bypass",
    "Decision",
    "Hit",
    "Miss",
    "Near",
    "Outcome",
    "Reason",
    "Refused",
    "Step",
    "Stored",
    "Tier",
    "Verdict",
]

T = TypeVar("T")


class Tier(StrEnum):
    """A way to find a candidate."""

    EXACT = "exact"
    NEAR_DUPLICATE = "near-duplicate"
    SEMANTIC = "semantic"


class Outcome(StrEnum):
    """How a step ended."""

    SERVED = "served"
    NOTHING = "nothing found"
    BELOW = "below threshold"
    VETOED = "vetoed"
    UNREAD = "unread"
    SKIPPED = "skipped"
    FAILED = "failed"
    STALE = "stale"


class Reason(StrEnum):
    """Why a request was not answered from the cache, or a step did not serve."""

    NO_CANDIDATE = "no candidate"
    BELOW_THRESHOLD = "nearest candidate is below the threshold"
    VETOED = "a guard vetoed every candidate"
    EXPIRED = "expired"
    INVALIDATED = "invalidated"
    FORGOTTEN = "forgotten: this pair was marked as wrong"
    BLANK_TEXT = "the text is blank"
    NOT_TEXT = "the request has parts that are not text: exact tier only"
    NOT_A_QUESTION = "the last message is not a user's text: exact tier only"
    TOO_MANY_TURNS = "more turns than semantic_max_turns"
    TOO_LONG = "the text is longer than 20,000 characters: exact tier only"
    UNREADABLE = "the embedder cannot read this text"
    NO_EMBEDDER = "there is no embedding model"
    NO_THRESHOLD = "no threshold was measured for this embedder: pass threshold="
    LOADING = "the embedding model is still loading"
    EMBEDDER_FAILED = "the embedder failed"
    EMBEDDER_TIMEOUT = "the embedder did not answer in time"
    STORE_FAILED = "the store failed"
    STORE_TIMEOUT = "the store did not answer in time"
    DYNAMIC = "the answer depends on more than the prompt"
    SAMPLED = "sampled answers are not cached by policy"
    OPAQUE = "an argument has no stable form"
    NO_CACHE = "no_cache was asked for"
    REFRESH = "refresh was asked for"
    SWITCHED_OFF = "the cache is switched off"
    CANARY = "decided but not served: outside serve_share"
    CACHE_FAILED = "the cache itself failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one guard says of one pair of texts.

    `outcome` is "pass" (no objection), "veto" (a difference that changes the answer) or "unread"
    (the guard cannot read this script or language, so it cannot vouch for the pair).
    `guard` names the guard, `reason` quotes the two sides of the difference in a few words.
    """

    outcome: Literal["pass", "veto", "unread"]
    guard: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the cache did on the way to its decision."""

    name: str
    outcome: Outcome
    score: float | None = None
    threshold: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        parts = [f"{self.name:<15}{self.outcome.value}"]
        if self.score is not None:
            bound = "" if self.threshold is None else f" against {self.threshold:.4g}"
            parts.append(f"score {self.score:.4f}{bound}")
        if self.reason:
            parts.append(self.reason)
        return " | ".join(parts)


@dataclass(frozen=True, slots=True)
class Near:
    """The best candidate that was not served."""

    entry_id: str
    tier: Tier
    score: float
    reason: str
    text: str = ""


def _explain(head: str, steps: tuple[Step, ...]) -> str:
    return "\n".join([head, *(f"  {step}" for step in steps)])


@dataclass(frozen=True, slots=True)
class Hit(Generic[T]):
    """An earlier answer that is right for this request. `value` is a fresh copy.

    `score` is 1.0 for the exact tier, a Jaccard share for the near-duplicate tier and a cosine for
    the semantic tier: higher is closer. `stale` says that the entry had expired and was served
    inside `stale_seconds`.

    >>> print(Hit("Lima.", 1.0, Tier.EXACT, 12.0, "7f-01"))
    Hit: exact, score 1.0000, 12 s old, entry 7f-01
    """

    value: T
    score: float
    tier: Tier
    age_seconds: float
    entry_id: str
    steps: tuple[Step, ...] = ()
    stale: bool = False
    handle: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        head = f"Hit: {self.tier.value}, score {self.score:.4f}, {self.age_seconds:.0f} s old"
        return _explain(f"{head}, entry {self.entry_id}", self.steps)


@dataclass(frozen=True, slots=True)
class Miss:
    """No stored answer may be served. `nearest` is the best candidate that was turned down.

    `handle` is the cache's own: it carries the identity of the call and the epochs as they stood
    when the call began, so that the answer is stored under them.

    >>> print(Miss(Reason.NO_CANDIDATE, steps=(Step("exact", Outcome.NOTHING),)))
    Miss: no candidate
      exact          nothing found
    """

    reason: Reason
    steps: tuple[Step, ...] = ()
    nearest: Near | None = None
    detail: str = ""
    handle: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        head = f"Miss: {self.reason.value}" + (f" ({self.detail})" if self.detail else "")
        lines = _explain(head, self.steps)
        if self.nearest is None:
            return lines
        near = self.nearest
        text = f"\n  nearest: {near.tier.value}, score {near.score:.4f}, {near.reason}"
        return lines + text + (f": {near.text!r}" if near.text else "")


@dataclass(frozen=True, slots=True)
class Bypass:
    """The cache stood aside: nothing was looked up and nothing will be stored.

    >>> print(Bypass(Reason.NO_CACHE))
    Bypass: no_cache was asked for
    """

    reason: Reason
    detail: str = ""
    steps: tuple[Step, ...] = ()
    handle: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        head = f"Bypass: {self.reason.value}" + (f" ({self.detail})" if self.detail else "")
        return _explain(head, self.steps)


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer was stored, under this entry id."""

    entry_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer was not stored, and why.

    `private` says that not even a caller who waits for the same answer may have it.
    """

    reason: str
    private: bool = False


Decision: TypeAlias = Hit[Any] | Miss | Bypass
