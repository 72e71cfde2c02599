"""Damage: a bad row costs itself, a bad database is set aside, the call always works."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from semcache.store.disk import Change, DiskStore, Op, Resync
from tests.contracts.store import make_entry
from tests.fakes import Clock

ENTRIES = [make_entry(str(n), answer="x" * 2_000) for n in range(60)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DiskStore]:
    """An open store with sixty entries on it, all of them in the database file."""
    store = open_store(tmp_path / "cache")
    store.put(ENTRIES)
    checkpoint(tmp_path / "cache")
    yield store
    store.close()


def open_store(folder: Path) -> DiskStore:
    return DiskStore(folder, clock=Clock(), max_bytes=10**7)


def checkpoint(folder: Path) -> None:
    con = sqlite3.connect(folder / "cache.db")
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    con.close()


def overwrite_head(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xa5" * 4096)


def overwrite_middle(path: Path) -> None:
    """Spoil the inner pages, as a bad block does, but not the first."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 3 * 4096))


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)


def replace_by_text(path: Path) -> None:
    path.write_text("this was never a database\n" * 400)


DAMAGES = [overwrite_head, overwrite_middle, cut, replace_by_text]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if "set aside" in record.message]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_set_aside(
    tmp_path: Path,
    store: DiskStore,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
) -> None:
    """Found at the opening or at the first read: one clear warning, an empty cache that works."""
    store.close()
    damage(tmp_path / "cache" / "cache.db")

    with caplog.at_level(logging.WARNING, "semcache"):
        again = open_store(tmp_path / "cache")
        list(again.scan())
        again.put([make_entry("new")])

    assert again.get(make_entry("new").key) == make_entry("new")
    assert [entry.text for entry in again.scan()] == ["new"]
    assert len(warnings(caplog)) == 1
    assert list((tmp_path / "cache").glob("cache.db.damaged-*"))
    again.close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_under_a_running_store_costs_no_call(
    tmp_path: Path, store: DiskStore, damage: Callable[[Path], None]
) -> None:
    """Reads and writes go on; whoever keeps indexes is told to read everything again."""
    store.get(ENTRIES[0].key)
    damage(tmp_path / "cache" / "cache.db")

    for entry in ENTRIES:
        assert store.get(entry.key) in (None, entry)
    store.put([make_entry("new")])
    list(store.scan())
    store.put([make_entry("newer")])

    assert store.get(make_entry("newer").key) == make_entry("newer")
    if list((tmp_path / "cache").glob("*.damaged-*")):
        assert store.changed()
        assert isinstance(store.catch_up(), Resync)
    # A damaged head may be hidden from who has the file open: the next to open it finds it.
    again = open_store(tmp_path / "cache")
    store.put([make_entry("newest")])
    assert again.get(make_entry("newest").key) == make_entry("newest")
    again.close()


def test_a_database_set_aside_by_another_is_left_by_all(tmp_path: Path, store: DiskStore) -> None:
    """A second instance finds the damage; the first follows it to the new database."""
    replace_by_text(tmp_path / "cache" / "cache.db")
    (tmp_path / "cache" / "cache.db-wal").unlink(missing_ok=True)

    other = open_store(tmp_path / "cache")
    other.put([make_entry("theirs")])

    assert store.changed()
    assert isinstance(store.catch_up(), Resync)
    assert store.get(make_entry("theirs").key) == make_entry("theirs")
    store.put([make_entry("ours")])
    assert other.get(make_entry("ours").key) == make_entry("ours")
    other.close()


def test_damage_inside_one_value_costs_one_entry(
    tmp_path: Path, store: DiskStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A flipped bit in a row: a warning, a miss, and everybody else is told that it is gone."""
    other = open_store(tmp_path / "cache")
    con = sqlite3.connect(tmp_path / "cache" / "cache.db", isolation_level=None)
    con.execute(
        "UPDATE Cache SET value = CAST(replace(value, 'xxx', 'xyx') AS BLOB) WHERE key = ?",
        (ENTRIES[5].key,),
    )
    con.close()

    with caplog.at_level(logging.WARNING, "semcache"):
        found = [store.get(entry.key) for entry in ENTRIES]

    assert found == [*ENTRIES[:5], None, *ENTRIES[6:]]
    assert len(store) == 59
    assert sum("damaged row" in record.message for record in caplog.records) == 1
    assert other.catch_up() == [Change(Op.DELETE, ENTRIES[5].key)]
    other.close()


def test_setting_aside_twice_keeps_both(tmp_path: Path, store: DiskStore) -> None:
    """A second damaged file in the same second gets a name of its own."""
    store.close()
    for _ in range(2):
        replace_by_text(tmp_path / "cache" / "cache.db")
        open_store(tmp_path / "cache").close()

    assert len(list((tmp_path / "cache").glob("cache.db.damaged-*"))) == 2


@pytest.mark.parametrize("content", [b"", b"abc", os.urandom(5000)], ids=len)
def test_a_damaged_generation_file_is_put_right(
    tmp_path: Path, store: DiskStore, content: bytes
) -> None:
    """It is only a mirror of the journal."""
    store.close()
    (tmp_path / "cache" / "semcache.generation").write_bytes(content)

    one, two = open_store(tmp_path / "cache"), open_store(tmp_path / "cache")
    one.put([make_entry("new")])

    assert two.changed()
    assert not one.changed()
    one.close()
    two.close()
