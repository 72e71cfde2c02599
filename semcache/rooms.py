"""Opens the rooms of one cache and keeps them in step: store, indexes, epochs, embedder.

It decides nothing about a call. What other processes wrote is taken over here, before anybody looks
up; indexes are rebuilt here from the store, which is the truth.
"""

from __future__ import annotations

import logging
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from semcache.config import Config
from semcache.decision import Reason
from semcache.embed.batching import Embedded, Embedding, NoEmbedding, is_loaded, known_width
from semcache.embed.service import EmbeddingService
from semcache.epochs import Epochs
from semcache.errors import DimensionError, StoreError, StoreTimeoutError
from semcache.judge.threshold import Threshold
from semcache.match.projections import Projections
from semcache.removals import Removals
from semcache.store.disk import DiskStore
from semcache.store.facts import MAX_MARKS
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
    from semcache.entry import Entry
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
            self._stored,
            near_duplicates=config.near_duplicates,
            semantic=config.semantic,
            most_pending=config.queue_size,
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
            on_drop=self._let_go,
        )
        self.epochs = Epochs()
        self._moving = threading.Lock()
        """Held from a counter's move on disk to its taking over, and while all are read anew."""
        self.removals = Removals()
        self.marks: dict[tuple[bytes, bytes], None] = {}
        self.walk = Walk(
            config=config,
            store=self.store,
            projections=self.projections,
            epochs=self.epochs,
            marks=self.marks,
            rules=given.rules,
            guards=given.guards,
            policy=Reason.LOADING if config.threshold is None else Threshold(config.threshold),
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
        self._settle_threshold()
        self._rebuild()
        if not replace_embedder:
            self._check_width()
        self._has_told = False

    def _check_width(self) -> None:
        """Refuse a directory all of whose vectors are of another width, as far as both are known.

        The stored vectors themselves are asked: whoever filled the directory, and however.
        """
        embedder = self.embedding.embedder
        width = None if embedder is None else known_width(embedder)
        widths = {space.dimension for space in self.projections.spaces()}
        if width is not None and widths and width not in widths:
            self.close()
            raise DimensionError(min(widths), width)

    def _settle_threshold(self) -> None:
        """Take what was measured for the embedder, once it is loaded and if none was given.

        One model's number means nothing for another: without its own, the semantic tier is off.
        """
        embedder = self.embedding.embedder
        if self.walk.policy is not Reason.LOADING or embedder is None or not is_loaded(embedder):
            return
        self.walk.policy = Reason.NO_THRESHOLD
        why = "no threshold was measured for it"
        try:
            own = getattr(embedder, "default_threshold", None)
            if own is not None:
                self.walk.policy = Threshold(own)
                return
        except Exception as error:  # a property of the user's may raise anything
            why = f"its default_threshold: {type(error).__name__}: {error}"
        warn_once(
            f"the semantic tier is off for the embedder {embedder.name!r} ({why}). Measure a "
            "threshold on your own prompts and pass threshold=."
        )

    def _tell_of_other_vectors(self) -> None:
        """Say once that entries of another embedder have no part in the semantic tier."""
        if self._has_told or not self.embedder_name:
            return
        self._has_told = True
        own = (self.embedder_name, self.embedding.dimension)
        others = {space: n for space, n in self.projections.spaces().items() if space != own}
        if others:
            names = ", ".join(f"{name!r} of width {width}" for name, width in sorted(others))
            warn_once(
                f"{sum(others.values())} entries were embedded by {names}, not by the embedder in "
                f"use, {own[0]!r} of width {own[1]}: only the exact and near-duplicate tiers serve "
                "them until they are stored anew."
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
        self._settle_threshold()
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
                self.store.get(change.key)  # raises if it cannot be read: told again next time
                self.projections.follow([change.key])
            case Op.DELETE:
                self.removals.note([change.key])
                self._let_go([change.key])
            case Op.EPOCH:
                self.epochs.set(change.tag, change.count)
            case Op.MARK:
                self._remember([(change.query_key, change.key)])
            case _:
                assert_never(change.op)

    def _rebuild(self) -> None:
        """Build every projection from the store anew; embed later what has no vector yet."""
        if self.disk is None:
            return
        with self._moving:
            self.epochs.replace(self.disk.epochs(), self.disk.identity())
        self._remember(self.disk.marks())
        bare: list[Entry] = []
        self.projections.rebuild(_noting_bare(self.store.scan(), bare))
        self.writer.backfill.embed_later(bare)

    def _let_go(self, keys: Sequence[bytes]) -> None:
        """Follow entries that have left the store."""
        self.projections.follow(keys)
        self.writer.backfill.forget(keys)

    def _stored(self, key: bytes) -> Entry | None:
        """Give what the indexes follow. What cannot be read now cannot be served either."""
        try:
            return self.store.peek(key)
        except StoreError:  # counted where it was raised
            return None

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
        self._remember([(query_key, entry_key)])
        if self.disk is not None:
            patiently(partial(self.disk.add_mark, query_key, entry_key))

    def _remember(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep as many marks as the disk does, the newest."""
        self.marks.update(dict.fromkeys(pairs))
        for pair in list(self.marks)[:-MAX_MARKS]:
            self.marks.pop(pair, None)

    def delete(self, keys: Sequence[bytes]) -> int:
        """Take entries out of the indexes and the store; says how many there were."""
        self.removals.note(keys)
        try:
            return self.store.delete(keys)
        finally:
            self._let_go(keys)

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


def _noting_bare(entries: Iterable[Entry], bare: list[Entry]) -> Iterator[Entry]:
    """Pass entries on, noting those that are still to be embedded."""
    for entry in entries:
        if not entry.windows and not entry.exact_only:
            bare.append(entry)
        yield entry


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
