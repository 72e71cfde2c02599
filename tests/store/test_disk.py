"""Disk: durable on return, bounded, told to others in order, found again after a restart."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import ArgumentError, StoreError, StoreTimeoutError
from semcache.store import facts, journal
from semcache.store.codec import to_row
from semcache.store.disk import Change, DiskStore, Op, Resync
from semcache.store.safe_disk import ROW_OVERHEAD_BYTES
from tests.contracts.store import make_entry, trim_journal
from tests.fakes import Clock

Open = Callable[..., DiskStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_store(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    opened: list[DiskStore] = []

    def open_store(**changes: Any) -> DiskStore:
        settings: dict[str, Any] = {"clock": clock, "max_bytes": 10**7} | changes
        opened.append(DiskStore(tmp_path / "cache", **settings))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


def names(store: DiskStore) -> list[str]:
    return [entry.text for entry in store.scan()]


def key(name: str) -> bytes:
    return make_entry(name).key


def test_a_restart_finds_everything(open_store: Open) -> None:
    """Entries, epochs and marks are all there, and the count of bytes is right."""
    store = open_store()
    store.put([make_entry("a"), make_entry("b")])
    store.move_epoch("kb:pricing")
    store.add_mark(key("q"), key("a"))
    size_bytes = store.size_bytes
    store.close()

    store = open_store()

    assert names(store) == ["a", "b"]
    assert store.epochs() == {"kb:pricing": 1}
    assert store.marks() == {(key("q"), key("a"))}
    assert store.size_bytes == size_bytes


def test_the_size_is_the_sum_of_rows(open_store: Open) -> None:
    """Overwrites and deletes are counted, without a scan."""
    store = open_store()
    entries = [make_entry("a"), make_entry("b", answer="x" * 1000), make_entry("c")]
    store.put([make_entry("b"), *entries])
    store.delete([key("c")])

    expected = sum(len(to_row(entry)) + ROW_OVERHEAD_BYTES for entry in entries[:2])

    assert store.size_bytes == expected


def test_the_least_recently_written_is_evicted_and_journalled(open_store: Open) -> None:
    """The bound holds on return; the caller and other processes are told who went."""
    weight = len(to_row(make_entry("a"))) + ROW_OVERHEAD_BYTES
    store, other = open_store(max_bytes=3 * weight), open_store(max_bytes=3 * weight)
    store.put([make_entry(name) for name in "abc"])
    store.put([make_entry("a")])
    other.catch_up()

    dropped = store.put([make_entry("d")])

    assert dropped == (key("b"),)
    assert names(store) == ["c", "a", "d"]
    assert store.size_bytes == 3 * weight
    assert other.catch_up() == [Change(Op.PUT, key("d")), Change(Op.DELETE, key("b"))]


def test_expired_entries_are_evicted_first_and_pinned_ones_last(
    open_store: Open, clock: Clock
) -> None:
    """The longest expired, then the least recently written, then pinned ones."""
    weight = len(to_row(make_entry("a", pinned=True, expires_at=clock()))) + ROW_OVERHEAD_BYTES
    store = open_store(max_bytes=4 * weight + 20)
    store.put([make_entry("pinned", pinned=True), make_entry("old")])
    store.put([make_entry("dead", expires_at=clock() + 9)])
    store.put([make_entry("deader", expires_at=clock() + 5)])
    clock.advance(10)

    order = [store.put([make_entry(f"new{n}")]) for n in range(4)]

    assert order == [(key(name),) for name in ("deader", "dead", "old", "new0")]
    assert "pinned" in names(store)


def test_small_ones_survive_a_huge_one(open_store: Open) -> None:
    """Fifty values of 10 kB in 1 MB; one of 2 MB is refused and pushes nothing out."""
    store = open_store(max_bytes=1_000_000)
    store.put([make_entry(str(n), answer="x" * 10_000) for n in range(50)])

    dropped = store.put([make_entry("huge", answer="x" * 2_000_000), make_entry("after")])

    assert dropped == (key("huge"),)
    assert len(store) == 51


def test_a_smaller_bound_at_the_next_opening_holds(open_store: Open) -> None:
    """Opening with less room evicts at once."""
    open_store().put([make_entry(str(n), answer="x" * 1000) for n in range(50)])

    store = open_store(max_bytes=20_000)

    assert store.size_bytes <= 20_000
    assert names(store)[-1] == "49"


def test_changes_of_others_come_in_order_and_once(open_store: Open) -> None:
    """Every kind of change, none of one's own."""
    one, two = open_store(), open_store()
    two.put([make_entry("mine")])
    one.put([make_entry("a")])
    one.move_epoch("tag \ud800")
    one.delete([key("a"), key("absent")])
    one.add_mark(key("q"), key("a"))
    one.add_mark(key("q"), key("a"))

    assert two.changed()
    assert two.catch_up() == [
        Change(Op.PUT, key("a")),
        Change(Op.EPOCH, tag="tag \ud800", count=1),
        Change(Op.DELETE, key("a")),
        Change(Op.MARK, key=key("a"), query_key=key("q")),
    ]
    assert not two.changed()
    assert two.catch_up() == []
    assert one.catch_up() == [Change(Op.PUT, key("mine"))]


