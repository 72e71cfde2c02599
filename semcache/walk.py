"""The walk of one call: gate, exact, near-duplicate, semantic, judge. The only place that orders
the tiers, and the only place that decides to serve.

It goes down once and never back: `begin` runs what costs microseconds and either decides or leaves
a Probe that wants a vector; `finish` takes the vector and decides. It writes nothing to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from semcache.admit.dynamic import DynamicRules, Finding
from semcache.config import Config
from semcache.decision import (
    Bypass,
    Decision,
    Hit,
    Miss,
    Near,
    Outcome,
    Reason,
    Step,
    Tier,
)
from semcache.embed.batching import Embedded, NoEmbedding
from semcache.entry import Entry
from semcache.epochs import Epochs
from semcache.judge.guards import judge_pair
from semcache.judge.threshold import Threshold
from semcache.match.neardup import Prepared, prepare
from semcache.match.projections import Candidate, Projections
from semcache.request import Request
from semcache.value import decode

if TYPE_CHECKING:
    from semcache.protocols import Guard, Policy, Vectors
    from semcache.store.tiered import TieredStore

__all__ = ["PLAIN", "Handle", "Options", "Probe", "Walk", "apart"]

T = TypeVar("T")

REFRESH_LEASE_SECONDS = 30.0
"""How long one caller is trusted to be refreshing a stale answer before another may try."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one call asks of the cache beyond its identity."""

    no_cache: bool = False
    refresh: bool = False
    dynamic: bool | None = None
    """True: treat as dynamic; False: treat as static; None: ask the rules."""


PLAIN = Options()


@dataclass(slots=True)
class Handle:
    """What a miss leaves for the commit of its answer: identity, epochs and work already done."""

    request: Request
    epochs: dict[str, int]
    removals: int = 0
    """The number of what had been taken out when the call began."""
    prepared: Prepared | None = None
    vectors: Vectors | None = None
    embedder: str = ""
    perishable: bool = False
    gate: str = ""
    """Fingerprint of the rules that let the text in; empty if they were not asked."""
    behind: Reason | None = None
    """Why what other processes wrote could not be read: nothing may be served then."""


@dataclass(slots=True)
class Probe:
    """A look-up on its way: it wants a vector."""

    handle: Handle
    steps: list[Step]
    nearest: Near | None = None
    vetoed: bool = False
    dead: Reason | None = None
    buried: set[bytes] = field(default_factory=set)
    """Keys that an index proposed though nothing can be served from them any more."""


