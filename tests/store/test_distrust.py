"""A folder that somebody else has written to: nothing runs, nothing outside it is touched."""

from __future__ import annotations

import logging
import os
import pickle  # noqa: TID251  the attack itself
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import CorruptRecordError, ForeignDirectoryError, StoreError
from semcache.store.disk import DiskStore, Resync
from semcache.store.safe_disk import SafeDisk
from tests.contracts.store import make_entry
from tests.fakes import Clock


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.target,))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with the entries a, b and c."""
    store = DiskStore(tmp_path / "cache", clock=Clock(), max_bytes=10**6)
    store.put([make_entry(name) for name in "abc"])
    store.close()
    return tmp_path / "cache"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file outside the directory."""
    path = tmp_path / "outside.txt"
    path.write_text("secret")
    return path


def tamper(folder: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    con = sqlite3.connect(folder / "cache.db", isolation_level=None)
    for statement, values in statements:
        con.execute(statement, values)
    con.close()


@pytest.fixture
def opened() -> Iterator[list[DiskStore]]:
    stores: list[DiskStore] = []
    yield stores
    for store in stores:
        store.close()


def reopen(folder: Path, opened: list[DiskStore]) -> DiskStore:
    opened.append(DiskStore(folder, clock=Clock(), max_bytes=10**6))
    return opened[-1]


def names(store: DiskStore) -> list[str]:
    return [entry.text for entry in store.scan()]


KEY = make_entry("a").key


@pytest.mark.parametrize(
    "columns",
    [
        {"mode": 4},
        {"mode": 2, "filename": "../outside.txt", "value": None},
        {"mode": 3, "filename": "../outside.txt", "value": None},
        {"mode": 4, "filename": "../outside.txt", "value": None},
        {"mode": 1, "filename": "../outside.txt"},
        {"mode": None},
        {"mode": "1; DROP TABLE Cache"},
        {"value": "text"},
        {"value": 7},
        {"value": None},
        {"raw": 0},
        {"raw": 0, "mode": 4},
    ],
    ids=str,
)
def test_a_crafted_row_neither_runs_nor_reads_nor_removes(
    folder: Path, victim: Path, opened: list[DiskStore], columns: dict[str, object]
) -> None:
    """The row is dropped with a warning, whether it is looked up, overwritten or scanned."""
    trap = folder.parent / "ran"
    bomb = pickle.dumps(Bomb(trap))
    changes = {"value": bomb} | columns
    assignments = ", ".join(f"{name} = ?" for name in changes)
    statement = f"UPDATE Cache SET {assignments} WHERE key = ?"

    tamper(folder, (statement, (*changes.values(), KEY)))
    store = reopen(folder, opened)
    assert store.get(KEY) is None
    assert names(store) == ["b", "c"]
    tamper(folder, (statement, (*changes.values(), make_entry("b").key)))
    store.put([make_entry("b", answer="new")])
    tamper(folder, (statement, (*changes.values(), make_entry("c").key)))
    store.delete([make_entry("c").key])

    assert names(store) == ["b"]
    assert store.get(make_entry("b").key) == make_entry("b", answer="new")
    assert not trap.exists()
    assert victim.read_text() == "secret"


def test_bytes_where_text_belongs_are_one_damaged_row(
    folder: Path, opened: list[DiskStore]
) -> None:
    """SQLite cannot even decode the file name; the entry is a miss and the others live."""
    statement = "UPDATE Cache SET filename = CAST(x'ff' AS TEXT) WHERE key = ?"
    tamper(folder, (statement, (KEY,)))
    store = reopen(folder, opened)

    assert store.get(KEY) is None
    assert names(store) == ["b", "c"]


def test_a_pickled_key_is_not_unpickled(folder: Path, opened: list[DiskStore]) -> None:
    """A key column that holds a pickle is dropped by a scan."""
    trap = folder.parent / "ran"
    insert = "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 4, ?)"
    bomb = pickle.dumps(Bomb(trap))
    tamper(folder, (insert, (bomb, bomb)))

    store = reopen(folder, opened)

    assert names(store) == ["a", "b", "c"]
    assert not trap.exists()


def test_an_entry_under_another_key_is_refused(folder: Path, opened: list[DiskStore]) -> None:
    """Two sound rows that swapped places: never another question's answer."""
    swap = "UPDATE Cache SET value = (SELECT value FROM Cache WHERE key = ?) WHERE key = ?"
    tamper(folder, (swap, (make_entry("b").key, KEY)))

    store = reopen(folder, opened)

    assert store.get(KEY) is None
    assert names(store) == ["b", "c"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("disk_pickle", 1),
        ("disk_pickle_protocol", "4"),
        ("disk", "os.system"),
        ("_disk", "x"),
        ("get", "x"),
        ("size_limit", "1"),
        ("cull_limit", 1.5),
        ("eviction_policy", "least-recently-used"),
        ("sqlite_journal_mode", "wal; ATTACH 'x' AS y"),
        ("sqlite_writable_schema", 1),
        ("statistics", b"1"),
        ("count", None),
    ],
    ids=str,
)
def test_a_crafted_setting_is_not_obeyed(
    folder: Path,
    opened: list[DiskStore],
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: object,
) -> None:
    """The database is set aside before diskcache sees it, and the cache works."""
    tamper(folder, ("INSERT OR REPLACE INTO Settings VALUES (?, ?)", (name, value)))

    with caplog.at_level(logging.WARNING, "semcache"):
        store = reopen(folder, opened)

    assert len(store) == 0
    store.put([make_entry("new")])
    assert store.get(make_entry("new").key) is not None
    assert list(folder.glob("cache.db.damaged-*"))
    assert sum("set aside" in record.message for record in caplog.records) == 1


