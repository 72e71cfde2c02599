"""One open directory: its database, its generation and what to do when SQLite refuses.

Turns every SQLite error into one of ours, and sets a damaged database aside, once, whoever meets it
first. Knows nothing of entries. Several threads, processes and forks may share a directory.

Longer than most: opening, replacing and forking share the same few locks.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from semcache.errors import CorruptRecordError, StoreError, StoreTimeoutError
from semcache.store import facts, folder, journal, ledger
from semcache.store.fork import REST_SECONDS, Gate, rest, survive_forks
from semcache.store.generation import Generation
from semcache.store.journal import Change, Changes, Resync, Run

if TYPE_CHECKING:
    from semcache.store.safe_disk import Rows

__all__ = ["Database"]

T = TypeVar("T")

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
# A row too big to read was never written by us: writes are bounded.
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG})
_FAULTS = (sqlite3.Error, folder.DamagedDatabaseError)
_UNREAD = -1
_REREAD_AFTER_FORK = 1_024
"""A thread of the parent may have been between a write and its own indexes when it forked."""


class Database:
    """Runs reads, and writes with their journal rows, against whatever file is now in place."""

    def __init__(
        self,
        directory: Path,
        *,
        clock: Callable[[], float],
        timeout_seconds: float,
        survives_power_cuts: bool = False,
    ) -> None:
        self.directory = directory
        self._path = directory / folder.DATABASE_NAME
        self._files = (str(self._path), str(directory / folder.GENERATION_NAME))
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._survives_power_cuts = survives_power_cuts
        self._closed = False
        self._renew()
        self._open()
        self._position = self._generation.sequence
        survive_forks(self)

    def _renew(self) -> None:
        self._origin = secrets.token_bytes(8)
        self._gate = Gate()
        self._writing = threading.Lock()
        self._catching_up = threading.Lock()
        self._opening = threading.Lock()
        self._moving = threading.Lock()
        self._resting: list[threading.Lock] = []

    def read(self, work: Callable[[Rows], T]) -> T:
        """Run `work` and return what it gives; a damaged database is replaced by an empty one.

        Raises:
            StoreTimeoutError: another process kept the database busy.
            CorruptRecordError: a row holds text that is not text.
            StoreError: the store is closed, or anything else that SQLite cannot do.
        """
        rows = self._rows
        try:
            return self._run(rows, work)
        except _FAULTS as error:
            if not _is_damage(error):
                raise self._explained(error) from error
            self._recover(rows, str(error))
        try:
            return self._run(self._rows, work)
        except _FAULTS as error:
            raise self._explained(error) from error

    def _run(self, rows: Rows, work: Callable[[Rows], T]) -> T:
        with self._gate:
            if self._closed:
                raise StoreError(f"the store in {self.directory} is closed: open another one")
            return work(rows)

    def write(
        self, work: Callable[[Rows, Run], tuple[T, list[Change]]], *, takes_away: bool = False
    ) -> T:
        """Run `work` and journal its changes in one transaction, committed on return.

        What takes answers away waits until the disk itself has it: a power cut that undid it would
        bring back what somebody knew to be wrong. Losing an answer costs a call.

        Raises:
            StoreTimeoutError: another thread or process kept the database busy.
            StoreError: anything else that SQLite cannot do.
        """
        self._acquire(self._writing)
        try:
            self._reopen_if_replaced()
            synced = takes_away or self._survives_power_cuts
            return self.read(lambda rows: self._transaction(rows, work, synced=synced))
        finally:
            self._writing.release()

    def _transaction(
        self, rows: Rows, work: Callable[[Rows, Run], tuple[T, list[Change]]], *, synced: bool
    ) -> T:
        with rows.writing(synced=synced) as run:
            before = after = journal.last_sequence(run)
            try:
                result, changes = work(rows, run)
                after += len(changes)
                journal.append(run, self._origin, changes)
                journal.trim_now_and_then(run, before, after)
                rows.generation.sequence = after
            except BaseException:
                rows.generation.sequence = before
                raise
        with self._moving:
            if self._position == before:
                self._position = after
        return result

    def changed(self) -> bool:
        """Say whether others may have written since `catch_up` last ran."""
        return self._generation.differs(self._position)

    def catch_up(self, apply: Callable[[Changes], None]) -> Changes:
        """Hand the changes of others to `apply`; only when it has returned are they behind us."""
        self._acquire(self._catching_up)
        try:
            if not self.changed():
                return []
            self._reopen_if_replaced()
            rows, position = self._rows, self._position
            newest, changes = self.read(lambda rows: self._changes_after(rows, position))
            if changes:
                apply(changes)
            with self._moving:
                if rows is self._rows and self._position == position:
                    self._position = newest
            return changes
        finally:
            self._catching_up.release()

    def _changes_after(self, rows: Rows, position: int) -> tuple[int, Changes]:
        with rows.reading() as run:
            if position == _UNREAD:
                return journal.last_sequence(run), Resync("the directory was opened anew")
            return journal.read(run, position, self._origin)

    def _acquire(self, lock: threading.Lock) -> None:
        if not lock.acquire(timeout=self._timeout_seconds):
            raise StoreTimeoutError(
                f"the store in {self.directory} was busy with other threads for more than "
                f"timeout_seconds={self._timeout_seconds:g}: try again, or allow more time"
            )

    def _open(self, *, damage: str | None = None) -> None:
        """Open the directory, setting aside a database that cannot be used."""
        folder.claim(self.directory)
        try:
            with folder.locked(self.directory, self._timeout_seconds):
                if damage is not None and not self._is_replaced():
                    self._set_aside(damage)
                try:
                    folder.inspect(self._path, self._timeout_seconds)
                    self._connect()
                except _FAULTS as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(str(error))
                    self._connect()
        except _FAULTS as error:
            raise self._explained(error) from error
        except OSError as error:
            raise StoreError(
                f"directory={str(self.directory)!r} cannot be used ({error.strerror or error}): "
                "free some space or pass another directory"
            ) from error

    def _connect(self) -> None:
        from semcache.store.safe_disk import Rows

        rows = Rows(str(self.directory), self._timeout_seconds, self._map_generation())
        with rows.writing() as run:
            journal.create(run)
            ledger.create(run)
            facts.create(run)
            ledger.reconcile(run)
            rows.generation.sequence = journal.last_sequence(run)
        self._identity = self._identify()
        self._generation, self._rows = rows.generation, rows

    def _map_generation(self) -> Generation:
        path = Path(self._files[1])
        generation = Generation(path)
        if not generation.is_abandoned:
            return generation
        # Killed between telling others and setting aside, or filled with something by somebody.
        path.unlink()
        return Generation(path)

    def _identify(self) -> tuple[int, int]:
        """Which files these are: another process may set them aside, or somebody delete them."""
        database, generation = self._files
        return os.stat(database).st_ino, os.stat(generation).st_ino

    def _set_aside(self, reason: str) -> None:
        Generation(Path(self._files[1])).abandon()
        folder.set_aside(self.directory, reason, self._clock())

    def _recover(self, rows: Rows, damage: str) -> None:
        """Set the damaged file aside, unless somebody else has, and open what is there."""
        with self._opening:
            if self._rows is not rows:
                return
            with self._gate.alone(self._timeout_seconds) as alone:
                if alone:
                    rows.close_all()
                self._reopen(damage)

    def _reopen_if_replaced(self) -> None:
        if self._is_replaced():
            with self._opening:
                if self._is_replaced() and not self._closed:
                    self._reopen(None)

    def _is_replaced(self) -> bool:
        try:
            return self._generation.is_abandoned or self._identify() != self._identity
        except OSError:
            return True

    def _reopen(self, damage: str | None) -> None:
        self._position = _UNREAD
        self._open(damage=damage)

    def _explained(self, error: Exception) -> StoreError:
        if str(error).startswith("Could not decode"):
            return CorruptRecordError(f"a stored row holds bytes where text belongs: {error}")
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY:
            return StoreTimeoutError(
                f"the store in {self.directory} was busy with another process for more than "
                f"timeout_seconds={self._timeout_seconds:g}: try again, or allow more time"
            )
        return StoreError(
            f"the store in directory={str(self.directory)!r} failed ({error}): check that the "
            "disk has room and that this user may write there"
        )

    def before_fork(self) -> None:
        """Let writes and reads of other threads end."""
        self._resting = [lock for lock in (self._writing, self._opening) if rest(lock)]
        self._gate.shut(REST_SECONDS)

    def after_fork(self, *, in_child: bool) -> None:
        """Go on; in the child, under a new name and with new locks and connections."""
        if not in_child:
            self._gate.open()
            for lock in self._resting:
                lock.release()
            return
        self._renew()
        self._rows.forget_connections()
        self._position = max(self._position - _REREAD_AFTER_FORK, min(self._position, 0))

    def close(self) -> None:
        """Close the connections of all threads; closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        with self._gate.alone(REST_SECONDS) as alone:
            if alone:
                self._rows.close_all()


def _is_damage(error: Exception) -> bool:
    if isinstance(error, folder.DamagedDatabaseError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _DAMAGED or str(error).startswith("no such table")
