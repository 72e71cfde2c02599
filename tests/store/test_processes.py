"""Processes: two on one directory, a fork at the worst moment, a kill at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from semcache.store.disk import Change, DiskStore, Op
from semcache.store.memory import MemoryStore
from semcache.store.tiered import TieredStore
from tests.contracts.store import make_entry

# Python 3.12 and later warn of any fork in a process with threads: that is what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

DEADLINE_SECONDS = 10.0


def open_disk(folder: Path) -> DiskStore:
    return DiskStore(folder, clock=time.time, max_bytes=10**7, timeout_seconds=5.0)


def open_tiered(folder: Path, *, max_entries: int = 100) -> TieredStore:
    memory = MemoryStore(max_entries=max_entries, max_bytes=10**7, clock=time.time)
    return TieredStore(memory, open_disk(folder))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TieredStore]:
    store = open_tiered(tmp_path / "cache")
    yield store
    store.close()


PRELUDE = """
import sys, time
from pathlib import Path
from tests.store.test_processes import open_disk, open_tiered
from tests.contracts.store import make_entry
folder = Path(sys.argv[1])
"""


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def run_in_child(work: Callable[[], bool]) -> bool:
    """Fork, run `work` in the child, and say whether it gave True before the deadline."""
    child = os.fork()
    if child == 0:
        outcome = 1
        try:
            outcome = 0 if work() else 1
        finally:
            os._exit(outcome)
    deadline = time.monotonic() + DEADLINE_SECONDS
    pause = threading.Event()
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        pause.wait(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_another_process_sees_each_write_at_once(tmp_path: Path, store: TieredStore) -> None:
    """A look-up that begins after a write returned sees it, in memory, filter and journal."""
    code = """
store = open_disk(folder)
print("ready", flush=True)
for line in sys.stdin:
    word, name = line.split()
    if word == "put":
        store.put([make_entry(name, answer="theirs")])
    elif word == "delete":
        store.delete([make_entry(name).key])
    else:
        store.move_epoch(name)
    print("done", flush=True)
store.close()
"""
    other = start(code, tmp_path / "cache")
    assert other.stdin
    assert other.stdout
    other.stdout.readline()

    def ask(command: str) -> None:
        assert other.stdin
        assert other.stdout
        print(command, file=other.stdin, flush=True)
        assert other.stdout.readline() == "done\n"

    store.put([make_entry("a"), make_entry("b")])
    key = make_entry("a").key
    ask("put new")
    unread = store.get(make_entry("new").key)
    ask("put a")
    ask("delete b")
    ask("epoch kb")
    assert store.changed()
    changes = store.catch_up()
    found = [store.get(make_entry(name).key) for name in ("a", "b", "new")]
    other.communicate(timeout=DEADLINE_SECONDS)

    assert unread == make_entry("new", answer="theirs")
    assert changes == [
        Change(Op.PUT, make_entry("new").key),
        Change(Op.PUT, key),
        Change(Op.DELETE, make_entry("b").key),
        Change(Op.EPOCH, tag="kb", count=1),
    ]
    assert found == [make_entry("a", answer="theirs"), None, make_entry("new", answer="theirs")]
    assert other.returncode == 0


def test_two_processes_lose_no_change(tmp_path: Path) -> None:
    """Both write as fast as they can; a third instance is told of every write, once."""
    code = """
store = open_disk(folder)
for number in range(25):
    store.put([make_entry(f"{sys.argv[0]}{store._database._origin.hex()}-{number}")])
    store.move_epoch("kb")
store.close()
"""
    store = open_disk(tmp_path / "cache")
    writers = [start(code, tmp_path / "cache") for _ in range(2)]

    told: list[Change] = []
    while any(writer.poll() is None for writer in writers) or store.changed():
        changes = store.catch_up()
        assert isinstance(changes, list)
        told += changes
    for writer in writers:
        writer.communicate()

    assert [writer.returncode for writer in writers] == [0, 0]
    assert [c.count for c in told if c.op is Op.EPOCH] == list(range(1, 51))
    put = [change.key for change in told if change.op is Op.PUT]
    assert len(put) == len(set(put)) == 50
    assert {entry.key for entry in store.scan()} == set(put)
    store.close()


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_a_kill_loses_nothing_acknowledged(tmp_path: Path, acknowledged: int) -> None:
    """kill -9 in a loop of puts: all that were reported are there, and nothing is torn."""
    code = """
