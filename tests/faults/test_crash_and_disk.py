"""State is spread over files that must agree, is saved on a clean exit only, or runs what it reads.

Promise: After a kill, a power cut or damage: no lost write that was acknowledged, no wrong answer,
no code run; what was taken away stays away
Room: `semcache/store/database.py`, `semcache/store/journal.py`, `semcache/store/safe_disk.py`
"""

from __future__ import annotations

import logging
import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from semcache import Config, Hit, Miss, SemanticCache
from tests.fakes import Clock, Far
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


def execute(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "cache.db") as database:
        database.execute(statement)
    database.close()


def flip(folder: Path) -> None:
    """Change one letter in the middle of every answer, as a failing disk would."""
    with sqlite3.connect(folder / "cache.db") as database:
        for rowid, value in database.execute("SELECT rowid, value FROM Cache").fetchall():
            place = value.index(b"x" * 100) + 50
            flipped = value[:place] + b"y" + value[place + 1 :]
            database.execute("UPDATE Cache SET value = ? WHERE rowid = ?", (flipped, rowid))
    database.close()


NOISE = random.Random(1).randbytes(40_000)
DAMAGE: dict[str, Callable[[Path], object]] = {
    "an empty database": lambda folder: (folder / "cache.db").write_bytes(b""),
    "no database": lambda folder: (folder / "cache.db").unlink(),
    "a text for a database": lambda folder: (folder / "cache.db").write_text("hello" * 2000),
    "noise for a log": lambda folder: (folder / "cache.db-wal").write_bytes(NOISE),
    "noise for the log's index": lambda folder: (folder / "cache.db-shm").write_bytes(NOISE),
    "noise for the counter": lambda folder: (folder / "semcache.generation").write_bytes(
        NOISE[:16]
    ),
    "rows under each other's keys": lambda folder: execute(
        folder,
        "UPDATE Cache SET value = (SELECT value FROM Cache AS other"
        " WHERE other.rowid = Cache.rowid % 20 + 1)",
    ),
    "another letter in each answer": flip,
    "no ledger": lambda folder: execute(folder, "DELETE FROM semcache_ledger"),
    "no journal": lambda folder: execute(folder, "DELETE FROM semcache_journal"),
    "no number of the database": lambda folder: execute(folder, "DELETE FROM semcache_fact"),
    "another user's lifetimes": lambda folder: execute(folder, "UPDATE Cache SET expire_time = 1"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_no_damage_serves_a_wrong_answer_or_ends_the_storing_of_new_ones(
    tmp_path: Path, damage: str
) -> None:
    """Whatever happened to the files while nobody had them open."""
    folder = tmp_path / "c"
    fill(folder, 20)
    DAMAGE[damage](folder)

    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        wrong = wrong_answers(cache, 20)
        cache.put(question(20), f"20 {ANSWER}", dynamic=False)
    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        wrong += wrong_answers(cache, 21)
        new = cache.lookup(question(20), dynamic=False)

    assert wrong == []
    assert isinstance(new, Hit)


KILLED = """
import os, signal, sys
from semcache import Config, SemanticCache
from tests.fakes import Clock, Far
clock = Clock()
config = Config(store_timeout_seconds=30, embed_timeout_seconds=60)
cache = SemanticCache(sys.argv[1], embedder=Far(), clock=clock, config=config)
for name in ("a", "b", "c", "d"):
    cache.put(f"Explain {name} to me", name, ttl_seconds=10, renew_up_to_seconds=100,
              depends_on=[name], dynamic=False)
clock.advance(8)
hits = {name: cache.lookup(f"Explain {name} to me", dynamic=False) for name in "abcd"}
cache.flush()
cache.invalidate("b")
cache.forget(hits["c"])
cache.remove("Explain d to me")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_undoes_no_renewal_and_brings_back_nothing_taken_away(tmp_path: Path) -> None:
    """Renewed, invalidated, forgotten and removed in one process, looked up in the next."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", KILLED, str(tmp_path / "c")]

    killed = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    clock = Clock()
    clock.advance(16)
    with SemanticCache(tmp_path / "c", embedder=Far(), clock=clock, config=PATIENT) as cache:
        found = [cache.lookup(f"Explain {name} to me", dynamic=False) for name in "abcd"]

    assert killed.returncode == -9, killed.stderr
    assert [isinstance(decision, Hit) for decision in found] == [True, False, False, False]


def synced_by(cache: SemanticCache, act: Callable[[], object]) -> list[str]:
    """Run an act and give how each of its transactions was written: NORMAL, or FULL with a sync."""
    disk = cache._rooms.disk
    assert disk is not None
    statements: list[str] = []
    connection = disk._database._rows._con
    connection.set_trace_callback(statements.append)
    try:
        act()
    finally:
        connection.set_trace_callback(None)
    levels, written = "", []
    for statement in statements:
        if "synchronous" in statement:
            levels = statement.rpartition("= ")[2]
        elif statement == "COMMIT":
            written.append(levels)
    return written


def test_what_takes_answers_away_waits_for_the_disk_itself(tmp_path: Path) -> None:
    """A power cut may lose an answer, which costs a call; it never brings a wrong one back."""
    with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
        stored = synced_by(cache, lambda: cache.put(question(1), 1, dynamic=False))
        hit = cache.lookup(question(1), dynamic=False)
        assert isinstance(hit, Hit)

        taken = [
            synced_by(cache, lambda: cache.invalidate("kb")),
            synced_by(cache, lambda: cache.forget(hit)),
            synced_by(cache, lambda: cache.remove(question(1))),
        ]
        again = synced_by(cache, lambda: cache.put(question(1), 1, dynamic=False))

    assert (stored, again) == (["NORMAL"], ["NORMAL"])
    assert taken == [["FULL"], ["FULL"], ["FULL"]]


def test_durability_power_makes_every_write_wait_for_the_disk_itself(tmp_path: Path) -> None:
    """For whoever pays more for an answer than for a sync."""
    config = replace(PATIENT, durability="power")
    with SemanticCache(tmp_path / "c", embedder=Far(), config=config) as cache:
        stored = synced_by(cache, lambda: cache.put(question(1), 1, dynamic=False))

    assert stored == ["FULL"]
    with pytest.raises(ValueError, match=r"durability='disk': pass \"process\" or \"power\""):
        Config(durability="disk")  # type: ignore[arg-type]


def test_a_folder_that_is_deleted_under_a_running_cache_is_begun_anew(
    kind: str, tmp_path: Path
) -> None:
    """The calls work, and what is answered from then on is kept."""
    folder = tmp_path / "c"
    fill(folder, 3)
    with SemanticCache(folder, embedder=Far(), threshold=0.95, config=PATIENT) as cache:
        assert isinstance(cache.lookup(question(0), dynamic=False), Hit)
        for file in folder.iterdir():
            file.unlink()

        answers = replies(kind, cache, "Explain how a kettle works", "Explain how a kettle works")
        cache.flush()

    assert answers == ["R1", "R1"]
    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        assert [entry.text for entry in cache.entries()] == ["Explain how a kettle works"]


def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    """The disk fails at the last of ten: none of them is found afterwards, here or elsewhere."""
    folder = tmp_path / "c"
    with SemanticCache(folder, embedder=False, config=PATIENT) as cache:
        execute(
            folder,
            "CREATE TRIGGER full AFTER INSERT ON semcache_journal WHEN NEW.seq >= 10"
            " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
        )
        with pytest.raises(Exception, match="the disk is full"):
            cache.put_many([(question(n), n) for n in range(10)], dynamic=False)
        execute(folder, "DROP TRIGGER full")

        found = [cache.lookup(question(n), dynamic=False) for n in range(10)]

        assert all(isinstance(decision, Miss) for decision in found)
        assert len(cache) == len(cache._rooms.projections) == 0