def test_a_crafted_bound_is_not_obeyed(folder: Path, opened: list[DiskStore]) -> None:
    """Settings of the right type are overwritten by ours: no entry is culled."""
    tamper(
        folder,
        ("UPDATE Settings SET value = 1 WHERE key = 'size_limit'", ()),
        ("UPDATE Settings SET value = 10 WHERE key = 'cull_limit'", ()),
        ("UPDATE Settings SET value = 1 WHERE key = 'statistics'", ()),
        ("UPDATE Settings SET value = 1 WHERE key = 'disk_min_file_size'", ()),
    )

    store = reopen(folder, opened)
    store.put([make_entry("d", answer="x" * 50_000)])

    assert names(store) == ["a", "b", "c", "d"]
    assert not list(folder.glob("*/"))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER mine AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END",
        "CREATE VIEW mine AS SELECT 1",
        "CREATE TABLE mine (x)",
    ],
)
def test_a_schema_that_is_not_ours_is_not_run(
    folder: Path, opened: list[DiskStore], statement: str
) -> None:
    """Tables, views and triggers of others lead to setting the database aside."""
    tamper(folder, (statement, ()))

    store = reopen(folder, opened)

    assert len(store) == 0
    assert list(folder.glob("cache.db.damaged-*"))


def test_wrong_sums_are_put_right(folder: Path, opened: list[DiskStore]) -> None:
    """Counts that another hand changed do not break the bound or lose an entry."""
    tamper(
        folder,
        ("UPDATE Settings SET value = -999999 WHERE key = 'size'", ()),
        ("DELETE FROM semcache_ledger WHERE key = ?", (KEY,)),
    )

    store = reopen(folder, opened)

    assert names(store) == ["a", "b", "c"]
    assert (len(store), store.size_bytes > 0) == (3, True)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO semcache_epoch VALUES (x'00', 'many')",
        "INSERT INTO semcache_epoch VALUES ('text', 1)",
        "INSERT INTO semcache_mark (query, entry) VALUES (x'00', 'text')",
    ],
)
def test_unreadable_epochs_and_marks_end_the_database(
    folder: Path, opened: list[DiskStore], statement: str
) -> None:
    """Without them, entries that were invalidated or forgotten would come back."""
    tamper(folder, (statement, ()))
    store = reopen(folder, opened)

    assert (store.epochs(), store.marks()) == ({}, set())
    assert len(store) == 0
    assert list(folder.glob("cache.db.damaged-*"))


def test_an_unreadable_journal_row_asks_for_a_resync(folder: Path, opened: list[DiskStore]) -> None:
    """Nobody is stuck behind it."""
    store = reopen(folder, opened)
    other = reopen(folder, opened)
    other.put([make_entry("d")])
    tamper(folder, ("UPDATE semcache_journal SET op = 'explode'", ()))

    assert isinstance(store.catch_up(), Resync)
    assert store.catch_up() == []