@dataclass(slots=True)
class Walk:
    """Finds and judges. Collaborators are given; state is none of its own but refresh leases."""

    config: Config
    store: TieredStore
    projections: Projections
    epochs: Epochs
    marks: Mapping[tuple[bytes, bytes], None]
    rules: DynamicRules | None
    guards: Sequence[Guard]
    policy: Policy | Reason
    """How a cosine is judged, or why none can be: without a measured threshold none is served."""
    clock: Callable[[], float]
    _leases: dict[bytes, float] = field(default_factory=dict)

    def begin(self, handle: Handle, options: Options) -> Decision | Probe:
        """Run what needs no vector: switches, exact tier, gate, near-duplicate tier."""
        request = handle.request
        aside = self._stand_aside(request, options)
        if aside is not None:
            return aside
        probe = Probe(handle, [])
        if handle.behind is not None:
            return self._miss(probe, handle.behind)
        if not options.refresh:
            hit = self._exact(probe, options)
            if hit is not None:
                return hit
        bypass = self.gate(handle, options)
        if bypass is not None:
            return bypass
        if options.refresh:
            return Miss(Reason.REFRESH, handle=handle)
        if request.exact_only is not None:
            skipped = Step("other tiers", Outcome.SKIPPED, reason=request.exact_only.value)
            probe.steps.append(skipped)
            return self._miss(probe, request.exact_only)
        return self._near_duplicate(probe) or probe

    def recheck(self, handle: Handle) -> Decision | None:
        """Ask the exact tier alone, again, for a fresh answer."""
        if handle.behind is not None:
            return None
        decision = self._exact(Probe(handle, []), PLAIN)
        return None if isinstance(decision, Hit) and decision.stale else decision

    def skips_vector(self, probe: Probe) -> Reason | None:
        """Give the reason why the semantic tier is not asked, or None if it is."""
        request = probe.handle.request
        limit = self.config.semantic_max_turns
        if limit is not None and request.turns > limit:
            return Reason.TOO_MANY_TURNS
        return self.policy if self.policy is Reason.NO_THRESHOLD else None

    def finish(self, probe: Probe, embedded: Embedded, embedder: str) -> Decision:
        """Take the vector and its embedder's fingerprint, or why there is none, and decide."""
        if isinstance(embedded, NoEmbedding):
            reason, detail = embedded.reason, embedded.detail
            outcome = Outcome.FAILED if reason in _FAILURES else Outcome.SKIPPED
            words = f"{reason.value}: {detail}" if detail else reason.value
            probe.steps.append(Step(Tier.SEMANTIC.value, outcome, reason=words))
            return self._miss(probe, probe.dead or reason, detail)
        handle = probe.handle
        handle.vectors, handle.embedder = embedded.vectors, embedder
        if isinstance(self.policy, Reason):
            return self.finish(probe, NoEmbedding(self.policy), embedder)
        scope, limit = handle.request.scope, self.config.top_k
        hit, found = self._search(
            probe,
            lambda: self.projections.semantic(embedder, scope, embedded.vectors, limit),
            self.policy,
        )
        if not found:
            probe.steps.append(_SEMANTIC_NOTHING)
        return hit or self._miss(probe, self._why(probe, found))

    def _stand_aside(self, request: Request, options: Options) -> Bypass | None:
        if options.no_cache:
            return Bypass(Reason.NO_CACHE)
        bound = self.config.max_temperature if self.config.cache_sampled else 0.0
        if bound is not None and not request.sample:
            temperature = request.temperature
            if temperature is None or temperature > bound:
                shown = "absent" if temperature is None else f"{temperature:g}"
                return Bypass(Reason.SAMPLED, f"temperature {shown}, cached up to {bound:g}")
        return None

    def _exact(self, probe: Probe, options: Options) -> Decision | None:
        request = probe.handle.request
        entry = self.store.get(request.key)
        if entry is None:
            probe.steps.append(_EXACT_NOTHING)
            return None
        dead = self._dead(entry)
        if dead is Reason.EXPIRED and self._lend_stale(entry):
            return self._serve(probe, entry, Tier.EXACT, 1.0, stale=True)
        if dead is not None:
            probe.dead = dead
            probe.steps.append(Step("exact", Outcome.STALE, reason=dead.value))
            return None
        if options.dynamic is not True and not self._gate_stands(entry):
            bypass = self.gate(probe.handle, options)
            if bypass is not None:
                return bypass
        elif options.dynamic is True:
            return None
        return self._serve(probe, entry, Tier.EXACT, 1.0)

    def _gate_stands(self, entry: Entry) -> bool:
        return self.rules is None or entry.gate == self.rules.fingerprint

    def gate(self, handle: Handle, options: Options) -> Bypass | None:
        """Say why a request may be neither answered from the cache nor stored, by the rules."""
        if options.dynamic is False or (options.dynamic is None and self.rules is None):
            return None
        request = handle.request
        if options.dynamic is True:
            return Bypass(Reason.DYNAMIC, "marked so by the caller")
        finding = self.check(request)
        if finding is None or self._is_lent(finding):
            handle.gate = "" if self.rules is None else self.rules.fingerprint
            handle.perishable = finding is not None
            return None
        return Bypass(Reason.DYNAMIC, f"{finding.kind.value}: {finding.quote!r}")

    def _is_lent(self, finding: Finding) -> bool:
        return finding.perishable and self.config.perishable_ttl_seconds is not None

    def check(self, request: Request) -> Finding | None:
        """Ask the dynamic rules, if there are any, about a request's text."""
        if self.rules is None or request.exact_only is Reason.BLANK_TEXT:
            return None
        # A picture beside the text is part of the request: "describe this" is complete with it.
        complete = request.has_history or request.exact_only is Reason.NOT_TEXT
        return self.rules.check(request.text, has_history=complete)

    def _dead(self, entry: Entry) -> Reason | None:
        """Say why an entry may not be served at this moment: embedding a text may take long."""
        if self.epochs.moved(entry.epochs) is not None:
            return Reason.INVALIDATED
        return None if entry.is_live(self.clock()) else Reason.EXPIRED

    def _lend_stale(self, entry: Entry) -> bool:
        """Say whether a stale entry is served; the first to ask gets a miss and refreshes it."""
        now, grace = self.clock(), self.config.stale_seconds
        if not grace or not entry.is_live(now, grace_seconds=grace):
            return False
        leased_until = self._leases.get(entry.key)
        if leased_until is None or now >= leased_until:
            if len(self._leases) > 4096:
                self._leases = {k: v for k, v in list(self._leases.items()) if v > now}
            self._leases[entry.key] = now + REFRESH_LEASE_SECONDS
            return False
        return True

    def release(self, key: bytes) -> None:
        """End a refresh: the answer was stored, or its call failed."""
        self._leases.pop(key, None)

    def _near_duplicate(self, probe: Probe) -> Decision | None:
        if not self.config.near_duplicates:
            probe.steps.append(Step("near-duplicate", Outcome.SKIPPED, reason="switched off"))
            return None
        handle = probe.handle
        handle.prepared = prepare(handle.request.text)
        scope, prepared, limit = handle.request.scope, handle.prepared, self.config.top_k
        hit, found = self._search(
            probe, lambda: self.projections.near(scope, prepared, limit), _HARMLESS
        )
        if not found:
            probe.steps.append(_NEAR_NOTHING)
        return hit

    def _search(
        self, probe: Probe, ask: Callable[[], list[Candidate]], policy: Policy
    ) -> tuple[Hit[object] | None, list[Candidate]]:
        """Offer what an index finds; where the dead took the places, bury them and ask again."""
        seen: dict[bytes, Candidate] = {}
        hit = None
        for _ in range(_MOST_SEARCHES):
            found = [candidate for candidate in ask() if candidate.key not in seen]
            seen.update({candidate.key: candidate for candidate in found})
            hit = self._offer(probe, found, policy)
            buried, probe.buried = probe.buried, set()
            self._bury(buried)
            if hit is not None or not buried:
                break
        return hit, list(seen.values())

    def _bury(self, keys: set[bytes]) -> None:
        """Take the dead out of the indexes; what was stored anew meanwhile stays."""
        if keys:
            self.projections.follow(keys, unless=lambda entry: self._dead(entry) is not None)

    def _offer(self, probe: Probe, found: list[Candidate], policy: Policy) -> Hit[object] | None:
        """Judge candidates, best first, and serve the first that passes."""
        for candidate in found:
            refusal = self._refuse(probe, candidate, policy)
            if isinstance(refusal, Entry):
                self.store.get(refusal.key)  # only what is served counts as used
                return self._serve(probe, refusal, candidate.tier, candidate.score)
            step, near = refusal
            probe.steps.append(step)
            if near is not None and (probe.nearest is None or near.score > probe.nearest.score):
                probe.nearest = near
            if step.outcome is Outcome.BELOW:
                break  # so are all that follow
        return None

    def _refuse(
        self, probe: Probe, candidate: Candidate, policy: Policy
    ) -> Entry | tuple[Step, Near | None]:
        """Give the entry if it may be served, else the step and the near miss that say why not."""
        name, score, minimum = candidate.tier.value, candidate.score, policy.minimum
        entry = self.store.peek(candidate.key)
        if entry is None:
            probe.buried.add(candidate.key)
            return Step(name, Outcome.STALE, score, reason="gone from the store"), None
        dead = self._dead(entry)
        over = entry.expires_at is not None and self.clock() >= entry.expires_at
        if over or dead is Reason.INVALIDATED:
            probe.buried.add(candidate.key)
        request = probe.handle.request
        if dead is None and (request.key, entry.key) in self.marks:
            dead = Reason.FORGOTTEN
        if dead is not None:
            probe.dead = probe.dead or dead
            return Step(name, Outcome.STALE, score, reason=dead.value), None
        if not policy.decide(score):
            near = Near(entry.entry_id, candidate.tier, score, "below the threshold", entry.text)
            return Step(name, Outcome.BELOW, score, minimum), near
        verdict = judge_pair(request.text, entry.text, self.guards)
        passed = verdict.outcome == "pass" or (
            verdict.outcome == "unread" and candidate.tier is Tier.NEAR_DUPLICATE
        )
        if passed:
            probe.steps.append(Step(name, Outcome.SERVED, score, minimum or None, candidate.detail))
            return entry
        probe.vetoed = True
        why = f"{verdict.guard}: {verdict.reason}"
        outcome = Outcome.VETOED if verdict.outcome == "veto" else Outcome.UNREAD
        near = Near(entry.entry_id, candidate.tier, score, why, entry.text)
        return Step(name, outcome, score, minimum or None, why), near

    def _serve(
        self, probe: Probe, entry: Entry, tier: Tier, score: float, *, stale: bool = False
    ) -> Hit[object]:
        steps = tuple(probe.steps) if tier is not Tier.EXACT else _EXACT_SERVED
        return Hit(
            decode(entry.payload),
            score,
            tier,
            max(0.0, self.clock() - entry.created_at),
            entry.entry_id,
            steps,
            stale,
            (probe.handle, entry),
        )

    def _why(self, probe: Probe, found: list[Candidate]) -> Reason:
        if probe.vetoed:
            return Reason.VETOED
        if probe.dead is not None:
            return probe.dead
        return Reason.BELOW_THRESHOLD if found else Reason.NO_CANDIDATE

    def _miss(self, probe: Probe, reason: Reason, detail: str = "") -> Miss:
        return Miss(reason, tuple(probe.steps), probe.nearest, detail, probe.handle)


def apart(hit: Hit[T]) -> Hit[T]:
    """Give the same hit with a value of its own."""
    return hit if type(hit.value) is str else replace(hit, value=decode(hit.handle[1].payload))


_HARMLESS = Threshold(0.0)
"""The near-duplicate tier has compared the texts themselves: its share is no matter of degree."""
_MOST_SEARCHES = 8
"""How often one look-up asks an index again; what is dead beyond that waits for the next."""
_FAILURES = frozenset({Reason.EMBEDDER_FAILED, Reason.EMBEDDER_TIMEOUT})
_EXACT_NOTHING = Step("exact", Outcome.NOTHING)
_NEAR_NOTHING = Step("near-duplicate", Outcome.NOTHING)
_SEMANTIC_NOTHING = Step("semantic", Outcome.NOTHING)
_EXACT_SERVED = (Step("exact", Outcome.SERVED, 1.0),)
