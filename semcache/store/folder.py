"""Whether a directory may be used, and what to do with a database in it that may not.

A directory is ours when it is empty or carries our marker. It must be writable for nobody else. A
database that is damaged, or that holds settings or tables which we never write, is set aside under
another name before anything in it is obeyed. Nothing else in the directory is ever touched.

Longer than most for its lists of what a database of ours may hold.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from semcache.errors import ForeignDirectoryError, StoreError, StoreTimeoutError

__all__ = [
    "DATABASE_NAME",
    "GENERATION_NAME",
    "DamagedDatabaseError",
    "claim",
    "inspect",
    "locked",
    "set_aside",
]

_log = logging.getLogger("semcache")

DATABASE_NAME = "cache.db"
"""diskcache chooses this name."""

GENERATION_NAME = "semcache.generation"
_MARKER_NAME = "semcache.store"
_LOCK_NAME = "semcache.lock"
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_ENDINGS = ("-journal", "-wal", "-shm", "")
_MARKER = b"semcache store 1\n"
_HARMLESS = frozenset({"lost+found", ".DS_Store", ".gitkeep"})
_POLL_SECONDS = 0.005

_INTEGER_SETTINGS = frozenset(
    {
        "count",
        "cull_limit",
        "disk_min_file_size",
        "disk_pickle_protocol",
        "hits",
        "misses",
        "size",
        "size_limit",
        "sqlite_auto_vacuum",
        "sqlite_cache_size",
        "sqlite_mmap_size",
        "sqlite_synchronous",
        "statistics",
        "tag_index",
    }
)
_TEXT_SETTINGS = {"eviction_policy": "none", "sqlite_journal_mode": "wal"}
_TABLES = frozenset(
    {
        "Cache",
        "Settings",
        "semcache_epoch",
        "semcache_fact",
        "semcache_journal",
        "semcache_ledger",
        "semcache_mark",
        "sqlite_sequence",
        "sqlite_stat1",
        "sqlite_stat4",
    }
)
_TRIGGERS = frozenset(
    {
        "Settings_count_delete",
        "Settings_count_insert",
        "Settings_size_delete",
        "Settings_size_insert",
        "Settings_size_update",
    }
)


class DamagedDatabaseError(Exception):
    """The database cannot be used; carries the reason. Never leaves the store."""


def claim(directory: Path) -> None:
    """Create `directory` for its owner alone, or check that it is ours and safe to use.

    An empty directory or one with our marker is tightened when it is ours to tighten.

    Raises:
        ForeignDirectoryError: it holds something else, or others may write to it.
        StoreError: it cannot be created or written to.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
        names = {entry.name for entry in os.scandir(directory)} - _HARMLESS
        if _MARKER_NAME in names:
            _check_marker(directory)
        elif names:
            raise ForeignDirectoryError(
                f"directory={str(directory)!r} holds {sorted(names)[0]!r}, which semcache did not "
                "write: pass an empty or a new directory"
            )
        _secure(directory, status, new=not names)
        if not names:
            _write_marker(directory)
    except OSError as error:
        raise StoreError(
            f"directory={str(directory)!r} cannot be used ({error.strerror or error}): pass a "
            "directory that this user can create and write to"
        ) from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise StoreError(
            f"directory={str(directory)!r} is not writable for this user: run `chmod u+rwx "
            f"{directory}` or pass another directory"
        )


def _check_marker(directory: Path) -> None:
    found = (directory / _MARKER_NAME).read_bytes()[:64]
    # A process that was killed while it wrote the marker leaves a part of it, or nothing.
    if not _MARKER.startswith(found):
        raise ForeignDirectoryError(
            f"directory={str(directory)!r} was written by another version of semcache "
            f"({found!r}): pass another directory, or use that version"
        )


