"""Entries on disk: durable on return, bounded in bytes, shared by processes, read without trust.

An entry, its ledger line and its journal row are one transaction. Entries are returned whether
expired or not: the cache decides. A damaged row is dropped with a warning, the others live.

Longer than most for its docstrings: every method of a directory is here, one statement each.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.entry import Entry
from semcache.errors import ArgumentError, CorruptRecordError
from semcache.store import facts, ledger
from semcache.store.codec import from_row, to_row
from semcache.store.database import Database
from semcache.store.journal import Change, Changes, Op, Resync, Run

if TYPE_CHECKING:
    from semcache.store.safe_disk import Rows

__all__ = ["Change", "Changes", "DiskStore", "Op", "Resync"]

_log = logging.getLogger("semcache")

_SCAN_ROWS = 64
_LARGEST_ROW_BYTES = 900_000_000
"""SQLite holds at most a billion bytes in one value."""

_SOUND = (
    "raw IS 1 AND mode IS 1 AND filename IS NULL"
    " AND typeof(key) = 'blob' AND typeof(value) = 'blob'"
)
_SCAN = (
    f"SELECT rowid, CASE WHEN {_SOUND} THEN key END, CASE WHEN {_SOUND} THEN value END"
    " FROM Cache WHERE rowid > ? ORDER BY rowid LIMIT ?"
)


class DiskStore:
    """A directory of entries.

    `max_bytes` bounds the sum of row sizes as counted here (a row, and 256 bytes for what indexes
    and journal add). `timeout_seconds` bounds every wait for another thread or process. What has
    returned survives the death of the process. Without `survives_power_cuts` a power cut may take
    what was stored in the last moments, whole transactions at a time, but brings nothing back that
    was taken away. A directory that others may write to is tightened if it is ours.

    Raises:
        ForeignDirectoryError: the directory holds something else, or others may write to it.
        StoreError: it cannot be created or written to.
        StoreTimeoutError: another process is busy with it.

    >>> from tempfile import TemporaryDirectory
    >>> entry = Entry(key=bytes(16), entry_id="a", scope=b"s", namespace="default", model=None,
    ...               text="hi", payload=b"hello", created_at=1.0, expires_at=None)
    >>> with TemporaryDirectory() as folder:
    ...     store = DiskStore(folder + "/cache", clock=lambda: 1.0, max_bytes=10_000)
    ...     dropped = store.put([entry])
    ...     found = store.get(entry.key)
    ...     store.close()
    >>> dropped, found == entry
    ((), True)
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        clock: Callable[[], float],
        max_bytes: int,
        timeout_seconds: float = 0.2,
        survives_power_cuts: bool = False,
    ) -> None:
        if max_bytes < 1:
            raise ArgumentError("max_bytes", max_bytes, "pass the bound of the directory in bytes")
        if not timeout_seconds > 0:
            raise ArgumentError("timeout_seconds", timeout_seconds, "pass seconds above 0")
        self.directory = Path(directory).expanduser().absolute()
        self._clock = clock
        self._max_bytes = max_bytes
        self.timeout_seconds = timeout_seconds
        self._database = Database(
            self.directory,
            clock=clock,
            timeout_seconds=timeout_seconds,
            survives_power_cuts=survives_power_cuts,
        )
        if self.size_bytes > max_bytes:
            self.put(())

    def get(self, key: bytes) -> Entry | None:
        """Return the entry under `key`, expired or not, or None."""
        try:
            row = self._database.read(lambda rows: rows.fetch(key))
            return None if row is None else _entry(key, row)
        except CorruptRecordError as error:
            self._drop_damaged("key = ?", key, error)
        return None

    def put(self, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        """Store `entries` durably, in order; return the keys dropped to stay within the bound.

        An entry that alone exceeds the bound is refused: it is among the keys returned, an older
        entry of its key goes too, all others stay.

        Raises:
            ValueFormError: an entry has no plain form; nothing is stored.
            StoreError: the disk failed; nothing is stored.
        """
        pairs = [(entry, to_row(entry)) for entry in entries]
        return self._database.write(lambda rows, run: self._put(rows, run, pairs))

    def amend(self, entries: Sequence[Entry]) -> tuple[set[bytes], tuple[bytes, ...]]:
        """Replace entries by later states of the same writes, durably.

        A write that was deleted or overwritten meanwhile, by whatever process, stays so. Returns
        the keys that were replaced, and those dropped to stay within the bound. Raises as `put`.
        """
        pairs = [(entry, to_row(entry)) for entry in entries]

        def work(rows: Rows, run: Run) -> tuple[tuple[set[bytes], tuple[bytes, ...]], list[Change]]:
            standing = [pair for pair in pairs if _stands(rows, pair[0])]
            dropped, changes = self._put(rows, run, standing)
            return ({entry.key for entry, _ in standing}, dropped), changes

        return self._database.write(work)

    def _put(
        self, rows: Rows, run: Run, pairs: list[tuple[Entry, bytes]]
    ) -> tuple[tuple[bytes, ...], list[Change]]:
        from semcache.store.safe_disk import ROW_OVERHEAD_BYTES

        largest = min(self._max_bytes, _LARGEST_ROW_BYTES)
        dropped: dict[bytes, None] = {}
        changes: list[Change] = []
        for entry, row in pairs:
            weight_bytes = len(row) + ROW_OVERHEAD_BYTES
            existed = _remove(run, entry.key)
            if weight_bytes <= largest:
                rows.set(entry.key, row)
                ledger.enter(run, entry, weight_bytes)
                changes.append(Change(Op.PUT, entry.key))
                dropped.pop(entry.key, None)
            else:
                changes += [Change(Op.DELETE, entry.key)] * existed
                dropped[entry.key] = None
            # One by one, so that a large batch does not blow up the file that has a bound.
            self._shrink(run, dropped, changes)
        self._shrink(run, dropped, changes)
        return tuple(dropped), changes

    def _shrink(self, run: Run, dropped: dict[bytes, None], changes: list[Change]) -> None:
        excess_bytes = ledger.total_bytes(run) - self._max_bytes
        for key in ledger.victims(run, excess_bytes, self._clock()):
            _remove(run, key)
            changes.append(Change(Op.DELETE, key))
            dropped[key] = None

    def delete(self, keys: Iterable[bytes]) -> int:
        """Drop entries durably, power cuts included; return how many there were."""
        wanted = list(keys)

        def work(_: Rows, run: Run) -> tuple[int, list[Change]]:
            gone = [key for key in wanted if _remove(run, key)]
            return len(gone), [Change(Op.DELETE, key) for key in gone]

        return self._database.write(work, takes_away=True) if wanted else 0

    def scan(self) -> Iterator[Entry]:
        """Yield every entry, oldest write first, without holding a transaction.

        An entry written meanwhile may come twice, the newer one last.
        """
        after = 0
        while batch := self._database.read(partial(_batch, after=after)):
            for rowid, key, row in batch:
                try:
                    yield _entry(key, row)
                except CorruptRecordError as error:
                    self._drop_damaged("rowid = ?", rowid, error)
            after = batch[-1][0]

    def keys(self) -> list[bytes]:
        """Every stored key, in no particular order."""
        return self._database.read(
            lambda rows: [key for (key,) in rows.run("SELECT key FROM semcache_ledger")]
        )

    def __contains__(self, key: bytes) -> bool:
        statement = "SELECT 1 FROM semcache_ledger WHERE key = ?"
        return self._database.read(lambda rows: rows.run(statement, (key,)).fetchone() is not None)

    def __len__(self) -> int:
        statement = "SELECT COUNT(*) FROM semcache_ledger"
        return self._database.read(lambda rows: int(rows.run(statement).fetchone()[0]))

    @property
    def size_bytes(self) -> int:
        """The sum of row sizes that `max_bytes` bounds."""
        return self._database.read(lambda rows: ledger.total_bytes(rows.run))

    def changed(self) -> bool:
        """Say, in well under a microsecond, whether others may have written since `catch_up`."""
        return self._database.changed()

    def catch_up(self, apply: Callable[[Changes], None] | None = None) -> Changes:
        """Return what other instances changed since last time, in order, or Resync.

        `apply` gets the same before `changed` turns False, so that no other thread can look up
        between "read" and "applied"; if it raises, the changes are told again next time.
        """
        return self._database.catch_up(_ignore if apply is None else apply)

    def move_epoch(self, tag: str) -> int:
        """Invalidate `tag` for every process, durably, power cuts included; return its counter."""

        def work(_: Rows, run: Run) -> tuple[int, list[Change]]:
            count = facts.move_epoch(run, tag)
            return count, [Change(Op.EPOCH, tag=tag, count=count)]

        return self._database.write(work, takes_away=True)

    def epochs(self) -> dict[str, int]:
        """Every epoch that has moved, with its counter."""
        return self._database.read(lambda rows: facts.epochs(rows.run))

    def identity(self) -> int:
        """A number of this very database: counters of two databases cannot be compared."""
        return self._database.read(lambda rows: facts.identity(rows.run))

    def add_mark(self, query_key: bytes, entry_key: bytes) -> None:
        """Remember that the entry must not be served for the query. The newest 10,000 are kept."""

        def work(_: Rows, run: Run) -> tuple[None, list[Change]]:
            added = facts.add_mark(run, query_key, entry_key)
            return None, [Change(Op.MARK, key=entry_key, query_key=query_key)] * added

        self._database.write(work, takes_away=True)

    def marks(self) -> set[tuple[bytes, bytes]]:
        """Every (query_key, entry_key) pair that must not be served."""
        return self._database.read(lambda rows: facts.marks(rows.run))

    def close(self) -> None:
        """Close the directory; closing twice does nothing."""
        self._database.close()

    def _drop_damaged(self, where: str, value: bytes | int, error: Exception) -> None:
        """Drop one row, unless somebody has written a sound one over it meanwhile."""

        def work(_: Rows, run: Run) -> tuple[None, list[Change]]:
            changes = []
            for rowid, key in _damaged(run, where, value):
                run("DELETE FROM Cache WHERE rowid = ?", (rowid,))
                if key is not None:
                    ledger.strike(run, key)
                    changes.append(Change(Op.DELETE, key))
            return None, changes

        _log.warning("semcache: dropped one damaged row in %s: %s", self.directory, error)
        self._database.write(work)


def _entry(key: bytes | None, row: bytes | None) -> Entry:
    if key is None or row is None:
        raise CorruptRecordError("a stored row has a form that semcache never writes")
    entry = from_row(row)
    if entry.key != key:
        raise CorruptRecordError("a stored row holds the entry of another key")
    return entry


def _stands(rows: Rows, entry: Entry) -> bool:
    """Say whether the row under an entry's key is of the same write."""
    try:
        row = rows.fetch(entry.key)
        return row is not None and _entry(entry.key, row).entry_id == entry.entry_id
    except CorruptRecordError:
        return False


def _batch(rows: Rows, after: int) -> list[tuple[int, bytes | None, bytes | None]]:
    return list(rows.run(_SCAN, (after, _SCAN_ROWS)))


def _damaged(run: Run, where: str, value: bytes | int) -> list[tuple[int, bytes | None]]:
    found = run(
        f"SELECT rowid, CASE WHEN typeof(key) = 'blob' THEN key END,"
        f" CASE WHEN {_SOUND} THEN value END FROM Cache WHERE {where}",
        (value,),
    ).fetchall()
    damaged = []
    for rowid, key, row in found:
        try:
            _entry(key, row)
        except CorruptRecordError:
            damaged.append((rowid, key))
    return damaged


def _remove(run: Run, key: bytes) -> bool:
    run("DELETE FROM Cache WHERE key = ? AND raw = 1", (key,))
    return ledger.strike(run, key)


def _ignore(_: Changes) -> None:
    pass
