"""Indexes, encoders and locks are shared by threads and processes that they were not made for.

Promise: Any number of threads and forked workers use one cache; none crashes, hangs or mixes up
    rows
Room: `semcache/store/fork.py`, `semcache/index/lock.py`, `semcache/embed/service.py`
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import Hit, SemanticCache, SentenceTransformerEmbedder
from semcache.heavy import _importing, imported
from semcache.index.lock import ReadWriteLock
from tests.fakes import Far, Same
from tests.faults.conftest import PATIENT

# Python 3.12 and later warn of any fork in a process with threads: that is what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

DEADLINE_SECONDS = 10.0
QUESTION = "Which tax form do I file in spring?"
REWORDED = "In spring, which tax form do I file?"


def in_children(work: Callable[[], bool], count: int, seconds: float) -> list[bool]:
    """Fork children that do `work`; say of each whether it gave True before the deadline."""
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            outcome = 1
            try:
                outcome = 0 if work() else 1
            finally:
                os._exit(outcome)
        children.append(child)
    deadline = time.monotonic() + seconds
    return [_ended_well(child, deadline) for child in children]


def _ended_well(child: int, deadline: float) -> bool:
    pause = threading.Event()
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        pause.wait(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def question(number: int) -> str:
    return f"What is so special about harbour number {number}?"


class Traffic:
    """Callers of one cache that search, add and take out until they are stopped."""

    def __init__(self, cache: SemanticCache) -> None:
        self.cache = cache
        self.stop = threading.Event()
        self.wrong: list[Hit[Any]] = []

    def search(self, start: int) -> None:
        number = start
        while not self.stop.is_set():
            number = (number + 7) % 120
            for text in (question(number), question(number).lower()):
                found = self.cache.lookup(text, dynamic=False)
                if isinstance(found, Hit) and found.value != number:
                    self.wrong.append(found)

    def add(self, start: int) -> None:
        for number in range(start, start + 400):
            self.cache.put(question(number % 120), number % 120, dynamic=False)

    def evict(self) -> None:
        while not self.stop.is_set():
            self.cache.purge(lambda entry: entry.key[0] % 8 == 0)


def test_b088_searching_while_others_add_and_evict() -> None:
    """Four threads search, two add, one takes out: no crash, and each hit is of the right key."""
    with (
        SemanticCache(embedder=Far(), max_entries=60, config=PATIENT) as cache,
        ThreadPoolExecutor(7) as pool,
    ):
        traffic = Traffic(cache)
        others = [pool.submit(traffic.search, start) for start in range(4)]
        others.append(pool.submit(traffic.evict))
        adding = [pool.submit(traffic.add, start) for start in (0, 60)]
        try:
            for one in adding:
                one.result(120)
        finally:
            traffic.stop.set()
        for one in others:
            one.result(DEADLINE_SECONDS)

        assert traffic.wrong == []
        assert cache.stats().errors == {}
        assert len(cache) <= 60


class Lazy(Same):
    """An embedder that is loaded by its first caller, and counts how often."""

    def __init__(self) -> None:
        self.loads = 0
        self.loaded = False

    def load(self) -> None:
        self.loads += 1
        self.loaded = True


def test_b089_sixteen_first_look_ups_load_once() -> None:
    """All at the same moment."""
    embedder, start = Lazy(), threading.Barrier(16)
    with SemanticCache(embedder=embedder, config=PATIENT) as cache:

        def first(number: int) -> object:
            start.wait(DEADLINE_SECONDS)
            return cache.lookup(question(number), dynamic=False)

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(first, range(16)))
        assert cache.preload(DEADLINE_SECONDS)

    assert embedder.loads == 1


@pytest.mark.model
def test_b089_sixteen_threads_get_the_vectors_of_one(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Through one cache, and straight from the shared encoder."""
    texts = [question(number) for number in range(16)]
    alone = [minilm.embed([text])[0] for text in texts]

    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda text: minilm.embed([text])[0], texts))
    with SemanticCache(embedder=minilm, config=PATIENT) as cache:
        cache.preload(60)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda text: cache.put(text, text, dynamic=False), texts))
        kept = {e.text: np.frombuffer(e.vectors, np.float32) for e in cache.entries()}

    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose([kept[text] for text in texts], alone, atol=1e-5)


def test_b091_a_fork_during_a_write_leaves_no_lock_behind(tmp_path: Path) -> None:
    """One thread writes in a loop; each child writes once, and ends within 10 seconds."""
    stop = threading.Event()
    with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:

        @cache.cached(dynamic=False)
        def ask(prompt: str) -> str:
            return prompt.upper()

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                ask(question(number))
                cache.put(question(number % 30), number, dynamic=False)

        def work() -> bool:
            answer = ask("What does the child ask?")
            cache.put(question(-1), "child", dynamic=False)
            cache.flush(DEADLINE_SECONDS)
            found = cache.lookup(question(-1), dynamic=False)
            return answer == "WHAT DOES THE CHILD ASK?" and isinstance(found, Hit)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            outcomes = [in_children(work, 1, DEADLINE_SECONDS)[0] for _ in range(3)]
        finally:
            stop.set()
            writer.join(DEADLINE_SECONDS)
        found = cache.lookup(question(-1), dynamic=False)

    assert outcomes == [True] * 3
    assert isinstance(found, Hit)


