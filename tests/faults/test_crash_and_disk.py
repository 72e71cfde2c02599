"""A crash, a damaged file or a stranger's record makes the cache unusable, or worse, wrong."""

from __future__ import annotations

import logging
import os
import random
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from semcache import Hit, SemanticCache
from tests.fakes import Far
from tests.faults.calls import replies
from tests.faults.conftest import PATIENT

ANSWER = "x" * 2000


def question(number: int) -> str:
    return f"What is so special about harbour number {number}?"


def fill(folder: Path, count: int) -> None:
    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        pairs = [(question(number), f"{number} {ANSWER}") for number in range(count)]
        cache.put_many(pairs, dynamic=False)


def wrong_answers(cache: SemanticCache, count: int) -> list[object]:
    """Look all questions up, exactly and nearly, and give the hits that are not their own."""
    found = [
        (number, cache.lookup(text, dynamic=False))
        for number in range(count)
        for text in (question(number), question(number).lower())
    ]
    return [
        decision
        for number, decision in found
        if isinstance(decision, Hit) and decision.value != f"{number} {ANSWER}"
    ]


@pytest.mark.parametrize("cut", ["cache.db", "semcache.generation", "semcache.lock"])
def test_b103_a_map_cut_short_never_gives_anothers_answer(tmp_path: Path, cut: str) -> None:
    """Whatever file lost its second half: what is served is right, and new answers are kept."""
    folder = tmp_path / "c"
    fill(folder, 50)
    os.truncate(folder / cut, (folder / cut).stat().st_size // 2)

    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        cache.put(question(50), f"50 {ANSWER}", dynamic=False)
        wrong = wrong_answers(cache, 51)
        new = cache.lookup(question(50), dynamic=False)
        old = cache.lookup(question(7), dynamic=False)

    assert wrong == []
    assert isinstance(new, Hit)
    assert isinstance(old, Hit) or cut == "cache.db"


def scribble(database: Path, share: float) -> None:
    """Write 4 KB of noise at a share of the file's length."""
    with database.open("r+b") as file:
        file.seek(int(database.stat().st_size * share) // 4096 * 4096)
        file.write(random.Random(104).randbytes(4096))


def test_b104_a_database_damaged_in_the_middle_is_set_aside(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The call works, there is one clear message, and the next start is as if new."""
    folder = tmp_path / "c"
    fill(folder, 100)
    scribble(folder / "cache.db", 0.5)

    with (
        caplog.at_level(logging.WARNING, "semcache"),
        SemanticCache(folder, embedder=Far(), threshold=0.95, config=PATIENT) as cache,
    ):
        answers = replies(kind, cache, "Explain how a kettle works", "Explain how a kettle works")

    assert answers == ["R1", "R1"]
    (message,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert "set aside" in message
    assert list(folder.glob("cache.db.damaged*"))
    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        assert len(cache) == 1


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.99])
def test_b104_noise_anywhere_breaks_no_call_and_serves_nothing_wrong(
    tmp_path: Path, share: float
) -> None:
    """Whichever page it hits: one row, a tree of rows, the journal or the head of the file."""
    folder = tmp_path / "c"
    fill(folder, 100)
    scribble(folder / "cache.db", share)

    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        answers = replies(
            "plain", cache, "Explain how a kettle works", "Explain how a kettle works"
        )
        wrong = wrong_answers(cache, 100)

    assert answers == ["R1", "R1"]
    assert wrong == []


WRITER = """
import signal, os, sys
from semcache import Config, SemanticCache
cache = SemanticCache(sys.argv[1], embedder=False, config=Config(store_timeout_seconds=30))
for n in range(100):
    cache.put(f"What is so special about harbour number {n}?", n, dynamic=False)
print("done", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_b106_a_kill_after_a_hundred_inserts_loses_none(tmp_path: Path) -> None:
    """No clean exit is needed: store and index agree."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", WRITER, str(tmp_path / "c")]

    killed = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
        found = [cache.lookup(question(n).lower(), dynamic=False) for n in range(100)]
        sizes = len(cache), len(cache._rooms.projections)

    assert (killed.stdout, killed.returncode) == ("done\n", -9), killed.stderr
    assert sizes == (100, 100)
    assert [d.value if isinstance(d, Hit) else None for d in found] == list(range(100))


def test_b107_a_crafted_pickle_row_runs_nothing(tmp_path: Path) -> None:
    """Reading the key is a miss; the folder is private to its owner."""
    folder, trace = tmp_path / "c", tmp_path / "ran"
    fill(folder, 3)
    bomb = f"cos\nsystem\n(S'touch {trace}'\ntR.".encode()
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (bomb,))
    database.close()

    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        found = [cache.lookup(question(n), dynamic=False) for n in range(3)]
        list(cache.entries())

    assert not trace.exists()
    assert not [decision for decision in found if isinstance(decision, Hit)]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
