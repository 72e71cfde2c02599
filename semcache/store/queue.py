"""Entries that were acknowledged and are not on disk yet, and the one thread that writes them.

A batch is one transaction. A failing disk is told of once, tried again after growing pauses, and
never raises into whoever added an entry. What a batch does to memory is the owner's business.

Two locks, always taken in this order: the turn is held while the disk is written to, so that disk,
queue and memory change in one order; `lock` guards queue and memory, for microseconds.

Longer than most: what a failing disk does to the queue can only be checked in one place.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from semcache.aside import run_behind
from semcache.entry import Entry
from semcache.errors import StoreError, StoreTimeoutError, ValueFormError
from semcache.store.fork import rest, survive_forks

__all__ = ["WriteQueue"]

_log = logging.getLogger("semcache")

_BATCH = 256
_IDLE_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 10.0
_PATIENCE_SECONDS = 30.0


class _NotMyTurnError(StoreTimeoutError):
    """Another thread is writing, so nothing is known of the disk."""


class WriteQueue:
    """A bounded queue with one entry a key.

    `write` puts a batch on disk, amending the entries of the keys that come with it, calls `settle`
    for each of its entries and returns the keys that have vanished; `tell` hears of those, and
    `give_up` of keys that a failing disk did not take, both when no lock is held. `timeout_seconds`
    bounds how long a caller waits for its turn.
    """

    def __init__(
        self,
        *,
        size: int,
        timeout_seconds: float,
        write: Callable[[Sequence[Entry], frozenset[bytes]], tuple[bytes, ...]],
        tell: Callable[[tuple[bytes, ...]], None],
        give_up: Callable[[Sequence[bytes]], None],
    ) -> None:
        self._size = size
        self._timeout_seconds = timeout_seconds
        self._write = write
        self._tell = tell
        self._give_up = give_up
        self._waiting: dict[bytes, Entry] = {}
        self._amending: set[bytes] = set()
        self._is_failing = False
        self.failures = 0
        self._renew(is_closed=False)
        survive_forks(self)

    def _renew(self, *, is_closed: bool) -> None:
        self.lock = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Condition(self.lock)
        self._writer: threading.Thread | None = None
        self._resting: list[threading.Lock] = []
        self._closed = threading.Event()
        if is_closed:
            self._closed.set()

    def get(self, key: bytes) -> Entry | None:
        """Return the entry that waits under `key`, or None."""
        return self._waiting.get(key)

    def keys(self) -> set[bytes]:
        """The keys that wait. Needs the lock."""
        return set(self._waiting)

    def entries(self) -> list[Entry]:
        """What waits at this moment, the oldest first."""
        with self.lock:
            return list(self._waiting.values())

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, entry: Entry, *, amends: bool = False) -> bool:
        """Queue `entry` in place of an older one; say whether the caller must `help`.

        One that amends is a later state of a write that is on disk: it must not come back if that
        is deleted or overwritten meanwhile. What amends a write that still waits here goes with it.
        Needs the lock.
        """
        older = self._waiting.pop(entry.key, None)
        self._waiting[entry.key] = entry
        if not amends:
            self._amending.discard(entry.key)
        elif older is None:
            self._amending.add(entry.key)
        return not self._wake_writer() or len(self._waiting) > self._size

    def discard(self, key: bytes) -> None:
        """Forget what waits under `key`. Needs the lock."""
        self._waiting.pop(key, None)
        self._amending.discard(key)

    def discard_amendments(self, keys: Iterable[bytes] | None = None) -> None:
        """Forget what amends writes on disk, under all keys or these. Needs the lock."""
        for key in self._amending.copy() if keys is None else self._amending.intersection(keys):
            self.discard(key)

    def settle(self, entry: Entry) -> None:
        """Forget `entry`, unless a newer one waits under its key. Needs the lock."""
        if self._waiting.get(entry.key) is entry:
            self.discard(entry.key)

    def help(self) -> None:
        """Do what the writer cannot keep up with; while the disk fails, make room instead."""
        if self._is_failing:
            self._make_room()
        else:
            self._try_to_write()

    @contextmanager
    def turn(self, timeout_seconds: float | None = None) -> Iterator[None]:
        """Be the only one to write to the disk.

        Raises:
            StoreTimeoutError: others were writing for too long.
        """
        patience = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        if not self._writing.acquire(timeout=patience):
            raise _NotMyTurnError(
                f"other threads wrote to the store for more than {patience:g} s: try again, or "
                "allow more time"
            )
        try:
            yield
        finally:
            self._writing.release()

    def flush(self, timeout_seconds: float | None = None) -> None:
        """Return when everything that waited at the call is on disk.

        Raises:
            StoreTimeoutError: the time is over (30 s if none is given).
            StoreError: the disk failed; what could not be written goes on waiting.
        """
        patience = _PATIENCE_SECONDS if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + patience
        asked = self.entries()
        while any(self._waiting.get(entry.key) is entry for entry in asked):
            try:
                self._write_batch(max(deadline - time.monotonic(), 0.0))
            except StoreTimeoutError:
                if time.monotonic() >= deadline:
                    raise

    def close(self) -> None:
        """Flush, and stop the writer.

        Raises:
            StoreError: something acknowledged could not be written.
        """
        self._closed.set()
        try:
            self.flush()
        finally:
            with self._wake:
                writer = self._writer
                self._wake.notify_all()
            if writer is not None and writer is not threading.current_thread():
                writer.join(_IDLE_SECONDS)

    def _write_batch(self, timeout_seconds: float | None = None) -> None:
        with self.turn(timeout_seconds):
            with self.lock:
                batch = list(islice(self._waiting.values(), _BATCH))
                amending = frozenset(self._amending)
            try:
                gone = self._write(batch, amending)
            except ValueFormError:
                gone = self._write_singly(batch, amending)
            self._is_failing = False
        self._tell(gone)

    def _write_singly(self, batch: list[Entry], amending: frozenset[bytes]) -> tuple[bytes, ...]:
        """Write what can be written; what has no plain form stays in memory only."""
        gone: list[bytes] = []
        for entry in batch:
            try:
                gone += self._write((entry,), amending)
            except ValueFormError as error:
                _log.warning("semcache: kept in memory only: %s", error)
                self.failures += 1
                with self.lock:
                    self.settle(entry)
        return tuple(gone)

    def _try_to_write(self) -> bool:
        """Write a batch for somebody who must not see the disk fail; say whether it failed."""
        try:
            self._write_batch()
        except _NotMyTurnError:
            return True
        except Exception as error:  # the caller has its answer: no fault of the disk may reach it
            self._note_failure(error)
            self._make_room()
            return False
        return True

    def _note_failure(self, error: Exception) -> None:
        with self.lock:
            is_first, self._is_failing = not self._is_failing, True
            self.failures += 1
        if is_first:
            _log.warning(
                "semcache: the disk failed, answers stay in memory until it works again: %s",
                error,
                exc_info=not isinstance(error, StoreError),
            )

    def _make_room(self) -> None:
        """Give up the oldest of a queue that the disk does not take."""
        with self.lock:
            excess = list(self._waiting)[: max(len(self._waiting) - self._size, 0)]
            lost = [key for key in excess if key not in self._amending]
            for key in excess:
                self.discard(key)
        self._give_up(lost)

    def _wake_writer(self) -> bool:
        """Start or wake the writer; say whether there is one."""
        if self._writer is not None:
            self._wake.notify_all()
            return True
        self._writer = run_behind(self._run, "semcache-writer")
        return self._writer is not None

    def _run(self) -> None:
        """Write batches until there has been nothing to write for a while."""
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            with self._wake:
                if not self._waiting and not self._closed.is_set():
                    self._wake.wait(_IDLE_SECONDS)
                if not self._waiting or self._closed.is_set():
                    self._writer = None
                    return
            if self._try_to_write():
                pause_seconds = _FIRST_PAUSE_SECONDS
            else:
                self._closed.wait(pause_seconds)
                pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)

    def before_fork(self) -> None:
        """Let other threads finish what they are writing."""
        self._resting = [lock for lock in (self._writing, self.lock) if rest(lock)]

    def after_fork(self, *, in_child: bool) -> None:
        """Go on; the child starts without a writer and without the queue: its parent has it."""
        if in_child:
            self._renew(is_closed=self._closed.is_set())
            self._waiting, self._amending = {}, set()
            return
        for lock in self._resting:
            lock.release()