@pytest.mark.model
def test_b092_workers_forked_from_a_warm_parent_answer(
    tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    """Two of them, in every tier, with a model and a connection of their own."""
    with SemanticCache(tmp_path / "c", embedder=minilm, config=PATIENT) as cache:
        cache.preload(60)
        cache.put(QUESTION, "A")
        assert isinstance(cache.lookup(REWORDED), Hit)

        def work() -> bool:
            at_once = cache.lookup(QUESTION)
            ready = cache.preload(60)
            reworded = cache.lookup(REWORDED)
            return isinstance(at_once, Hit) and ready and isinstance(reworded, Hit)

        assert in_children(work, 2, 60.0) == [True, True]


def test_a_fork_in_the_midst_of_a_change_leaves_a_whole_index() -> None:
    """Two threads write to a cache in memory; each child finds every vector under its own key."""
    stop = threading.Event()
    with SemanticCache(embedder=Far(), max_entries=20, config=PATIENT) as cache:
        projections = cache._rooms.projections

        def write(start: int) -> None:
            number = start
            while not stop.is_set():
                number += 1
                cache.put(question(number % 40), number % 40, dynamic=False)

        def work() -> bool:
            wrong = [
                number
                for number in range(40)
                for found in [cache.lookup(question(number).lower(), dynamic=False)]
                if isinstance(found, Hit) and found.value != number
            ]
            whole = sum(projections.spaces().values()) == len(projections)
            return not wrong and whole and cache.stats().errors == {}

        writers = [threading.Thread(target=write, args=(start,)) for start in (0, 20)]
        for writer in writers:
            writer.start()
        try:
            outcomes = [in_children(work, 1, 60.0)[0] for _ in range(3)]
        finally:
            stop.set()
            for writer in writers:
                writer.join(DEADLINE_SECONDS)

    assert outcomes == [True] * 3


@pytest.mark.parametrize("what", ["an index", "an import"])
def test_a_fork_waits_for_whoever_is_half_way_through(what: str) -> None:
    """The child must not find a change half made, nor a lock that nobody there can release."""
    lock = ReadWriteLock().write() if what == "an index" else _importing.locks["faiss"]
    holding, forking, changed = threading.Event(), threading.Event(), threading.Event()

    def change() -> None:
        with lock:
            holding.set()
            assert forking.wait(DEADLINE_SECONDS)
            forking.clear()
            forking.wait(0.05)
            changed.set()

    def work() -> bool:
        return changed.is_set() and imported("faiss") is not None

    writer = threading.Thread(target=change)
    writer.start()
    assert holding.wait(DEADLINE_SECONDS)
    forking.set()
    outcomes = in_children(work, 1, DEADLINE_SECONDS)
    writer.join(DEADLINE_SECONDS)

    with lock:
        assert outcomes == [True]


def test_a_child_does_not_wait_for_its_parents_call() -> None:
    """The thread that makes it does not exist there."""
    begun, release = threading.Event(), threading.Event()
    parent = os.getpid()
    with SemanticCache(embedder=Far(), config=PATIENT) as cache:

        @cache.cached(dynamic=False)
        def ask(prompt: str) -> str:
            if os.getpid() == parent:
                begun.set()
                assert release.wait(DEADLINE_SECONDS)
            return prompt

        with ThreadPoolExecutor(1) as pool:
            leading = pool.submit(ask, QUESTION)
            assert begun.wait(DEADLINE_SECONDS)
            outcomes = in_children(lambda: ask(QUESTION) == QUESTION, 1, DEADLINE_SECONDS / 2)
            release.set()
            answer = leading.result(DEADLINE_SECONDS)

    assert outcomes == [True]
    assert answer == QUESTION


def test_a_stream_that_another_thread_reads_is_read_whole_in_the_child() -> None:
    """The thread whose turn it is to advance it does not exist there; the parent goes on."""
    begun, release = threading.Event(), threading.Event()
    parent = os.getpid()
    with SemanticCache(embedder=Far(), config=PATIENT) as cache:

        @cache.cached(dynamic=False)
        def ask(prompt: str) -> Iterator[str]:
            yield "Form "
            if os.getpid() == parent:
                begun.set()
                assert release.wait(DEADLINE_SECONDS)
            yield "A"

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(lambda: list(ask(QUESTION)))
            assert begun.wait(DEADLINE_SECONDS)
            outcomes = in_children(
                lambda: list(ask(QUESTION)) == ["Form ", "A"], 1, DEADLINE_SECONDS / 2
            )
            release.set()
            chunks = reading.result(DEADLINE_SECONDS)

    assert outcomes == [True]
    assert chunks == ["Form ", "A"]


def test_a_grandchild_serves_and_stores_and_closes_for_itself(tmp_path: Path) -> None:
    """What it stores is found by the parent; what it closes stays open there."""
    with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
        cache.put(QUESTION, "A")

        def grandchild() -> bool:
            found = cache.lookup(QUESTION)
            cache.put("Describe a green tent", "B")
            cache.close()
            return isinstance(found, Hit)

        outcomes = in_children(
            lambda: in_children(grandchild, 1, DEADLINE_SECONDS) == [True], 1, DEADLINE_SECONDS
        )
        found = [cache.lookup(text) for text in (QUESTION, "Describe a green tent")]

    assert outcomes == [True]
    assert all(isinstance(decision, Hit) for decision in found)
