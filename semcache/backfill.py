"""Texts that were stored without a vector, and the one thread that embeds them behind all callers.

A text waits here until the model is loaded. One that the embedder failed with, or did not answer
for in time, is put aside and tried again once the embedder has answered somebody: three times in
all. Nothing here decides what is stored or served.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from semcache.aside import run_behind
from semcache.decision import Reason
from semcache.embed.batching import Embedded, NoEmbedding
from semcache.embed.service import EmbeddingService
from semcache.entry import Entry
from semcache.match.projections import Projections, as_bytes
from semcache.store.tiered import TieredStore
from semcache.telemetry import Telemetry

__all__ = ["Backfill"]

_log = logging.getLogger("semcache")

_BATCH = 32
_MOST_TRIES = 3
_PASSING = frozenset({Reason.EMBEDDER_TIMEOUT, Reason.EMBEDDER_FAILED})


@dataclass(frozen=True, slots=True)
class _Bare:
    """One write of a key that has no vectors yet, and which try at embedding it is the next."""

    entry_id: str
    tries: int = 1


class Backfill:
    """Gives stored entries their vectors."""

    def __init__(
        self,
        *,
        store: TieredStore,
        projections: Projections,
        embedding: EmbeddingService,
        core: Callable[[str], str],
        telemetry: Telemetry,
        load_timeout_seconds: float,
    ) -> None:
        self._store = store
        self._projections = projections
        self._embedding = embedding
        self._core = core
        self._telemetry = telemetry
        self._load_timeout_seconds = load_timeout_seconds
        self._waiting: dict[bytes, _Bare] = {}
        self._missed: dict[bytes, _Bare] = {}
        self.reset_locks()

    def reset_locks(self) -> None:
        """Take fresh locks and no thread: at birth, and in a forked child."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def embed_later(self, entries: Iterable[Entry]) -> None:
        """Queue entries for embedding once the model is ready; one thread does it."""
        if self._embedding.state not in ("unloaded", "loading", "ready"):
            return
        with self._lock:
            self._waiting.update({entry.key: _Bare(entry.entry_id) for entry in entries})
            self._start()

    def forget(self, keys: Iterable[bytes]) -> None:
        """Embed nothing for keys that have left the store: no more waits than is stored."""
        with self._lock:
            for key in keys:
                self._waiting.pop(key, None)
                self._missed.pop(key, None)

    def forget_gone(self, key: bytes) -> None:
        """Forget a key just queued if it had left the store before that."""
        if self._projections.read(key) is None:
            self.forget([key])

    def embed_missed(self) -> None:
        """Queue again what was put aside: the embedder has just answered."""
        if not self._missed:
            return
        with self._lock:
            self._waiting, self._missed = {**self._missed, **self._waiting}, {}
            self._start()

    def drain(self, timeout_seconds: float | None = None) -> bool:
        """Wait until every queued entry has been embedded or put aside; say whether it has."""
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_seconds)
            return not thread.is_alive()
        return True

    def filled(self, entry: Entry, embedded: Embedded) -> Entry:
        """Give an entry with its vectors, as it is if there are none."""
        if isinstance(embedded, NoEmbedding):
            return entry
        return replace(
            entry,
            embedder=self._embedding.name or "",
            windows=len(embedded.vectors),
            vectors=as_bytes(embedded.vectors),
        )

    def _start(self) -> None:
        """Start the thread if something waits and it does not run. Needs the lock."""
        if self._waiting and (self._thread is None or not self._thread.is_alive()):
            self._thread = run_behind(self._run, "semcache-backfill")

    def _run(self) -> None:
        try:
            if not self._embedding.preload(self._load_timeout_seconds):
                return
            while (batch := self._take()) is not None:
                if batch:
                    self._fill(batch)
        except Exception:  # nobody waits for this thread, and `core` is the user's: it tells
            self._telemetry.failed("embedding for later")
            _log.exception("semcache: stored answers could not be embedded; they stay exact-only")
        finally:
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _take(self) -> list[tuple[Entry, _Bare]] | None:
        """Give those of the next batch that are still stored; None when nothing waits any more.

        The thread steps down under the same lock, so that whoever queues next starts another.
        """
        with self._lock:
            batch = list(self._waiting.items())[:_BATCH]
            if not batch:
                self._thread = None
                return None
            for key, _ in batch:
                del self._waiting[key]
        found = ((self._store.get(key), bare) for key, bare in batch)
        return [(entry, bare) for entry, bare in found if entry and entry.entry_id == bare.entry_id]

    def _fill(self, batch: list[tuple[Entry, _Bare]]) -> None:
        made = self._embedding.embed_many([self._core(entry.text) for entry, _ in batch])
        for (entry, bare), embedded in zip(batch, made, strict=True):
            if isinstance(embedded, NoEmbedding):
                self._put_aside(entry, bare, embedded.reason)
            else:
                self._fill_in(entry, embedded)

    def _fill_in(self, entry: Entry, embedded: Embedded) -> None:
        """Give a stored entry its vector, unless it has been deleted or overwritten meanwhile."""

        def change(stored: Entry) -> Entry | None:
            return self.filled(stored, embedded) if stored.entry_id == entry.entry_id else None

        if self._store.amend(entry.key, change) is not None:
            self._projections.follow([entry.key])

    def _put_aside(self, entry: Entry, bare: _Bare, reason: Reason) -> None:
        if reason in _PASSING and bare.tries < _MOST_TRIES:
            with self._lock:
                self._missed[entry.key] = replace(bare, tries=bare.tries + 1)
            self.forget_gone(entry.key)