store = open_disk(folder)
number = 0
while True:
    store.put([make_entry(f"{number}-{part}", answer="x" * 3000) for part in range(3)])
    print(number, flush=True)
    number += 1
"""
    process = start(code, tmp_path / "cache")
    assert process.stdout
    for _ in range(acknowledged):
        last = int(process.stdout.readline())
    process.kill()
    rest = process.communicate()[0].split()
    last = max([last, *map(int, rest)])

    store = open_disk(tmp_path / "cache")
    texts = {entry.text for entry in store.scan()}

    assert {f"{n}-{part}" for n in range(last + 1) for part in range(3)} <= texts
    assert len(texts) % 3 == 0
    assert len(store) == len(texts)
    assert not list((tmp_path / "cache").glob("*damaged*"))
    store.put([make_entry("after")])
    store.close()


def test_a_kill_while_opening_leaves_a_directory_that_opens(tmp_path: Path) -> None:
    """Whatever was created so far is ours, and is completed."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "semcache.store").touch()
    (tmp_path / "cache" / "cache.db").touch()

    store = open_disk(tmp_path / "cache")
    store.put([make_entry("a")])

    assert store.get(make_entry("a").key) is not None
    store.close()


def test_a_fork_during_writes_leaves_no_lock_behind(tmp_path: Path, store: TieredStore) -> None:
    """Threads write and read in loops; children write once, and end in time."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            store.put_later(make_entry(f"loop{number % 50}", answer=str(number)))
            store.put([make_entry("durable", answer=str(number))])

    def read() -> None:
        while not stop.is_set():
            store.get(make_entry("durable").key)
            store.get(make_entry("absent").key)
            len(store)

    threads = [threading.Thread(target=target) for target in (write, read, read)]
    for thread in threads:
        thread.start()

    def work(number: int) -> bool:
        store.put([make_entry(f"child{number}")])
        store.put_later(make_entry(f"later{number}"))
        store.flush()
        return store.get(make_entry(f"child{number}").key) is not None

    outcomes = [run_in_child(lambda n=n: work(n)) for n in range(6)]  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    stop.set()
    for thread in threads:
        thread.join()
    store.catch_up()

    assert all(outcomes)
    names = {entry.text for entry in store.scan()}
    assert {f"{word}{n}" for word in ("child", "later") for n in range(6)} <= names


def test_a_child_follows_its_parent(tmp_path: Path, store: TieredStore) -> None:
    """What the parent writes after the fork, and just before it, is news to the child."""
    store.put([make_entry("before")])
    reader, writer = os.pipe()

    def work() -> bool:
        os.read(reader, 1)
        changes = store.catch_up()
        assert isinstance(changes, list)
        keys = [change.key for change in changes if change.op is Op.PUT]
        return {make_entry("before").key, make_entry("after").key} <= set(keys)

    child = os.fork()
    if child == 0:
        outcome = 1
        try:
            outcome = 0 if work() else 1
        finally:
            os._exit(outcome)
    store.put([make_entry("after")])
    os.write(writer, b".")
    _, status = os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)

    assert status == 0


def test_what_waits_is_written_by_the_parent_once(tmp_path: Path) -> None:
    """A child does not write its parent's queue again."""
    store = open_tiered(tmp_path / "cache")
    with store._queue.turn():
        store.put_later(make_entry("queued"))
        store._queue._waiting[make_entry("queued").key] = make_entry("queued")
    store.flush()
    store._queue._waiting[make_entry("ghost").key] = make_entry("ghost")

    assert run_in_child(lambda: not store._queue._waiting)

    store.close()