def test_an_older_delete_does_not_undo_ones_own_put(open_store: Open) -> None:
    """Changes are read late: what was deleted before one's own put is there again."""
    one, two = open_store(), open_store()
    one.put([make_entry("a")])
    one.delete([key("a")])
    two.put([make_entry("a", answer="mine")])
    one.delete([key("absent")])

    assert two.catch_up() == [Change(Op.PUT, key("a"))]
    one.delete([key("a")])
    assert two.catch_up() == [Change(Op.DELETE, key("a"))]


def test_own_writes_are_no_news(open_store: Open) -> None:
    """A process alone on its directory never reads the journal."""
    store = open_store()

    store.put([make_entry("a")])
    store.move_epoch("tag")

    assert not store.changed()


def test_changes_stay_unread_until_they_are_applied(open_store: Open) -> None:
    """While they are being applied `changed` is still true; a failure tells them again."""
    one, two = open_store(), open_store()
    one.move_epoch("tag")
    seen: list[bool] = []

    def fail(changes: object) -> None:
        seen.append(two.changed())
        raise RuntimeError("index failed")

    with pytest.raises(RuntimeError, match="index failed"):
        two.catch_up(fail)

    assert seen == [True]
    assert two.catch_up() == [Change(Op.EPOCH, tag="tag", count=1)]


def test_a_trimmed_journal_asks_for_a_resync(open_store: Open) -> None:
    """Who has missed changes reads everything again, then follows as before."""
    one, two = open_store(), open_store()
    one.put([make_entry(str(n)) for n in range(20)])

    assert trim_journal(one, keep_rows=5) == 15

    assert isinstance(two.catch_up(), Resync)
    one.put([make_entry("next")])
    assert two.catch_up() == [Change(Op.PUT, key("next"))]


def test_trimming_everything_keeps_the_count_of_changes(open_store: Open) -> None:
    """Sequences are never used twice, not even after a restart."""
    store = open_store()
    store.put([make_entry("a"), make_entry("b")])
    trim_journal(store, keep_rows=0)
    store.close()
    one, two = open_store(), open_store()

    one.put([make_entry("c")])

    assert two.catch_up() == [Change(Op.PUT, key("c"))]