def _secure(directory: Path, status: os.stat_result, *, new: bool) -> None:
    mode = stat.S_IMODE(status.st_mode)
    open_to_others = bool(mode & (stat.S_IWGRP | stat.S_IWOTH))
    shared_by_nature = bool(mode & stat.S_ISVTX)
    if status.st_uid == os.geteuid() and not shared_by_nature:
        if open_to_others or (new and mode != 0o700):
            directory.chmod(0o700)
    elif open_to_others:
        raise ForeignDirectoryError(
            f"directory={str(directory)!r} may be written to by other users (mode {mode:o}): run "
            f"`chmod 700 {directory}` as its owner, or pass a directory of your own"
        )


def _write_marker(directory: Path) -> None:
    (directory / _MARKER_NAME).write_bytes(_MARKER)


@contextmanager
def locked(directory: Path, timeout_seconds: float) -> Iterator[None]:
    """Keep every other process out of opening or setting aside this directory.

    Raises:
        StoreTimeoutError: another process did not finish in time.
    """
    file = os.open(directory / _LOCK_NAME, _LOCK_FLAGS, 0o600)
    try:
        _wait_for(lambda: _try_lock(file), timeout_seconds, directory)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for(done: Callable[[], bool], timeout_seconds: float, directory: Path) -> None:
    # A file lock has no timeout of its own; real time, since another process holds it.
    deadline = time.monotonic() + timeout_seconds
    pause = threading.Event()
    while not done():
        if time.monotonic() >= deadline:
            raise StoreTimeoutError(
                f"directory={str(directory)!r} was being opened by another process for more than "
                f"store_timeout_seconds={timeout_seconds:g}: try again, or allow more time"
            )
        pause.wait(_POLL_SECONDS)


def inspect(database: Path, busy_seconds: float) -> None:
    """Look at a database without obeying it.

    Raises:
        DamagedDatabaseError: it is malformed, or holds settings or tables that we never write.
    """
    parts = [database.with_name(database.name + ending) for ending in _ENDINGS]
    if any(part.is_symlink() or (part.exists() and not part.is_file()) for part in parts):
        raise DamagedDatabaseError("it is not a plain file")
    if not database.exists():
        return
    con = sqlite3.connect(
        f"file:{quote(str(database))}?mode=ro", uri=True, timeout=busy_seconds, isolation_level=None
    )
    try:
        con.execute("PRAGMA trusted_schema = OFF")
        _check_schema(con.execute("SELECT type, name, tbl_name FROM sqlite_master").fetchall())
        if con.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
            _check_settings(con.execute("SELECT key, value FROM Settings").fetchall())
    finally:
        con.close()


def _check_schema(items: list[tuple[str, str, str]]) -> None:
    for kind, name, table in items:
        known = (
            name in _TABLES
            if kind == "table"
            else name in _TRIGGERS
            if kind == "trigger"
            else kind == "index" and table in _TABLES
        )
        if not known:
            raise DamagedDatabaseError(f"it holds a {kind} named {name!r}")


def _check_settings(settings: list[tuple[object, object]]) -> None:
    for name, value in settings:
        if name in _INTEGER_SETTINGS:
            good = type(value) is int
        else:
            good = isinstance(name, str) and _TEXT_SETTINGS.get(name) == value is not None
        if not good:
            raise DamagedDatabaseError(f"it holds the setting {name!r} = {value!r}")


def set_aside(directory: Path, reason: str, now: float) -> Path:
    """Move a database out of the way, with one warning; give its new path.

    The caller holds the directory's lock and has told other processes.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    kept = directory / f"{DATABASE_NAME}.damaged-{stamp}"
    number = 1
    while kept.exists() or kept.is_symlink():
        number += 1
        kept = directory / f"{DATABASE_NAME}.damaged-{stamp}-{number}"
    for ending in _ENDINGS:
        source = directory / f"{DATABASE_NAME}{ending}"
        if source.exists() or source.is_symlink():
            source.rename(kept.with_name(kept.name + ending))
    (directory / GENERATION_NAME).unlink(missing_ok=True)
    _log.warning(
        "semcache: the database in %s cannot be used (%s). It was set aside as %s with all it "
        "held, and the cache starts empty; delete that file when you no longer need it.",
        directory,
        reason,
        kept.name,
    )
    return kept
