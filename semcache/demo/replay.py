"""Sends a stream of labelled questions through a decorated function and counts what came back.

A hit is wrong when its answer was given to a question with another label. Nothing is judged beyond
that, and no figure is adjusted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semcache.data.banking77 import Question
from semcache.decision import Bypass, Decision, Hit, Miss, Tier
from semcache.errors import ArgumentError

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["BYPASS", "CALLED", "KINDS", "ReplayResult", "WrongHit", "replay"]

CALLED = "call"
BYPASS = "bypass"
KINDS = (Tier.EXACT.value, Tier.NEAR_DUPLICATE.value, Tier.SEMANTIC.value, CALLED, BYPASS)
"""How a request can end: a hit of one of three tiers, a call after a miss or past the cache."""

_KEPT_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class WrongHit:
    """One hit whose answer belongs to another label."""

    question: str
    intent: str
    served_intent: str
    answered_question: str
    tier: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What a stream of requests came to.

    `ends` has one of `KINDS` for each request, in order. `milliseconds` are the cache's own, real
    ones, by kind, the model's time taken out. `model_seconds` is the time that the model took and
    `saved_seconds` what the served answers had taken, both by the cache's clock.
    """

    ends: tuple[str, ...]
    wrong: Mapping[str, int]
    examples: tuple[WrongHit, ...]
    milliseconds: Mapping[str, tuple[float, ...]]
    reasons: Mapping[str, int]
    model_seconds: float
    saved_seconds: float
    saved_cost: float
    cost: float

    @property
    def requests(self) -> int:
        """All requests."""
        return len(self.ends)

    @property
    def counts(self) -> dict[str, int]:
        """Requests by how they ended; every kind is there."""
        found = Counter(self.ends)
        return {kind: found[kind] for kind in KINDS}

    @property
    def hits(self) -> int:
        """Requests that were answered from the cache."""
        return self.requests - self.counts[CALLED] - self.counts[BYPASS]

    @property
    def hit_share(self) -> float:
        """Hits as a share of requests, 0.0 when there were none."""
        return self.hits / self.requests if self.requests else 0.0

    @property
    def wrong_hits(self) -> int:
        """Hits whose answer belongs to another label."""
        return sum(self.wrong.values())

    def percentile_ms(self, kind: str, share: float) -> float | None:
        """Give a percentile of the cache's own milliseconds of one kind, None without any."""
        times = sorted(self.milliseconds.get(kind, ()))
        return times[min(len(times) - 1, int(share * len(times)))] if times else None


@dataclass(slots=True)
class _Tally:
    ends: list[str] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[WrongHit] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    upstream_seconds: float = 0.0
    model_seconds: float = 0.0
    calls: int = 0

    def count(
        self, question: Question, answer: Mapping[str, str], decision: Decision, seconds: float
    ) -> None:
        kind = _kind(decision)
        self.ends.append(kind)
        self.times.setdefault(kind, []).append(1000 * seconds)
        if not isinstance(decision, Hit):
            self.reasons[f"{kind}: {decision.reason.value}"] += 1
        elif answer["intent"] != question.intent:
            self.wrong[kind] += 1
            if len(self.examples) < _KEPT_EXAMPLES:
                self.examples.append(_example(question, answer, decision))


def replay(
    questions: Sequence[Question],
    stream: Iterable[Question],
    cache: SemanticCache,
    complete: Callable[[str], str],
    *,
    model: str = "stand-in",
    cost_per_call: float = 0.0,
    on_progress: Callable[[int], None] | None = None,
) -> ReplayResult:
    """Ask each question of the stream through `@cache.cached`, one after the other.

    Args:
        questions: all that the stream may hold, with their labels.
        stream: the requests, in order.
        cache: a fresh cache; its clock is the one that the model's time is read from.
        complete: the model: a question's text to an answer's.
        model: its name.
        cost_per_call: what one call costs.
        on_progress: told the number of requests done.

    Raises ArgumentError when the stream holds a question that `questions` does not.
    """
    intents = {question.text: question.intent for question in questions}
    tally = _Tally()

    @cache.cached(model=model, cost=cost_per_call)
    def ask(prompt: str) -> dict[str, str]:
        began, on_clock = time.perf_counter(), cache.now()
        answer = complete(prompt)
        tally.calls += 1
        tally.model_seconds += cache.now() - on_clock
        tally.upstream_seconds += time.perf_counter() - began
        return {"intent": intents[prompt], "question": prompt, "text": answer}

    for question in stream:
        if question.text not in intents:
            raise ArgumentError("stream", question.text, "every question must be in `questions`")
        before = tally.upstream_seconds
        began = time.perf_counter()
        answer, decision = ask.decide(question.text)
        seconds = time.perf_counter() - began - (tally.upstream_seconds - before)
        tally.count(question, answer, decision, seconds)
        cache.flush()  # what the cache does behind its caller has a real model's time to be done
        if on_progress is not None:
            on_progress(len(tally.ends))
    return _result(tally, cache, cost_per_call)


def _result(tally: _Tally, cache: SemanticCache, cost_per_call: float) -> ReplayResult:
    stats = cache.stats()
    return ReplayResult(
        ends=tuple(tally.ends),
        wrong=dict(tally.wrong),
        examples=tuple(tally.examples),
        milliseconds={kind: tuple(times) for kind, times in tally.times.items()},
        reasons=dict(tally.reasons.most_common()),
        model_seconds=tally.model_seconds,
        saved_seconds=stats.saved_seconds,
        saved_cost=stats.saved_cost,
        cost=tally.calls * cost_per_call,
    )


def _kind(decision: Decision) -> str:
    match decision:
        case Hit(tier=tier):
            return tier.value
        case Miss():
            return CALLED
        case Bypass():
            return BYPASS


def _example(question: Question, answer: Mapping[str, str], hit: Hit[object]) -> WrongHit:
    return WrongHit(
        question=question.text,
        intent=question.intent,
        served_intent=answer["intent"],
        answered_question=answer["question"],
        tier=hit.tier.value,
        score=hit.score,
    )
