"""Opens the rooms of one cache and keeps them in step: store, indexes, epochs, embedder.

It decides nothing about a call. What other processes wrote is taken over here, before anybody looks
up; indexes are rebuilt here from the store, which is the truth.
"""

from __future__ import annotations

import logging
import os
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from semcache.config import DEFAULT_THRESHOLD, Config
from semcache.decision import Reason
from semcache.embed.batching import Embedded, Embedding, NoEmbedding, is_loaded
from semcache.embed.service import EmbeddingService
from semcache.epochs import Epochs
from semcache.errors import ArgumentError, DimensionError, StoreError, StoreTimeoutError
from semcache.judge.threshold import Threshold
from semcache.match.projections import Projections
from semcache.removals import Removals
from semcache.store.disk import DiskStore
from semcache.store.journal import Change, Changes, Op, Resync
from semcache.store.memory import MemoryStore
from semcache.store.patience import patiently
from semcache.store.tiered import TieredStore
from semcache.telemetry import Telemetry
from semcache.walk import Walk
from semcache.writer import Writer

if TYPE_CHECKING:
    from semcache.admit.dynamic import DynamicRules
    from semcache.admit.response import Admission
    from semcache.protocols import Embedder, Guard

__all__ = ["Collaborators", "Rooms", "warn_once"]

_log = logging.getLogger("semcache")
_warned: set[str] = set()
_MOST_WARNINGS = 1000


