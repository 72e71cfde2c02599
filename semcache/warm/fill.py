"""Stores the answers of a warm-up file: most frequent first, within limits, and only what changed.

Running it again stores what is missing or edited and skips the rest, which also makes it resumable:
what was stored is durable, batch by batch, and other processes find it at once. Nothing here reads
files or prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from semcache.config import USE_DEFAULT, UseDefault
from semcache.decision import Bypass, Refused, Stored
from semcache.entry import Entry
from semcache.epochs import user_tags
from semcache.errors import FileFormatError, SemcacheError
from semcache.value import encode
from semcache.warm.limits import Budget, Pace
from semcache.warm.plan import Item, plan
from semcache.warm.rows import Row

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["WarmReport", "warm"]

Lifetime = float | timedelta | UseDefault | None
Progress = Callable[[int, int], None]
"""Told how many questions are done, of how many."""

_FREE = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmReport:
    """What a warm-up did, in questions.

    `stored` counts new and edited ones, `unchanged` those that were there already, `called` the
    calls made for an answer, `removed` answers that are approved no more. `refused` maps a question
    to why the cache would not take it. `stopped` says which limit left some out, empty if none did.
    """

    questions: int
    stored: int
    unchanged: int
    called: int
    cost: float
    removed: int
    refused: Mapping[str, str]
    skipped: tuple[str, ...]
    stopped: str = ""


def warm(
    cache: SemanticCache,
    rows: Iterable[Row],
    *,
    source: str = "warm",
    model: str | None = None,
    namespace: str | None = None,
    ttl_seconds: Lifetime = None,
    static: bool = False,
    call: Callable[[str], Any] | None = None,
    budget: Budget = _FREE,
    pace: Pace | None = None,
    prune: bool = False,
    skip_bad: bool = False,
    on_progress: Progress | None = None,
) -> WarmReport:
    """Store the rows' answers, so that `cache.lookup` and shared decorated functions find them.

    Args:
        cache: where to.
        rows: questions and answers; see `read_rows`.
        source: the name by which these entries can be told from others, such as the file's.
        model: the model to store under, where a row names none.
        namespace: the tenant, where a row names none; the cache's own if left out.
        ttl_seconds: lifetime of approved answers, for ever by default. What `call` gives takes the
            cache's own default and is not pinned.
        static: also store questions that the dynamic-query filter holds back.
        call: asked for the answer where a row has none.
        budget: limits on questions and money.
        pace: limit on questions a second.
        prune: take out entries of this source whose question is no longer in the rows.
        skip_bad: count rows that contradict each other, and calls that fail, instead of raising.
        on_progress: told after each batch.

    Raises:
        FileFormatError: two rows contradict each other, or a row lacks an answer without `call`.
        SemcacheError: a call failed, or the store did.

    >>> from semcache import SemanticCache
    >>> cache = SemanticCache(embedder=False)
    >>> report = warm(cache, [Row(1, ("Are cards free?", "Is a card free?"), "Yes.")])
    >>> report.stored, cache.lookup("Is a card free?").value
    (2, 'Yes.')
    """
    planned = plan(
        cache, rows, model=model, namespace=namespace, asking=call is not None, skip_bad=skip_bad
    )
    if prune and planned.skipped:
        raise FileFormatError(f"nothing is pruned while rows are bad: {planned.skipped[0]}")
    run = _Run(cache, _known(cache), source, ttl_seconds, static, call, budget, skip_bad)
    run.skipped += planned.skipped
    run.fill(planned.items, pace or Pace(), on_progress)
    if prune:
        wanted = {item.key for item in planned.items}
        run.removed += cache.purge(lambda e: e.source == source and e.key not in wanted)
    return run.report(len(planned.items))


@dataclass(frozen=True, slots=True)
class _Known:
    """What the cache holds under a key, without its bulk."""

    answer: bytes
    tags: frozenset[str]
    pinned: bool
    live: bool
    source: str


def _known(cache: SemanticCache) -> dict[bytes, _Known]:
    return {entry.key: _summary(entry, live=cache.is_live(entry)) for entry in cache.entries()}


def _summary(entry: Entry, *, live: bool) -> _Known:
    tags = frozenset(user_tags(entry.epochs))
    return _Known(_mark(entry.payload), tags, entry.pinned, live, entry.source)


def _mark(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=16).digest()


@dataclass(slots=True)
class _Run:
    """One run under way, and its counts."""

    cache: SemanticCache
    known: Mapping[bytes, _Known]
    source: str
    ttl_seconds: Lifetime
    static: bool
    call: Callable[[str], Any] | None
    budget: Budget
    skip_bad: bool
    stored: int = 0
    unchanged: int = 0
    called: int = 0
    removed: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    stopped: str = ""

    def fill(self, items: Sequence[Item], pace: Pace, on_progress: Progress | None) -> None:
        """Go through the items in order, batch by batch."""
        allowed = items[: self.budget.max_entries]
        if len(allowed) < len(items):
            self.stopped = f"the limit of {self.budget.max_entries} questions"
        for start in range(0, len(allowed), pace.batch):
            batch = allowed[start : start + pace.batch]
            todo = [item for item in batch if not self._is_there(item)]
            self.unchanged += len(batch) - len(todo)
            self._store([item for item in todo if item.answer is not None], pace)
            for item in todo:
                if item.answer is None:
                    self._ask(item, pace)
            if on_progress is not None:
                on_progress(start + len(batch), len(allowed))

    def report(self, questions: int) -> WarmReport:
        """Give the counts, frozen."""
        return WarmReport(
            questions=questions,
            stored=self.stored,
            unchanged=self.unchanged,
            called=self.called,
            cost=self.called * self.budget.cost_per_entry,
            removed=self.removed,
            refused=self.refused,
            skipped=tuple(self.skipped),
            stopped=self.stopped,
        )

    def _is_there(self, item: Item) -> bool:
        known = self.known.get(item.key)
        if known is None or not known.live or known.tags != frozenset(item.tags):
            return False
        if item.answer is None:
            # An answer that this file approved before, and no longer has, is to be asked for anew.
            return not (known.pinned and known.source == self.source)
        return known.pinned and known.answer == _mark(encode(item.answer))

    def _store(self, items: Sequence[Item], pace: Pace) -> None:
        groups: dict[tuple[Any, ...], list[Item]] = {}
        for item in items:
            groups.setdefault((item.model, item.namespace, item.tags), []).append(item)
        for group in groups.values():
            pace.take(len(group))
            self._put(group, [item.answer for item in group], self.ttl_seconds, pinned=True)

    def _put(
        self, items: Sequence[Item], answers: Sequence[Any], ttl: Lifetime, *, pinned: bool
    ) -> None:
        """Store answers to items of one identity and the same tags."""
        results = self.cache.put_many(
            [(item.prompt, answer) for item, answer in zip(items, answers, strict=True)],
            depends_on=items[0].tags,
            ttl_seconds=ttl,
            pinned=pinned,
            source=self.source,
            dynamic=self._dynamic,
            **items[0].identity,
        )
        for item, result in zip(items, results, strict=True):
            self._note(item, result)

    @property
    def _dynamic(self) -> bool | None:
        return False if self.static else None

    def _note(self, item: Item, result: Stored | Refused) -> None:
        if isinstance(result, Stored):
            self.stored += 1
            return
        self.refused[item.prompt] = result.reason
        known = self.known.get(item.key)
        if known is not None and known.source == self.source:
            # The file has another answer now: the one it had before is no longer approved.
            self.removed += self.cache.remove(item.prompt, **item.identity)

    def _ask(self, item: Item, pace: Pace) -> None:
        assert self.call is not None, "the plan lets no empty answer through without a call"
        if not self.budget.allows(self.called + 1):
            self.stopped = f"the most to be spent, {self.budget.max_cost:g}"
            return
        aside = self.cache.explain(item.prompt, dynamic=self._dynamic, **item.identity)
        if isinstance(aside, Bypass):
            # Nobody pays for an answer that would not be stored.
            self._note(item, Refused(f"{aside.reason.value}: {aside.detail}"))
            return
        pace.take(1)
        self.called += 1
        try:
            answer = self.call(item.prompt)
        except Exception as error:
            self._bad_call(item, error)
        else:
            self._put([item], [answer], USE_DEFAULT, pinned=False)

    def _bad_call(self, item: Item, error: Exception) -> None:
        own = isinstance(error, SemcacheError)
        said = str(error) if own else f"{type(error).__name__}: {error}"
        message = f"{item.place}: the call failed: {said}"
        if not self.skip_bad:
            raise SemcacheError(message) from error
        self.skipped.append(message)
