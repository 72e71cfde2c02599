"""Counts what happened and how long it took. It measures; it never decides.

One lock guards the counters; it is held for a few additions and never while anything else runs.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from semcache.decision import Bypass, Decision, Hit, Miss

__all__ = ["Latency", "Stats", "Telemetry"]

_WINDOW = 1000
_REMEMBERED_TEXTS = 4096
_WORTH_A_HINT = 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of the cache itself, over the last 1,000 decisions of one kind."""

    count: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Stats:
    """What the cache has done since it was opened.

    Counts are of decisions; `saved_seconds` and `saved_cost` add up what the calls behind the
    served entries had taken. `joined` are the misses that made no call of their own, as an equal
    one was under way. `store` and `embedder` are the figures of those rooms.
    """

    hits: Mapping[str, int]
    misses: Mapping[str, int]
    bypasses: Mapping[str, int]
    stored: int
    refused: Mapping[str, int]
    errors: Mapping[str, int]
    stale_hits: int
    latency: Mapping[str, Latency]
    saved_seconds: float
    saved_cost: float
    entries: int
    store: Mapping[str, float] = field(default_factory=dict)
    embedder: Mapping[str, float] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    joined: int = 0

    @property
    def lookups(self) -> int:
        """All decisions together."""
        return sum(sum(kind.values()) for kind in (self.hits, self.misses, self.bypasses))

    @property
    def hit_rate(self) -> float:
        """Hits as a share of all decisions, 0.0 when there were none."""
        return sum(self.hits.values()) / self.lookups if self.lookups else 0.0

    def __str__(self) -> str:
        lines = [f"{self.lookups} look-ups, {self.hit_rate:.1%} served, {self.entries} entries"]
        groups = (
            ("hit", self.hits),
            ("miss", self.misses),
            ("bypass", self.bypasses),
            ("not stored", self.refused),
            ("error", self.errors),
        )
        for name, counts in groups:
            lines += [f"  {name:<11}{count:>8}  {key}" for key, count in sorted(counts.items())]
        for name, latency in sorted(self.latency.items()):
            took = f"p50 {latency.p50_ms:.3f} ms, p95 {latency.p95_ms:.3f} ms"
            lines.append(f"  {'time':<11}{latency.count:>8}  {name}: {took}")
        lines.append(f"  {'joined':<11}{self.joined:>8}  misses that shared an equal call")
        lines.append(f"  saved      {self.saved_seconds:8.1f} s, {self.saved_cost:.4f} cost")
        return "\n".join([*lines, *(f"  hint: {hint}" for hint in self.hints)])


class Telemetry:
    """Counters of one cache."""

    def __init__(self) -> None:
        self.reset_lock()
        self._hits: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._bypasses: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._stored = 0
        self._joined = 0
        self._stale = 0
        self._saved_seconds = 0.0
        self._saved_cost = 0.0
        self._times: dict[str, deque[float]] = {}
        self._scopes: OrderedDict[int, bytes] = OrderedDict()
        self._other_scope = 0

    def reset_lock(self) -> None:
        """Take a fresh lock: at birth, and in a forked child."""
        self._lock = threading.Lock()

    def decided(
        self, decision: Decision, seconds: float, saved_seconds: float = 0.0, saved_cost: float = 0
    ) -> None:
        """Count one decision and the time it took."""
        with self._lock:
            if isinstance(decision, Hit):
                name = decision.tier.value
                self._hits[name] += 1
                self._stale += decision.stale
                self._saved_seconds += saved_seconds
                self._saved_cost += saved_cost
            elif isinstance(decision, Miss):
                name = "miss"
                self._misses[decision.reason.value] += 1
            elif isinstance(decision, Bypass):
                name = "bypass"
                self._bypasses[decision.reason.value] += 1
            times = self._times.get(name)
            if times is None:
                times = self._times[name] = deque(maxlen=_WINDOW)
            times.append(seconds)

    def stored(self, count: int = 1) -> None:
        """Count answers that were stored."""
        with self._lock:
            self._stored += count

    def joined(self) -> None:
        """Count a miss that made no call of its own."""
        with self._lock:
            self._joined += 1

    def missed(self, text: str, scope: bytes) -> None:
        """Remember a missed text, to tell how often only its scope was new."""
        key = hash(text)
        with self._lock:
            self._other_scope += self._scopes.get(key, scope) != scope
            self._scopes[key] = scope
            self._scopes.move_to_end(key)
            if len(self._scopes) > _REMEMBERED_TEXTS:
                self._scopes.popitem(last=False)

    def refused(self, reason: str) -> None:
        """Count an answer that was not stored, by reason."""
        with self._lock:
            self._refused[reason] += 1

    def failed(self, what: str) -> None:
        """Count a failure of the cache's own machinery."""
        with self._lock:
            self._errors[what] += 1

    def stats(
        self,
        entries: int,
        store: Mapping[str, float],
        embedder: Mapping[str, float],
    ) -> Stats:
        """Give a frozen copy of all counts."""
        with self._lock:
            times = {name: sorted(values) for name, values in self._times.items()}
            return Stats(
                hits=dict(self._hits),
                misses=dict(self._misses),
                bypasses=dict(self._bypasses),
                stored=self._stored,
                joined=self._joined,
                refused=dict(self._refused),
                errors=dict(self._errors),
                stale_hits=self._stale,
                latency={name: _latency(values) for name, values in times.items()},
                saved_seconds=self._saved_seconds,
                saved_cost=self._saved_cost,
                entries=entries,
                store=dict(store),
                embedder=dict(embedder),
                hints=self._hints(),
            )

    def _hints(self) -> tuple[str, ...]:
        missed = sum(self._misses.values())
        if self._other_scope < _WORTH_A_HINT or 4 * self._other_scope < missed:
            return ()
        return (
            f"{self._other_scope} of {missed} misses asked a text that was seen before in another "
            "scope: only the system prompt, earlier turns or parameters differ. A clock or an id "
            "there? Drop it from the identity with view= or ignore=.",
        )


def _latency(seconds: list[float]) -> Latency:
    count = len(seconds)
    return Latency(
        count=count,
        p50_ms=1000 * seconds[count // 2],
        p95_ms=1000 * seconds[min(count - 1, int(0.95 * count))],
    )