def test_the_journal_does_not_grow_for_ever(
    open_store: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing trims it by itself."""
    monkeypatch.setattr(journal, "JOURNAL_ROWS", 100)
    store = open_store()

    for _ in range(30):
        store.put([make_entry("a", answer=str(n)) for n in range(100)])

    with sqlite3.connect(tmp_path / "cache" / "cache.db") as con:
        (rows,) = con.execute("SELECT COUNT(*) FROM semcache_journal").fetchone()
    con.close()
    assert rows < 1_300


def test_marks_are_bounded(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest give way."""
    monkeypatch.setattr(facts, "MAX_MARKS", 3)
    store = open_store()

    for name in "abcde":
        store.add_mark(key("q"), key(name))

    assert store.marks() == {(key("q"), key(name)) for name in "cde"}


def test_epochs_of_two_instances_are_one_counter(open_store: Open) -> None:
    """No move is lost."""
    one, two = open_store(), open_store()

    counts = [store.move_epoch("tag") for store in (one, two, one)]

    assert counts == [1, 2, 3]
    assert two.epochs() == {"tag": 3}


def test_a_busy_database_is_a_timeout_and_nothing_is_half_written(
    open_store: Open, tmp_path: Path
) -> None:
    """Another process holds the write lock: reads go on, writes give up in time and are undone."""
    store = open_store(timeout_seconds=0.05)
    store.put([make_entry("a")])
    blocker = sqlite3.connect(tmp_path / "cache" / "cache.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreTimeoutError, match=r"timeout_seconds=0\.05"):
        store.put([make_entry("b")])
    found = store.get(key("a"))
    blocker.execute("ROLLBACK")
    blocker.close()

    assert found is not None
    assert names(store) == ["a"]
    store.put([make_entry("b")])
    assert names(store) == ["a", "b"]


def test_an_opening_is_bounded_in_time_too(open_store: Open, tmp_path: Path) -> None:
    """A database that another process keeps locked does not hold up the start."""
    open_store().close()
    blocker = sqlite3.connect(tmp_path / "cache" / "cache.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreTimeoutError):
        open_store(timeout_seconds=0.05)

    blocker.close()


def test_a_failing_write_leaves_all_as_it_was(open_store: Open) -> None:
    """An entry without a plain form stops the whole batch before anything is written."""
    store = open_store()

    with pytest.raises(TypeError):
        store.put([make_entry("a"), make_entry("b", created_at=float("nan"))])

    assert len(store) == 0


def test_a_write_that_fails_half_way_is_rolled_back(open_store: Open) -> None:
    """Rows, ledger, journal and generation stay together, and the next write works."""
    store, other = open_store(), open_store()

    def work(rows: Any, run: Any) -> Any:
        rows.set(key("a"), b"row")
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        store._database.write(work)

    assert (len(store), store.size_bytes, other.changed()) == (0, 0, False)
    store.put([make_entry("a")])
    assert other.catch_up() == [Change(Op.PUT, key("a"))]


def test_a_full_disk_is_an_error_and_passes(open_store: Open) -> None:
    """No room for a commit: nothing is half written, and the next write works when there is."""
    store = open_store()
    store.put([make_entry("a")])
    run = store._database._rows.run
    (pages,) = run("PRAGMA page_count").fetchone()
    run(f"PRAGMA max_page_count = {pages + 2}").fetchall()

    with pytest.raises(StoreError, match="full"):
        store.put([make_entry("b", answer="x" * 100_000)])
    run("PRAGMA max_page_count = 100000").fetchall()

    assert names(store) == ["a"]
    store.put([make_entry("b", answer="x" * 100_000)])
    assert names(store) == ["a", "b"]


def test_a_closed_store_says_so(open_store: Open) -> None:
    """Closing twice is fine; using it is an error that names the directory."""
    store = open_store()
    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.get(key("a"))
    with pytest.raises(StoreError, match="closed"):
        store.put([make_entry("a")])


def test_a_deleted_directory_is_made_anew(open_store: Open, tmp_path: Path) -> None:
    """Somebody removes the folder under a running process: its writes are not lost in limbo."""
    store = open_store()
    store.put([make_entry("a")])
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    os.rmdir(tmp_path / "cache")

    store.put([make_entry("b")])

    assert isinstance(store.catch_up(), Resync)
    assert names(open_store()) == ["b"]


@pytest.mark.parametrize("changes", [{"max_bytes": 0}, {"timeout_seconds": 0}], ids=str)
def test_a_setting_that_cannot_work_is_an_error(open_store: Open, changes: dict[str, int]) -> None:
    """The error names the argument."""
    with pytest.raises(ArgumentError, match=next(iter(changes))):
        open_store(**changes)
