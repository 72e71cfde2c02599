"""diskcache with everything taken out that trusts the folder.

Keys and values are raw bytes inside the row: never a pickle, never a file beside the database. A
row of any other shape raises CorruptRecordError. Settings found in the database are neither read
nor obeyed. Imported only when a directory is opened.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from diskcache import Cache, Disk
from diskcache.core import MODE_RAW, UNKNOWN

from semcache.errors import CorruptRecordError
from semcache.store.folder import DATABASE_NAME
from semcache.store.generation import Generation
from semcache.store.journal import Run

__all__ = ["ROW_OVERHEAD_BYTES", "SETTINGS", "Rows", "SafeDisk"]

ROW_OVERHEAD_BYTES = 256
"""What keys, indexes, ledger and journal add to a row; counted into every bound."""

_LARGEST_LOG_BYTES = 4 * 1024 * 1024
"""What SQLite's log is cut back to once its contents are in the database."""

_PAGE_BYTES = 8_192
"""Three rows with a vector of 384 numbers fit; in the usual 4,096 bytes it is one, half empty."""

SETTINGS: dict[str, int | str] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "none",
    "size_limit": 2**62,
    "cull_limit": 0,
    "sqlite_auto_vacuum": 0,
    "sqlite_cache_size": 2**12,
    "sqlite_journal_mode": "wal",
    # A mapped database that somebody truncates kills the process instead of raising.
    "sqlite_mmap_size": 0,
    "sqlite_synchronous": 1,
    "disk_min_file_size": 2**62,
    "disk_pickle_protocol": 0,
}
"""All of diskcache's settings, at the only values that are used."""


_FETCH = "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1"


def _refuse(what: str) -> NoReturn:
    raise CorruptRecordError(f"the store holds and takes raw bytes only, this is {what}")


class SafeDisk(Disk):  # type: ignore[misc]  # diskcache has no annotations
    """Keys and values as they are, in the row; everything else is refused."""

    def put(self, key: object) -> tuple[memoryview, bool]:
        """Give the columns of a key."""
        if type(key) is not bytes:
            _refuse(f"a key of type {type(key).__name__}")
        return sqlite3.Binary(key), True

    def get(self, key: object, raw: object) -> bytes:
        """Give the key of two columns."""
        if type(key) is not bytes or raw != 1:
            _refuse(f"a key of type {type(key).__name__} with raw={raw!r}")
        return key

    def store(
        self, value: object, read: object, key: object = UNKNOWN
    ) -> tuple[int, int, None, memoryview]:
        """Give the columns of a value: weight, mode, no file name, and the value itself."""
        if type(value) is not bytes or read:
            _refuse(f"a value of type {type(value).__name__}")
        return len(value) + ROW_OVERHEAD_BYTES, MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: object, filename: object, value: object, read: object) -> bytes:
        """Give the value of a row's columns."""
        if mode != MODE_RAW or filename is not None or type(value) is not bytes or read:
            _refuse(f"a row with mode={mode!r} and a value of type {type(value).__name__}")
        return value

    def filename(self, key: object = UNKNOWN, value: object = UNKNOWN) -> NoReturn:
        """Refuse: no value is kept in a file."""
        _refuse("a value for a file of its own")

    def remove(self, file_path: object) -> NoReturn:
        """Refuse: no file is ever removed on the word of a row."""
        _refuse(f"a row that names the file {file_path!r}")


class _Connection(sqlite3.Connection):
    """A connection that may be referred to weakly, and that closes when its thread is gone."""

    def __del__(self) -> None:
        # One that could not be opened cannot be closed either.
        with suppress(sqlite3.ProgrammingError):
            self.close()


class Rows(Cache):  # type: ignore[misc]  # diskcache has no annotations
    """A diskcache.Cache over SafeDisk: one connection a thread, transactions that always end.

    `generation` is the counter that goes with this very database file.
    """

    def __init__(self, directory: str, busy_seconds: float, generation: Generation) -> None:
        self.generation = generation
        self._busy_seconds = busy_seconds
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._txn_id: int | None
        super().__init__(directory, timeout=busy_seconds, disk=SafeDisk, **SETTINGS)

    @property
    def _con(self) -> sqlite3.Connection:
        con: sqlite3.Connection | None = getattr(self._local, "con", None)
        if con is None:
            con = self._local.con = self._connect()
        return con

    @property
    def _sql_retry(self) -> Run:
        """SQLite itself waits out the busy time; diskcache would try for a minute."""
        return self._con.execute

    def _connect(self) -> _Connection:
        con = sqlite3.connect(
            os.path.join(self._directory, DATABASE_NAME),
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        con.execute("PRAGMA trusted_schema = OFF")
        con.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        con.execute(f"PRAGMA journal_size_limit = {_LARGEST_LOG_BYTES}").fetchall()
        con.execute("PRAGMA fullfsync = ON")  # where a plain sync stops short of the disk
        for name in ("synchronous", "cache_size", "mmap_size"):
            con.execute(f"PRAGMA {name} = {SETTINGS[f'sqlite_{name}']}").fetchall()
        self._connections.add(con)
        return con

    @property
    def run(self) -> Run:
        """Execute one statement on this thread's connection."""
        return self._con.execute

    def fetch(self, key: bytes) -> bytes | None:
        """Return the value under `key`, or None: diskcache's `get` without lifetimes and options.

        Raises:
            CorruptRecordError: the row has a form that is never written.
        """
        row = self._con.execute(_FETCH, (key,)).fetchone()
        return None if row is None else self._disk.fetch(*row, False)

    @contextmanager
    def writing(self, *, synced: bool = False) -> Iterator[Run]:
        """One write transaction; the caller sees to it that this process has no other.

        One that is synced has reached the disk itself when it ends, with all before it. Unlike
        diskcache's own, a failed commit is rolled back, and the error is SQLite's.
        """
        con = self._con
        con.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
        con.execute("BEGIN IMMEDIATE")
        self._txn_id = threading.get_ident()
        try:
            yield con.execute
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
        finally:
            self._txn_id = None

    @contextmanager
    def reading(self) -> Iterator[Run]:
        """Several reads of one moment."""
        con = self._con
        con.execute("BEGIN")
        try:
            yield con.execute
        finally:
            con.execute("ROLLBACK")

    def forget_connections(self) -> None:
        """In a forked child: leave the parent's connections alone and open new ones."""
        self._local = threading.local()
        self._connections = weakref.WeakSet()
        self._txn_id = None

    def close_all(self) -> None:
        """Close the connections of all threads; the caller keeps everybody out."""
        for con in list(self._connections):
            con.close()
        self._local = threading.local()
