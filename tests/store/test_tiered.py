"""Memory over disk: where an entry is found, when it is safe, and what a failing disk costs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache.entry import Entry
from semcache.errors import StoreError, StoreTimeoutError
from semcache.store.disk import DiskStore, Resync
from semcache.store.memory import MemoryStore
from semcache.store.tiered import TieredStore
from tests.contracts.store import make_entry, trim_journal
from tests.fakes import Clock


class MoodyDisk(DiskStore):
    """A disk that fails, or waits, when told to."""

    is_failing = False
    gate: threading.Event | None = None
    after_read: Callable[[], object] | None = None
    reads = 0

    def get(self, key: bytes) -> Entry | None:
        self.reads += 1
        self._answer()
        entry = super().get(key)
        if self.after_read is not None:
            self.after_read()
        return entry

    def put(self, entries: Sequence[Entry]) -> tuple[bytes, ...]:
        self._answer()
        return super().put(entries)

    def delete(self, keys: Iterable[bytes]) -> int:
        self._answer()
        return super().delete(keys)

    def _answer(self) -> None:
        if self.gate is not None:
            self.gate.wait(10.0)
        if self.is_failing:
            raise StoreError("the disk is in a mood")


Open = Callable[..., TieredStore]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[MoodyDisk]:
    disk = MoodyDisk(tmp_path / "cache", clock=Clock(), max_bytes=10**6)
    yield disk
    disk.is_failing, disk.gate = False, None
    disk.close()


@pytest.fixture
def open_store(disk: MoodyDisk) -> Iterator[Open]:
    opened: list[TieredStore] = []

    def open_store(*, max_entries: int = 100, **changes: Any) -> TieredStore:
        memory = MemoryStore(max_entries=max_entries, max_bytes=10**6, clock=Clock())
        opened.append(TieredStore(memory, **({"disk": disk} | changes)))
        return opened[-1]

    yield open_store
    disk.is_failing, disk.gate = False, None
    for store in opened:
        store.close()


def key(name: str) -> bytes:
    return make_entry(name).key


def test_a_restart_finds_what_was_flushed(open_store: Open, disk: MoodyDisk) -> None:
    """After `flush` the disk has everything, under a new memory as well."""
    store = open_store()
    for number in range(300):
        store.put_later(make_entry(str(number)))

    store.flush()

    assert len(disk) == 300
    assert open_store().get(key("7")) == make_entry("7")


def test_put_later_is_found_before_it_is_on_disk(open_store: Open, disk: MoodyDisk) -> None:
    """In memory at once, and in the queue when memory has no room, while the disk is slow."""
    disk.gate = threading.Event()
    store = open_store(max_entries=2)

    for number in range(10):
        store.put_later(make_entry(str(number)))
    found = [store.get(key(str(number))) for number in range(10)]
    scanned, length = {entry.text for entry in store.scan()}, len(store)
    disk.gate.set()

    assert found == [make_entry(str(number)) for number in range(10)]
    assert (scanned, length) == ({str(number) for number in range(10)}, 10)


def test_a_disk_hit_is_promoted(open_store: Open, disk: MoodyDisk) -> None:
    """The second look-up does not reach the disk."""
    disk.put([make_entry("a")])
    store = open_store()

    found = [store.get(key("a")), store.get(key("a"))]

    assert found == [make_entry("a")] * 2
    assert disk.reads == 1
    assert (store.stats()["disk_hits"], store.stats()["memory_hits"]) == (1, 1)


def test_a_miss_costs_no_read(open_store: Open, disk: MoodyDisk) -> None:
    """The filter answers for keys that were never put."""
    store = open_store()
    store.put([make_entry(str(number)) for number in range(100)])

    assert [store.get(key(f"absent{n}")) for n in range(200)] == [None] * 200

    assert disk.reads <= 5
    assert store.stats()["misses"] == 200


def test_the_filter_follows_growth_and_deletes(open_store: Open, disk: MoodyDisk) -> None:
    """Past its size it is rebuilt, and no key on disk is ever refused."""
    store = open_store(max_entries=1)
    entries = [make_entry(str(number), answer="") for number in range(400)]
    store._bloom._capacity = 100

    store.put(entries)
    store.delete([entry.key for entry in entries[:100]])

    assert store._bloom._capacity > 100
    assert [store.get(entry.key) for entry in entries[100:]] == entries[100:]


def test_a_put_replaces_what_waits(open_store: Open, disk: MoodyDisk) -> None:
    """A durable entry is not overwritten by an older one from the queue."""
    store = open_store()
    with store._queue.turn():
        store.put_later(make_entry("a", answer="early"))
    store.put([make_entry("a", answer="late")])
    store.flush()

    assert disk.get(key("a")) == make_entry("a", answer="late")
    assert store.get(key("a")) == make_entry("a", answer="late")


def test_a_delete_takes_what_waits_too(open_store: Open, disk: MoodyDisk) -> None:
    """A forgotten answer does not come back from the queue."""
    store = open_store(max_entries=1)
    disk.is_failing = True
    for name in "abc":
        store.put_later(make_entry(name))
    disk.is_failing = False

    deleted = store.delete([key("a"), key("b"), key("absent")])
    store.flush()

    assert deleted == 2
    assert [entry.text for entry in store.scan()] == ["c"]


def test_a_read_that_crosses_a_write_is_not_promoted(open_store: Open, disk: MoodyDisk) -> None:
    """The disk gave the old entry; a new one came meanwhile; memory keeps the new one."""
    store = open_store()
    store.put([make_entry("a", answer="old")])
    store._memory.clear()
    disk.after_read = lambda: store.put([make_entry("a", answer="new")])

    assert store.get(key("a")) == make_entry("a", answer="old")
    disk.after_read = None
    assert store.get(key("a")) == make_entry("a", answer="new")


def test_a_failing_disk_costs_no_answer(
    open_store: Open, disk: MoodyDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """put_later never raises; all is kept, told once, counted, and written when it works again."""
    store = open_store(max_entries=3)
    disk.is_failing = True

    with caplog.at_level(logging.WARNING, "semcache"):
        for number in range(20):
            store.put_later(make_entry(str(number)))
        for _ in range(3):
            with pytest.raises(StoreError, match="mood"):
                store.flush()
    found = [store.get(key(str(number))) for number in range(20)]
    disk.is_failing = False
    store.flush()

    assert found == [make_entry(str(number)) for number in range(20)]
    assert len(disk) == 20
    assert store.stats()["queue_length"] == 0
    assert sum("the disk failed" in record.message for record in caplog.records) <= 1


def test_a_queue_that_the_disk_does_not_take_is_bounded(open_store: Open, disk: MoodyDisk) -> None:
    """The oldest that memory no longer has are given up, and whoever keeps indexes is told."""
    gone: list[bytes] = []
    store = open_store(max_entries=2, queue_size=5, on_drop=gone.extend)
    disk.is_failing = True

    for number in range(20):
        store.put_later(make_entry(str(number)))

    assert store.stats()["queue_length"] == 5
    disk.is_failing = False
    store.flush()
    assert [entry.text for entry in store.scan()] == ["15", "16", "17", "18", "19"]
    assert sorted(gone) == sorted(key(str(number)) for number in range(15))


def test_a_full_queue_is_written_by_the_caller(open_store: Open, disk: MoodyDisk) -> None:
    """With the writer held up, the queue never grows past its size."""
    store = open_store(queue_size=3)
    store._queue._writer = threading.current_thread()

    for number in range(50):
        store.put_later(make_entry(str(number)))
        assert store.stats()["queue_length"] <= 3

    store._queue._writer = None
    assert len(store) == 50


def test_an_entry_without_a_plain_form_does_not_stop_the_others(
    open_store: Open, disk: MoodyDisk
) -> None:
    """It stays in memory; the batch that it was in is written."""
    store = open_store()
    odd = make_entry("odd", created_at=float("nan"))
    with store._queue.turn():
        for entry in (make_entry("a"), odd, make_entry("b")):
            store.put_later(entry)

    store.flush()

    assert {entry.text for entry in disk.scan()} == {"a", "b"}
    assert store.get(odd.key) is odd


def test_a_failing_put_changes_nothing(open_store: Open, disk: MoodyDisk) -> None:
    """A durable put that failed is an error, and the old entry stays."""
    store = open_store()
    store.put([make_entry("a")])
    disk.is_failing = True

    with pytest.raises(StoreError, match="mood"):
        store.put([make_entry("a", answer="new"), make_entry("b")])

    disk.is_failing = False
    assert store.get(key("a")) == make_entry("a")
    assert store.get(key("b")) is None


def test_a_failing_delete_is_not_served_from_memory(open_store: Open, disk: MoodyDisk) -> None:
    """Safe side: memory forgets even if the disk could not be told."""
    store = open_store()
    store.put([make_entry("a")])
    disk.is_failing = True

    with pytest.raises(StoreError, match="mood"):
        store.delete([key("a")])
    with pytest.raises(StoreError, match="mood"):
        store.get(key("a"))


def test_memory_hits_need_no_disk(open_store: Open, disk: MoodyDisk) -> None:
    """While the disk fails, what is in memory is served; what is not is an error, counted."""
    store = open_store(max_entries=1)
    store.put([make_entry("a"), make_entry("b")])
    disk.is_failing = True

    assert store.get(key("b")) == make_entry("b")
    with pytest.raises(StoreError, match="mood"):
        store.get(key("a"))
    assert store.stats()["disk_errors"] == 1


def test_disk_evictions_leave_memory_and_are_told(tmp_path: Path) -> None:
    """The bound of the directory is the bound of the cache; no lock is held meanwhile."""
    disk = DiskStore(tmp_path / "cache", clock=Clock(), max_bytes=5_000)
    memory = MemoryStore(max_entries=100, max_bytes=10**6, clock=Clock())
    told: list[tuple[tuple[bytes, ...], int]] = []
    store = TieredStore(memory, disk, on_drop=lambda keys: told.append((keys, len(store))))

    store.put([make_entry(str(number)) for number in range(20)])

    ((keys, length),) = told
    assert length == len(store) == 20 - len(keys)
    assert all(store.get(gone) is None for gone in keys)
    assert store.stats()["evictions"] == len(keys)
    store.close()


def test_memory_evictions_without_a_disk_are_told(open_store: Open) -> None:
    """There they vanish; over a disk they do not."""
    gone: list[bytes] = []
    alone = open_store(max_entries=2, disk=None, on_drop=gone.extend)
    for name in "abc":
        alone.put_later(make_entry(name))
    alone.put([make_entry("d")])
    assert gone == [key("a"), key("b")]

    gone.clear()
    over_disk = open_store(max_entries=2, on_drop=gone.extend)
    over_disk.put([make_entry(name) for name in "abc"])
    assert gone == []


def test_what_others_wrote_is_seen_before_and_after_catching_up(
    tmp_path: Path, open_store: Open
) -> None:
    """The filter never hides a key of another process; memory never keeps what it replaced."""
    store = open_store()
    store.put([make_entry("a"), make_entry("b")])
    other = DiskStore(tmp_path / "cache", clock=Clock(), max_bytes=10**6)
    other.put([make_entry("new"), make_entry("a", answer="theirs")])
    other.delete([key("b")])

    assert store.get(key("new")) == make_entry("new")
    store.catch_up()

    assert store.get(key("a")) == make_entry("a", answer="theirs")
    assert store.get(key("b")) is None
    assert store.get(key("new")) == make_entry("new")
    other.close()


def test_a_resync_empties_memory_and_refills_the_filter(tmp_path: Path, open_store: Open) -> None:
    """After too many changes to tell, nothing old is served and everything new is found."""
    store = open_store()
    store.put([make_entry("a")])
    other = DiskStore(tmp_path / "cache", clock=Clock(), max_bytes=10**6)
    other.put([make_entry("a", answer="theirs"), *(make_entry(str(n)) for n in range(10))])
    trim_journal(other, keep_rows=2)
    applied: list[object] = []

    changes = store.catch_up(applied.append)

    assert isinstance(changes, Resync)
    assert applied == [changes]
    assert store.get(key("a")) == make_entry("a", answer="theirs")
    assert all(store.get(key(str(n))) for n in range(10))
    other.close()


def test_without_a_disk_there_is_nobody_to_follow(open_store: Open) -> None:
    """The same door, no changes, flush and close do nothing."""
    store = open_store(disk=None)
    store.put_later(make_entry("a"))

    store.flush()

    assert (store.changed(), store.catch_up(), len(store)) == (False, [], 1)
    assert store.stats()["entries"] == 1


def test_a_flush_is_bounded_in_time(open_store: Open, disk: MoodyDisk) -> None:
    """While another thread writes for long, flush gives up when told to."""
    store = open_store()
    with store._queue.turn():
        store.put_later(make_entry("a"))
        with pytest.raises(StoreTimeoutError):
            store.flush(0.02)

    store.flush(5.0)
    assert len(disk) == 1


def test_closing_writes_everything_and_leaves_no_thread(
    open_store: Open, disk: MoodyDisk, tmp_path: Path
) -> None:
    """Also when closed twice."""
    before = set(threading.enumerate())
    store = open_store()
    for number in range(50):
        store.put_later(make_entry(str(number)))

    store.close()
    store.close()

    assert not set(threading.enumerate()) - before
    again = DiskStore(tmp_path / "cache", clock=Clock(), max_bytes=10**6)
    assert len(again) == 50
    again.close()


def test_closing_on_a_failing_disk_says_so(open_store: Open, disk: MoodyDisk) -> None:
    """What was acknowledged and cannot be written is not lost in silence."""
    store = open_store()
    disk.is_failing = True
    store.put_later(make_entry("a"))

    with pytest.raises(StoreError, match="mood"):
        store.close()


def test_many_threads_agree_in_the_end(open_store: Open, disk: MoodyDisk) -> None:
    """Puts, later puts and deletes of few keys by many threads: memory and disk end up alike."""
    store = open_store(max_entries=5)

    def work(thread: int) -> None:
        for turn in range(30):
            entry = make_entry(str((thread + turn) % 8), answer=f"{thread}-{turn}")
            if turn % 3 == 0:
                store.delete([entry.key])
            elif turn % 3 == 1:
                store.put([entry])
            else:
                store.put_later(entry)
            found = store.get(entry.key)
            assert found is None or found.key == entry.key

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.flush()

    for number in range(8):
        assert store.get(key(str(number))) == disk.get(key(str(number)))


def later(entry: Entry) -> Entry:
    return replace(entry, expires_at=1.0)


def test_an_amendment_is_in_memory_at_once_and_on_disk_soon(
    open_store: Open, disk: MoodyDisk
) -> None:
    """It replaces the very write that is stored, where it waits or where it lies."""
    store = open_store()
    store.put([make_entry("on disk")])
    store.put_later(make_entry("waiting"))

    amended = [store.amend(key(name), later) for name in ("on disk", "waiting", "absent")]
    at_once = [store.get(key(name)) for name in ("on disk", "waiting")]
    store.flush()

    expected = [later(make_entry(name)) for name in ("on disk", "waiting")]
    assert amended == [*expected, None]
    assert at_once == expected
    assert [disk.get(key(name)) for name in ("on disk", "waiting")] == expected


def test_a_change_that_gives_nothing_changes_nothing(open_store: Open, disk: MoodyDisk) -> None:
    """It is asked of what is stored now, and may leave it alone."""
    store = open_store()
    store.put([make_entry("a")])

    amended = store.amend(key("a"), lambda _: None)
    store.flush()

    assert amended is None
    assert disk.get(key("a")) == make_entry("a")


@pytest.mark.parametrize("max_entries", [1, 100])
@pytest.mark.parametrize("end", ["deleted", "overwritten"])
def test_an_amendment_of_what_another_process_ended_is_void(
    open_store: Open, disk: MoodyDisk, end: str, max_entries: int
) -> None:
    """The write on disk decides, and memory forgets what it no longer has."""
    store = open_store(max_entries=max_entries)
    new = make_entry("a", answer="new")
    store.put([make_entry("a"), make_entry("b")])
    other = DiskStore(disk.directory, clock=Clock(), max_bytes=10**6)
    other.delete([key("a")]) if end == "deleted" else other.put([new])

    store.amend(key("a"), lambda held: None if held.entry_id == new.entry_id else later(held))
    store.flush()
    found = store.get(key("a"))
    other.close()

    assert found == (None if end == "deleted" else new)
    assert disk.get(key("a")) == found


def test_what_waits_as_an_amendment_is_dropped_when_the_other_s_write_is_followed(
    open_store: Open, disk: MoodyDisk
) -> None:
    """While this disk is slow, the look-up that follows the journal sees the other's answer."""
    store = open_store()
    store.put([make_entry("a")])
    other = DiskStore(disk.directory, clock=Clock(), max_bytes=10**6)
    new = make_entry("a", answer="new")

    with store._queue.turn():
        store.amend(key("a"), later)
        other.put([new])
        store.catch_up()
        found = store.get(key("a"))
    store.flush()
    other.close()

    assert found == new
    assert disk.get(key("a")) == new


def test_a_deletion_in_between_ends_an_amendment(open_store: Open, disk: MoodyDisk) -> None:
    """The entry was read from disk, and by the time it is amended it has been deleted."""
    disk.put([make_entry("a")])
    store = open_store()

    def delete() -> None:
        disk.after_read = None
        store.delete([key("a")])

    disk.after_read = delete
    amended = store.amend(key("a"), later)
    store.flush()

    assert amended is None
    assert store.get(key("a")) is None
    assert len(disk) == 0
