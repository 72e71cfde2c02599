"""How an answer gets in: admission, one entry, the store, then the indexes.

The epochs of an entry are those that stood when its call began; its lifetime counts from when the
answer came. A text that could not be embedded yet is embedded later: see `backfill`.
Nothing here decides what may be served.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from semcache.admit.personal import personal_data
from semcache.admit.response import Admission, answer_text, has_tool_calls
from semcache.aside import run_behind
from semcache.backfill import Backfill
from semcache.config import Config, UseDefault, check_cap, check_ttl
from semcache.decision import Refused, Stored
from semcache.draft import Draft
from semcache.embed.service import EmbeddingService
from semcache.entry import Entry, new_entry_id
from semcache.epochs import Epochs
from semcache.match.projections import Projections, as_bytes
from semcache.removals import Removals
from semcache.store.tiered import TieredStore
from semcache.telemetry import Telemetry
from semcache.value import encode
from semcache.walk import Handle

__all__ = ["Writer"]

_log = logging.getLogger("semcache")

_SHORTEST_JITTERED_SECONDS = 60.0
_IDLE_SECONDS = 1.0


class Writer:
    """Stores answers of one cache and keeps its indexes in step."""

    def __init__(
        self,
        *,
        config: Config,
        store: TieredStore,
        projections: Projections,
        epochs: Epochs,
        removals: Removals,
        admission: Admission,
        embedding: EmbeddingService,
        core: Callable[[str], str],
        telemetry: Telemetry,
        clock: Callable[[], float],
        jitter: random.Random,
        largest_bytes: int,
    ) -> None:
        self._config = config
        self._store = store
        self._projections = projections
        self._epochs = epochs
        self._removals = removals
        self._admission = admission
        self._embedding = embedding
        self._core = core
        self._telemetry = telemetry
        self._clock = clock
        self._jitter = jitter
        self._largest_bytes = largest_bytes
        self.backfill = Backfill(
            store=store,
            projections=projections,
            embedding=embedding,
            core=core,
            telemetry=telemetry,
            load_timeout_seconds=config.load_timeout_seconds,
        )
        self.reset_locks()

    def reset_locks(self) -> None:
        """Take fresh locks and no thread: at birth, and in a forked child."""
        self.backfill.reset_locks()
        self._unsettled = threading.Event()
        self._settler: threading.Thread | None = None

    def refusal(self, handle: Handle, draft: Draft) -> Refused | None:
        """Say why an answer may not be stored, or give None."""
        shown = draft.shown
        reason = self._admission_of(draft).check(shown, draft.chunks)
        if reason is not None:
            return Refused(reason)
        if self._config.share_personal:
            return None
        kinds = personal_data(answer_text(shown), handle.request.text)
        if not kinds:
            return None
        return Refused(f"personal data in the answer: {', '.join(kinds)}", private=True)

    def _admission_of(self, draft: Draft) -> Admission:
        """Add the rules that came with one function to those of the cache."""
        own, added = self._admission, draft.cache_if
        rules: dict[str, Any] = {}
        if added is not None:
            rules["cache_if"] = added if own.cache_if is None else _both(own.cache_if, added)
        if draft.is_complete is not None:
            rules["is_complete"] = draft.is_complete
        return replace(own, **rules) if rules else own

    def commit(self, handle: Handle, draft: Draft) -> Stored | Refused:
        """Store the answer of a miss: in memory now, on disk soon. Raises ValueFormError."""
        entry = self._admitted(handle, draft)
        if isinstance(entry, Refused):
            return entry
        gone: list[bytes] = []

        def store(entry: Entry) -> None:
            gone.extend(self._store.put_later(entry))

        if not self._removals.unless_removed(handle.removals, entry, store):
            self._telemetry.refused("taken out meanwhile")
            return Refused("it was taken out or replaced while its call was in flight")
        if entry.key in gone:
            return self._outcome(entry, {entry.key})
        self._telemetry.stored()
        self._projections.follow_later(entry.key, handle.prepared)
        self._settle_soon()
        self._embed_if_bare(entry)
        return Stored(entry.entry_id)

    def put(self, drafts: Sequence[tuple[Handle, Draft]]) -> list[Stored | Refused]:
        """Store answers durably, in one transaction, and make them findable.

        Raises ValueFormError and StoreError: whoever stores by hand wants to know.
        """
        made = [self._admitted(handle, draft) for handle, draft in drafts]
        kept = [
            (entry, handle)
            for entry, (handle, _draft) in zip(made, drafts, strict=True)
            if isinstance(entry, Entry)
        ]
        kept = self._embedded(kept)
        ready = {entry.key: entry for entry, _handle in kept}
        self._removals.note(ready)
        gone = set(self._store.put(list(ready.values())))
        for entry, handle in kept:
            if ready[entry.key] is entry and entry.key not in gone:
                self._projections.follow_later(entry.key, handle.prepared)
                self._embed_if_bare(entry)
        self._projections.settle()
        return [self._outcome(item, gone) for item in made]

    def _outcome(self, item: Entry | Refused, gone: set[bytes]) -> Stored | Refused:
        if isinstance(item, Refused):
            return item
        if item.key in gone:
            self._telemetry.refused("no room")
            return Refused("no room: the bounds of the cache pushed it out again")
        self._telemetry.stored()
        return Stored(item.entry_id)

    def _admitted(self, handle: Handle, draft: Draft) -> Entry | Refused:
        draft = draft.apart()
        made = self.refusal(handle, draft) or self._entry(handle, draft)
        if isinstance(made, Entry) and made.size_bytes > self._largest_bytes:
            size, bound = made.size_bytes, self._largest_bytes
            made = Refused(f"too large: {size:,} bytes, the cache is bounded to {bound:,}")
        if isinstance(made, Refused):
            self._telemetry.refused(made.reason.split(":")[0])
        return made

    def _entry(self, handle: Handle, draft: Draft) -> Entry:
        request = handle.request
        now = self._clock()
        vectors = handle.vectors
        lifetime = self._lifetime(draft.ttl_seconds, perishable=handle.perishable)
        cap = self._renewal_cap(draft.renew_up_to_seconds, perishable=handle.perishable)
        return Entry(
            key=request.key,
            entry_id=new_entry_id(request.key),
            scope=request.scope,
            namespace=request.namespace,
            model=request.model,
            text=request.text,
            payload=encode(draft.shown) if draft.payload is None else draft.payload,
            created_at=now,
            expires_at=None if lifetime is None else now + lifetime,
            lifetime_seconds=0.0 if lifetime is None else lifetime,
            renewable_until=None if lifetime is None or cap is None else now + cap,
            epochs=handle.epochs,
            exact_only=request.exact_only is not None or has_tool_calls(draft.told),
            gate=handle.gate,
            embedder=handle.embedder,
            windows=0 if vectors is None else len(vectors),
            vectors=b"" if vectors is None else as_bytes(vectors),
            stream=draft.chunks is not None,
            pinned=draft.pinned,
            source=draft.source,
            saved_seconds=draft.saved_seconds,
            saved_cost=draft.cost(draft.shown) if callable(draft.cost) else draft.cost,
        )

    def _lifetime(
        self, ttl: float | timedelta | UseDefault | None, *, perishable: bool
    ) -> float | None:
        config = self._config
        jittered = isinstance(ttl, UseDefault)
        given = config.ttl_seconds if isinstance(ttl, UseDefault) else check_ttl(ttl)
        seconds = self._under_ceilings(given, perishable=perishable)
        if seconds is not None and jittered and seconds >= _SHORTEST_JITTERED_SECONDS:
            seconds *= 1.0 - config.ttl_jitter * self._jitter.random()
        return seconds

    def _renewal_cap(
        self, cap: float | timedelta | UseDefault | None, *, perishable: bool
    ) -> float | None:
        own = self._config.renew_up_to_seconds
        given = own if isinstance(cap, UseDefault) else check_cap(cap)
        return None if given is None else self._under_ceilings(given, perishable=perishable)

    def _under_ceilings(self, seconds: float | None, *, perishable: bool) -> float | None:
        ceilings = [seconds, self._config.max_ttl_seconds]
        if perishable:
            ceilings.append(self._config.perishable_ttl_seconds)
        return min((ceiling for ceiling in ceilings if ceiling is not None), default=None)

    def renew(self, entry: Entry) -> None:
        """Let an entry that was served live longer, where that was asked for.

        It is the stored entry that is renewed: what expired, was invalidated or taken out since it
        was served stays so.
        """
        if entry.renewable_until is None or entry.renewed(self._clock()) is None:
            return

        def renewed(stored: Entry) -> Entry | None:
            same = stored.entry_id == entry.entry_id and self._epochs.moved(stored.epochs) is None
            return stored.renewed(self._clock()) if same else None

        self._store.amend(entry.key, renewed)

    def _settle_soon(self) -> None:
        """Bring the indexes up to date behind the caller, unless a look-up does it first."""
        self._unsettled.set()
        if self._settler is None or not self._settler.is_alive():
            self._settler = run_behind(self._run_settler, "semcache-settle")

    def _run_settler(self) -> None:
        while self._unsettled.wait(_IDLE_SECONDS):
            self._unsettled.clear()
            try:
                self._projections.settle()
            except Exception:  # nobody waits for this thread: it tells, and goes on
                self._telemetry.failed("indexing an answer")
                _log.exception("semcache: an answer could not be indexed; it stays exact-only")

    def _embed_if_bare(self, entry: Entry) -> None:
        if self._lacks(entry):
            self.backfill.embed_later([entry])
            self.backfill.forget_gone(entry.key)  # it may have left before it was queued

    def _embedded(self, kept: list[tuple[Entry, Handle]]) -> list[tuple[Entry, Handle]]:
        """Add vectors to entries that lack them, in one batch, if the embedder is ready."""
        lacking = [i for i, (entry, _) in enumerate(kept) if self._lacks(entry)]
        if not lacking:
            return kept
        made = self._embedding.embed_many([self._core(kept[i][0].text) for i in lacking])
        out = list(kept)
        for i, embedded in zip(lacking, made, strict=True):
            entry, handle = kept[i]
            out[i] = (self.backfill.filled(entry, embedded), handle)
        return out

    def _lacks(self, entry: Entry) -> bool:
        return not entry.windows and not entry.exact_only


def _both(first: Callable[[Any], bool], second: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: first(value) and second(value)