@pytest.mark.parametrize("name", ["cache.db", "cache.db-wal", "cache.db-shm", "cache.db-journal"])
def test_a_link_in_place_of_the_database_is_not_followed(
    folder: Path, victim: Path, opened: list[DiskStore], name: str
) -> None:
    """The link is set aside, its target untouched."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)

    store = reopen(folder, opened)
    store.put([make_entry("new")])

    assert victim.read_text() == "secret"
    assert names(store) == ["new"]


def test_the_disk_class_refuses_everything_but_bytes() -> None:
    """Whatever diskcache would hand to it."""
    disk = SafeDisk("unused", min_file_size=0, pickle_protocol=0)
    refused: list[Any] = [
        lambda: disk.put("text"),
        lambda: disk.put(1),
        lambda: disk.get(b"key", 0),
        lambda: disk.get("key", 1),
        lambda: disk.store("text", False),
        lambda: disk.store({"a": 1}, False),
        lambda: disk.store(b"bytes", True),
        lambda: disk.fetch(4, None, b"x", False),
        lambda: disk.fetch(1, "name", b"x", False),
        lambda: disk.fetch(1, None, b"x", True),
        lambda: disk.filename(),
        lambda: disk.remove("../x"),
    ]

    for attempt in refused:
        with pytest.raises(CorruptRecordError):
            attempt()


def test_a_new_directory_is_private(tmp_path: Path, opened: list[DiskStore]) -> None:
    """Created with mode 0700, whatever the umask says; parents are made."""
    store = reopen(tmp_path / "deep" / "cache", opened)

    assert store.directory.stat().st_mode & 0o777 == 0o700


def test_our_own_open_directory_is_tightened(folder: Path, opened: list[DiskStore]) -> None:
    """One of ours that others could write to is closed to them."""
    folder.chmod(0o777)

    reopen(folder, opened)

    assert folder.stat().st_mode & 0o022 == 0


def test_a_shared_place_is_refused_and_left_as_it_is(
    tmp_path: Path, opened: list[DiskStore]
) -> None:
    """A directory made for everybody, such as one for temporary files, is never tightened."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)

    with pytest.raises(ForeignDirectoryError, match="chmod 700"):
        reopen(shared, opened)

    assert shared.stat().st_mode & 0o7777 == 0o1777
    assert not list(shared.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to give a directory away")
def test_somebody_elses_open_directory_is_refused(tmp_path: Path, opened: list[DiskStore]) -> None:
    """The error has the command that its owner can run."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs").chmod(0o777)
    os.chown(tmp_path / "theirs", 12345, 12345)

    with pytest.raises(ForeignDirectoryError, match="chmod 700"):
        reopen(tmp_path / "theirs", opened)


def test_a_foreign_directory_is_refused_untouched(tmp_path: Path, opened: list[DiskStore]) -> None:
    """A folder with somebody's files and no marker is not ours, whatever the files are called."""
    (tmp_path / "cache.db").write_text("mine")

    with pytest.raises(ForeignDirectoryError, match=r"directory=.*cache\.db"):
        reopen(tmp_path, opened)

    assert [path.name for path in tmp_path.iterdir()] == ["cache.db"]


def test_a_foreign_file_in_our_directory_stays(folder: Path, opened: list[DiskStore]) -> None:
    """What somebody puts beside our files is left alone."""
    (folder / "notes.txt").write_text("mine")

    store = reopen(folder, opened)
    store.delete([make_entry(name).key for name in "abc"])

    assert (folder / "notes.txt").read_text() == "mine"


def test_a_directory_of_another_version_is_refused(folder: Path, opened: list[DiskStore]) -> None:
    """Neither read nor set aside."""
    (folder / "semcache.store").write_text("semcache store 99\n")

    with pytest.raises(ForeignDirectoryError, match="another version"):
        reopen(folder, opened)


@pytest.mark.parametrize("name", ["semcache.lock", "semcache.generation"])
def test_our_own_files_are_not_written_through_links(
    folder: Path, victim: Path, opened: list[DiskStore], name: str
) -> None:
    """A link where our lock or our counter should be is an error, not a way out."""
    (folder / name).unlink()
    (folder / name).symlink_to(victim)

    with pytest.raises(StoreError, match="directory="):
        reopen(folder, opened)

    assert victim.read_text() == "secret"


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/semcache"])
def test_a_directory_that_cannot_be_made_is_an_error(
    tmp_path: Path, opened: list[DiskStore], place: str
) -> None:
    """The error names the argument and the path."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(StoreError, match=f"directory=.*{place}"):
        reopen(tmp_path / place, opened)