def warn_once(message: str) -> None:
    """Log a warning that has not been logged by this process."""
    if message not in _warned and len(_warned) < _MOST_WARNINGS:
        _warned.add(message)
        _log.warning("semcache: %s", message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """What a cache works with that is not a plain setting."""

    embedder: Embedder | None
    clock: Callable[[], float]
    core: Callable[[str], str]
    guards: Sequence[Guard]
    rules: DynamicRules | None
    admission: Admission
    chance: random.Random = field(default_factory=random.Random)


class Rooms:
    """The open rooms of one cache.

    Raises:
        ForeignDirectoryError, StoreError: the directory is not ours or cannot be used.
        DimensionError: the directory was filled by an embedder of another width.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None,
        config: Config,
        given: Collaborators,
        *,
        replace_embedder: bool = False,
    ) -> None:
        self.config = config
        self.telemetry = Telemetry()
        self.projections = Projections(
            near_duplicates=config.near_duplicates, semantic=config.semantic
        )
        self.embedding = EmbeddingService(
            given.embedder,
            embed_timeout_seconds=config.embed_timeout_seconds,
            load_timeout_seconds=config.load_timeout_seconds,
        )
        self.disk = _open_disk(directory, config, given.clock)
        self.store = TieredStore(
            MemoryStore(
                max_entries=config.max_entries,
                max_bytes=config.max_bytes,
                clock=given.clock,
                grace_seconds=config.stale_seconds,
            ),
            self.disk,
            queue_size=config.queue_size,
            on_drop=self.projections.remove,
        )
        self._check_width(replace_embedder=replace_embedder)
        self.epochs = Epochs()
        self._moving = threading.Lock()
        """Held from a counter's move on disk to its taking over, and while all are read anew."""
        self.removals = Removals()
        self.marks: set[tuple[bytes, bytes]] = set()
        self.walk = Walk(
            config=config,
            store=self.store,
            projections=self.projections,
            epochs=self.epochs,
            marks=self.marks,
            rules=given.rules,
            guards=given.guards,
            policy=Threshold(DEFAULT_THRESHOLD if config.threshold is None else config.threshold),
            clock=given.clock,
        )
        self.writer = Writer(
            config=config,
            store=self.store,
            projections=self.projections,
            epochs=self.epochs,
            removals=self.removals,
            admission=given.admission,
            embedding=self.embedding,
            core=given.core,
            telemetry=self.telemetry,
            clock=given.clock,
            jitter=given.chance,
            largest_bytes=config.max_bytes if self.disk is None else config.max_disk_bytes,
        )
        self._settled = config.threshold is not None
        self._settle_threshold()
        self._rebuild()
        self._has_told = False

    def _check_width(self, *, replace_embedder: bool) -> None:
        """Compare the directory's vector width with the embedder's, as far as both are known."""
        embedder = self.embedding.embedder
        if self.disk is None or embedder is None or not is_loaded(embedder):
            return
        width = embedder.dimension
        kept = self.disk.meta_get("dimension")
        if kept is not None and int(kept) != width and not replace_embedder:
            self.close()
            raise DimensionError(int(kept), width)
        self.disk.meta_set("dimension", str(width))

    def _settle_threshold(self) -> None:
        """Take the embedder's own default, once it is loaded and if none was given."""
        embedder = self.embedding.embedder
        if self._settled or embedder is None or not is_loaded(embedder):
            return
        self._settled = True
        own = getattr(embedder, "default_threshold", None)
        if own is not None:
            self.walk.policy = Threshold(own)
            return
        warn_once(
            f"no threshold is known for the embedder {type(embedder).__qualname__}; "
            f"{DEFAULT_THRESHOLD} is used. Measure one on your own prompts and pass threshold=."
        )

    def _tell_of_other_vectors(self) -> None:
        """Say once that entries of another embedder have no part in the semantic tier."""
        if self._has_told or not self.embedder_name:
            return
        self._has_told = True
        kept = self.projections.embedders()
        others = sorted(
            name for name, count in kept.items() if count and name != self.embedder_name
        )
        if others:
            warn_once(
                f"{sum(kept[name] for name in others)} entries were embedded by {others}, not by "
                f"the embedder in use, {self.embedder_name!r}: only the exact and near-duplicate "
                "tiers serve them until they are stored anew."
            )

    @property
    def embedder_name(self) -> str:
        """The fingerprint of the embedder, empty until it is known."""
        return self.embedding.name or ""

    def embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """Give vectors, or the reason why there are none, of each text."""
        if not self.config.semantic:
            return [NoEmbedding(Reason.NO_EMBEDDER, "switched off")] * len(texts)
        made = self.embedding.embed_many(texts) if texts else []
        try:
            self._settle_threshold()
        except ArgumentError as error:
            warn_once(f"the embedder's default_threshold: {error}; {DEFAULT_THRESHOLD} is used.")
        self._tell_of_other_vectors()
        if any(isinstance(item, Embedding) for item in made):
            self.writer.backfill.embed_missed()
        return made

    def catch_up(self) -> Reason | None:
        """Take over what other processes wrote since the last look-up.

        Gives the reason if that cannot be read now: nothing may be served then, since another
        process may have invalidated it.
        """
        if self.disk is None or not self.disk.changed():
            return None
        try:
            self.store.catch_up(self._take_over)
        except StoreTimeoutError:
            return Reason.STORE_TIMEOUT
        except StoreError as error:
            warn_once(f"the journal could not be read: {error}")
            return Reason.STORE_FAILED
        except Exception:  # an index that fails to follow must not reach the call either
            _log.exception("semcache: what other processes wrote could not be taken over")
            return Reason.CACHE_FAILED
        return None

    def _take_over(self, changes: Changes) -> None:
        if isinstance(changes, Resync):
            self._rebuild()
            return
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        match change.op:
            case Op.PUT:
                entry = self.store.get(change.key)
                if entry is not None:
                    self.projections.add(entry)
            case Op.DELETE:
                self.removals.note([change.key])
                self.projections.remove([change.key])
            case Op.EPOCH:
                self.epochs.set(change.tag, change.count)
            case Op.MARK:
                self.marks.add((change.query_key, change.key))
            case _:
                assert_never(change.op)

    def _rebuild(self) -> None:
        """Build every projection from the store anew; embed later what has no vector yet."""
        if self.disk is None:
            return
        self.projections.clear()
        with self._moving:
            self.epochs.replace(self.disk.epochs(), self.disk.identity())
        self.marks |= self.disk.marks()
        bare = []
        for entry in self.store.scan():
            self.projections.add(entry)
            if not entry.windows and not entry.exact_only:
                bare.append(entry)
        self.writer.backfill.embed_later(bare)

    def move_epoch(self, tag: str) -> int:
        """Move a counter, durably where there is a disk; give its new value."""
        self.catch_up()
        if self.disk is None:
            return self.epochs.move(tag)
        return patiently(partial(self._move_epoch, self.disk, tag))

    def _move_epoch(self, disk: DiskStore, tag: str) -> int:
        with self._moving:
            count = disk.move_epoch(tag)
            self.epochs.set(tag, count)
        return count

    def mark(self, query_key: bytes, entry_key: bytes) -> None:
        """Never serve this entry to this query again, durably where there is a disk."""
        self.marks.add((query_key, entry_key))
        if self.disk is not None:
            patiently(partial(self.disk.add_mark, query_key, entry_key))

    def delete(self, keys: Sequence[bytes]) -> int:
        """Take entries out of the indexes and the store; says how many there were."""
        self.removals.note(keys)
        try:
            return self.store.delete(keys)
        finally:
            self.projections.remove(keys)

    def after_fork(self) -> None:
        """Take fresh locks in a forked child; the store and the embedder see to their own."""
        self.telemetry.reset_lock()
        self.epochs.reset_lock()
        self.removals.reset_lock()
        self._moving = threading.Lock()
        self.writer.reset_locks()

    def close(self) -> None:
        """Write what is pending and let go of files and threads."""
        self.store.close()
        self.embedding.close()


def _open_disk(
    directory: str | os.PathLike[str] | None, config: Config, clock: Callable[[], float]
) -> DiskStore | None:
    if directory is None:
        return None
    return DiskStore(
        Path(directory).expanduser(),
        clock=clock,
        max_bytes=config.max_disk_bytes,
        timeout_seconds=config.store_timeout_seconds,
        survives_power_cuts=config.durability == "power",
    )
