"""Memory over disk: what is asked for often is in memory, what was acknowledged ends up on disk.

A look-up goes memory, queue, Bloom filter, disk. A failing disk costs durability, never an answer
that memory or the queue still has. Decides nothing about expiry or epochs; whoever keeps indexes
hears of vanished keys through `on_drop` and of other processes through `catch_up`.

Longer than most: the order of layers and locks can only be checked in one place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from semcache.entry import Entry
from semcache.errors import StoreError
from semcache.store.bloom import RotatingBloom
from semcache.store.disk import Changes, DiskStore, Op, Resync
from semcache.store.memory import MemoryStore
from semcache.store.patience import patiently
from semcache.store.queue import WriteQueue

__all__ = ["TieredStore"]

_log = logging.getLogger("semcache")

_MOST_TRIES = 8
"""How often an amendment looks again while others write; one that is given up costs a renewal."""


class TieredStore:
    """A memory store over a disk store, or a memory store alone. Safe for threads and forks.

    `queue_size` bounds the entries that wait for the disk. `on_drop` is told the keys that have
    vanished from every tier, when no lock is held.

    >>> entry = Entry(key=bytes(16), entry_id="a", scope=b"s", namespace="default", model=None,
    ...               text="hi", payload=b"hello", created_at=1.0, expires_at=None)
    >>> memory = MemoryStore(max_entries=10, max_bytes=10_000, clock=lambda: 1.0)
    >>> store = TieredStore(memory, None)
    >>> store.put_later(entry)
    ()
    >>> store.get(entry.key) is entry
    True
    """

    def __init__(
        self,
        memory: MemoryStore,
        disk: DiskStore | None,
        *,
        queue_size: int = 1000,
        on_drop: Callable[[tuple[bytes, ...]], None] | None = None,
    ) -> None:
        self._memory = memory
        self._disk = disk
        self._on_drop = on_drop
        self._bloom = RotatingBloom()
        self._queue = WriteQueue(
            size=queue_size,
            timeout_seconds=0.0 if disk is None else disk.timeout_seconds,
            write=self._write_queued,
            tell=self._tell,
            give_up=self._give_up,
        )
        self._counts = dict.fromkeys(
            ("queue_hits", "disk_hits", "misses", "evictions", "read_errors"), 0
        )
        self._turn = 0
        self._is_closed = False
        if disk is not None:
            self._bloom.rebuild(disk.keys)

    def get(self, key: bytes) -> Entry | None:
        """Return the entry under `key`, expired or not, or None.

        Raises:
            StoreError: neither memory nor queue has it, and the disk failed.
        """
        entry = self._memory.get(key)
        return self._get_below(key, promote=True) if entry is None else entry

    def peek(self, key: bytes) -> Entry | None:
        """Return what `get` would, for a candidate that may not be served: nothing moves up."""
        entry = self._memory.peek(key)
        return self._get_below(key, promote=False) if entry is None else entry

    def _get_below(self, key: bytes, *, promote: bool) -> Entry | None:
        turn = self._turn
        entry, layer = self._queue.get(key), "queue_hits"
        if entry is None and self._disk is not None:
            entry, layer = self._get_from_disk(self._disk, key), "disk_hits"
        with self._queue.lock:
            self._counts["misses" if entry is None else layer] += 1
            # A write or delete since then may have been of this key: what was read may be old.
            if promote and entry is not None and turn == self._turn:
                self._memory.put((entry,))
        return entry

    def _get_from_disk(self, disk: DiskStore, key: bytes) -> Entry | None:
        # In this order: once nothing is unread, the filter has every key written before now.
        if not disk.changed() and key not in self._bloom:
            return None
        try:
            entry = disk.get(key)
        except StoreError:
            self._counts["read_errors"] += 1
            raise
        if entry is None:
            self._bloom.note_false_alarm()
        return entry

    def put(self, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        """Store `entries` durably; return the keys that vanished to stay within the bounds.

        Raises:
            ValueFormError: an entry has no plain form; nothing is stored.
            StoreError: the disk failed; nothing is stored.
        """
        if self._disk is None:
            with self._queue.lock:
                self._turn += 1
                gone = self._memory.put(entries)
        else:
            gone = patiently(partial(self._put, self._disk, entries))
        self._tell(gone)
        return gone

    def _put(self, disk: DiskStore, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        with self._queue.turn():
            return self._write(disk, entries, is_new=True)

    def put_later(self, entry: Entry) -> tuple[bytes, ...]:
        """Store `entry` in memory now and on disk soon. Never raises for the disk's sake.

        Returns the keys that vanished at once to stay within the bounds. With a full queue the
        caller writes a batch itself. While the disk fails, the queue keeps what fits for the next
        try.
        """
        must_help = False
        with self._queue.lock:
            self._turn += 1
            gone = self._memory.put((entry,))
            if self._disk is not None:
                gone, must_help = (), self._queue.add(entry)
        if must_help:
            self._queue.help()
        self._tell(gone)
        return gone

    def amend(self, key: bytes, change: Callable[[Entry], Entry | None]) -> Entry | None:
        """Replace an entry by a later state of the same write: in memory now, on disk soon.

        `change` gives that state, or None to leave the entry as it is; it must be quick, and may
        be asked again. A write that is deleted or overwritten, here or by another process, does
        not come back. Returns the new state, None where nothing was changed.

        Raises:
            StoreError: neither memory nor queue has the entry, and the disk failed.
        """
        for _ in range(_MOST_TRIES):
            turn, entry = self._turn, self.peek(key)
            if entry is None:
                return None
            with self._queue.lock:
                held = self._memory.peek(key) or self._queue.get(key)
                if held is None and turn != self._turn:
                    continue  # what was read may have been deleted since
                amended = change(held or entry)
                gone, must_help = ((), False) if amended is None else self._replace(amended)
            if must_help:
                self._queue.help()
            self._tell(gone)
            return amended
        return None

    def _replace(self, entry: Entry) -> tuple[tuple[bytes, ...], bool]:
        """Put a later state where the earlier one is; needs the lock."""
        gone = self._memory.put((entry,)) if entry.key in self._memory else ()
        if self._disk is None:
            return gone, False
        return (), self._queue.add(entry, amends=True)

    def delete(self, keys: Iterable[bytes]) -> int:
        """Drop entries from every tier, durably; return how many there were.

        Raises:
            StoreError: the disk failed; memory and queue have dropped them all the same.
        """
        wanted = set(keys)
        disk = self._disk
        if disk is None:
            with self._queue.lock:
                self._turn += 1
                return self._memory.delete(wanted)
        return patiently(partial(self._delete, disk, wanted))

    def _delete(self, disk: DiskStore, wanted: set[bytes]) -> int:
        with self._queue.turn():
            with self._queue.lock:
                queued = wanted & self._queue.keys()
            try:
                number = sum(key not in disk for key in queued) + disk.delete(wanted)
            finally:
                with self._queue.lock:
                    self._turn += 1
                    self._memory.delete(wanted)
                    for key in wanted:
                        self._queue.discard(key)
            self._bloom.note_deleted(number)
        return number

    def scan(self) -> Iterator[Entry]:
        """Yield every entry: first what waits for the disk, then the disk's."""
        if self._disk is None:
            yield from self._memory.scan()
            return
        queued = {entry.key: entry for entry in self._queue.entries()}
        yield from queued.values()
        yield from (entry for entry in self._disk.scan() if entry.key not in queued)

    def __len__(self) -> int:
        if self._disk is None:
            return len(self._memory)
        queued = self._queue.entries()
        return len(self._disk) + sum(entry.key not in self._disk for entry in queued)

    def changed(self) -> bool:
        """Say, in well under a microsecond, whether others may have written since `catch_up`."""
        return self._disk is not None and self._disk.changed()

    def catch_up(self, apply: Callable[[Changes], None] | None = None) -> Changes:
        """Follow what other instances wrote, and return it for the caller's own indexes.

        What they overwrote or deleted leaves memory. `apply` gets the same before `changed` turns
        False: see `DiskStore.catch_up`.
        """
        if self._disk is None:
            return []
        disk = self._disk

        def follow(changes: Changes) -> None:
            self._follow(disk, changes)
            if apply is not None:
                apply(changes)

        return disk.catch_up(follow)

    def _follow(self, disk: DiskStore, changes: Changes) -> None:
        if isinstance(changes, Resync):
            with self._queue.turn():
                self._bloom.rebuild(disk.keys)
            with self._queue.lock:
                self._turn += 1
                self._memory.clear()
                self._queue.discard_amendments()
            return
        put = [change.key for change in changes if change.op is Op.PUT]
        deleted = [change.key for change in changes if change.op is Op.DELETE]
        for key in put:
            self._bloom.add(key)
        self._bloom.note_deleted(len(deleted))
        with self._queue.lock:
            self._turn += 1
            for key in deleted:
                self._queue.discard(key)
            self._queue.discard_amendments(put)
            # What waits here will overwrite what the other process put.
            self._memory.delete(deleted)
            self._memory.delete(set(put) - self._queue.keys())

    def flush(self, timeout_seconds: float | None = None) -> None:
        """Return when everything acknowledged before this call is on disk.

        Raises:
            StoreTimeoutError: the time is over (30 s if none is given).
            StoreError: the disk failed; what could not be written stays queued.
        """
        self._queue.flush(timeout_seconds)

    def close(self) -> None:
        """Write what waits, stop the writer and close the disk; closing twice does nothing.

        Raises:
            StoreError: something acknowledged could not be written. All is closed all the same.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._queue.close()
        finally:
            if self._disk is not None:
                self._disk.close()

    def stats(self) -> dict[str, int | float]:
        """Numbers for people: sizes, hits by layer, queue, evictions, errors, the filter's rates.

        `misses` are look-ups that no layer answered; bytes are as the bounds count them.
        """
        counts = dict(self._counts)
        numbers: dict[str, int | float] = {
            "entries": len(self._memory),
            "memory_entries": len(self._memory),
            "memory_bytes": self._memory.size_bytes,
            "disk_bytes": 0,
            "memory_hits": self._memory.hits,
            "queue_length": len(self._queue),
            "disk_errors": counts.pop("read_errors") + self._queue.failures,
            "bloom_rate": self._bloom.false_positive_rate,
            "bloom_observed_rate": self._bloom.observed_rate,
        }
        if self._disk is not None:
            try:
                numbers |= {"entries": len(self), "disk_bytes": self._disk.size_bytes}
            except StoreError as error:
                _log.warning("semcache: the disk gave no numbers: %s", error)
        return numbers | counts

    def _write(
        self, disk: DiskStore, entries: Sequence[Entry], *, is_new: bool
    ) -> tuple[bytes, ...]:
        """Write to disk, then bring queue and memory in line; needs the turn. Gives what is gone.

        Entries that are new go to memory as well and stand above whatever is queued for their key.
        """
        for entry in entries:
            self._bloom.add(entry.key)
        dropped = disk.put(entries)
        with self._queue.lock:
            self._turn += 1
            for entry in entries:
                if is_new:
                    self._queue.discard(entry.key)
                else:
                    self._queue.settle(entry)
            if is_new:
                self._memory.put(entries)
            gone = tuple(key for key in dropped if self._queue.get(key) is None)
            self._memory.delete(gone)
        self._bloom.note_deleted(len(dropped))
        if self._bloom.is_stale:
            self._bloom.rebuild(disk.keys)
        return gone

    def _write_queued(
        self, batch: Sequence[Entry], amending: frozenset[bytes]
    ) -> tuple[bytes, ...]:
        if self._disk is None:
            return ()
        new = [entry for entry in batch if entry.key not in amending]
        later = [entry for entry in batch if entry.key in amending]
        gone = self._write(self._disk, new, is_new=False) if new else ()
        return (*gone, *self._write_amended(self._disk, later)) if later else gone

    def _write_amended(self, disk: DiskStore, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        """Write later states of what is on disk; memory forgets those whose write is gone."""
        standing, dropped = disk.amend(entries)
        with self._queue.lock:
            self._turn += 1
            for entry in entries:
                self._queue.settle(entry)
                if entry.key not in standing and self._memory.peek(entry.key) is entry:
                    self._memory.delete((entry.key,))
            gone = tuple(key for key in dropped if self._queue.get(key) is None)
            self._memory.delete(gone)
        self._bloom.note_deleted(len(dropped))
        return gone

    def _give_up(self, keys: Sequence[bytes]) -> None:
        self._tell(tuple(key for key in keys if key not in self._memory))

    def _tell(self, gone: tuple[bytes, ...]) -> None:
        if not gone:
            return
        with self._queue.lock:
            self._counts["evictions"] += len(gone)
        if self._on_drop is not None:
            self._on_drop(gone)
