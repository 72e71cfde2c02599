"""ReadWriteLock: readers together, writers alone, nobody starved, free after a fork."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from queue import Queue

import numpy as np
import pytest

from semcache.index.faiss import FaissIndex
from semcache.index.lock import ReadWriteLock
from tests.contracts.vector_index import random_rows


def started(work: Callable[[], object]) -> threading.Thread:
    """A thread at work."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_readers_read_together() -> None:
    """Two are inside at once, or the barrier breaks."""
    lock = ReadWriteLock()
    both = threading.Barrier(2, timeout=10)

    def read() -> None:
        with lock.read():
            both.wait()

    threads = [started(read), started(read)]

    for thread in threads:
        thread.join(10)
    assert not both.broken
    assert not any(thread.is_alive() for thread in threads)


def test_a_writer_waits_for_readers_and_goes_before_new_ones() -> None:
    """The order is first reader, writer, second reader."""
    lock = ReadWriteLock()
    events: Queue[str] = Queue()
    reading, leave = threading.Event(), threading.Event()

    def first() -> None:
        with lock.read():
            reading.set()
            leave.wait(10)
            events.put("first reader")

    def write() -> None:
        with lock.write():
            events.put("writer")

    def second() -> None:
        with lock.read():
            events.put("second reader")

    threads = [started(first)]
    assert reading.wait(10)
    threads.append(started(write))
    while not lock._waiting:
        threading.Event().wait(0.001)
    threads.append(started(second))
    leave.set()
    for thread in threads:
        thread.join(10)

    assert [events.get_nowait() for _ in range(3)] == ["first reader", "writer", "second reader"]


def test_an_error_inside_frees_the_lock() -> None:
    """For readers and for writers."""
    lock = ReadWriteLock()

    with pytest.raises(KeyError), lock.read():
        raise KeyError
    with pytest.raises(KeyError), lock.write():
        raise KeyError

    with lock.write():
        pass


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_finds_the_lock_free() -> None:
    """The thread that wrote at the fork does not exist in the child."""
    lock = ReadWriteLock()
    writing, leave = threading.Event(), threading.Event()

    def write() -> None:
        with lock.write():
            writing.set()
            leave.wait(10)

    thread = started(write)
    assert writing.wait(10)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with lock.write():
            os.write(writer, b"!")
        os._exit(0)
    answered, _, _ = select.select([reader], [], [], 10)
    leave.set()
    thread.join(10)
    if not answered:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)

    assert answered


def test_search_add_and_evict_at_once() -> None:
    """Four threads search, two add, one evicts for a while: every hit is the row it says it is."""
    rows = random_rows(512, 64)
    index, lock = FaissIndex(64), ReadWriteLock()
    stop = threading.Event()
    wrong: list[object] = []
    searches = threading.Semaphore(0)

    def search(seed: int) -> None:
        random = np.random.default_rng(seed)
        while not stop.is_set():
            row = rows[random.integers(512)]
            with lock.read():
                found = index.search(row, 3)
            searches.release()
            wrong.extend(
                (key, score)
                for key, score in found
                if abs(score - float(rows[int.from_bytes(key)] @ row)) > 1e-5
            )

    def change(seed: int, act: Callable[[int], object]) -> None:
        random = np.random.default_rng(seed)
        while not stop.is_set():
            with lock.write():
                act(int(random.integers(512)))

    def add(place: int) -> None:
        index.add(place.to_bytes(2), rows[place])

    def evict(place: int) -> None:
        index.remove(place.to_bytes(2))

    threads = [started(lambda seed=seed: search(seed)) for seed in range(4)]  # type: ignore[misc]  # mypy cannot type a default in a lambda
    threads += [started(lambda seed=seed: change(seed, add)) for seed in (4, 5)]  # type: ignore[misc]  # as above
    threads.append(started(lambda: change(6, evict)))
    stop.wait(2.0)
    stop.set()
    for thread in threads:
        thread.join(10)

    assert not wrong
    assert not any(thread.is_alive() for thread in threads)
    assert searches.acquire(blocking=False)
    assert set(index.keys()) <= {place.to_bytes(2) for place in range(512)}
