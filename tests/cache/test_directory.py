"""A directory: found again after a restart, shared by processes, never trusted, never lost."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from semcache import Hit, Miss, Reason, SemanticCache, SemcacheError, Tier
from semcache.errors import DimensionError, ForeignDirectoryError, StoreTimeoutError
from tests.fakes import Far, Same

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do I file in spring"
OTHER_WORDS = "In spring, which form is it that one files for taxes?"


class Wide(Same):
    """Another width."""

    name = "wide"
    dimension = 16


class Renamed(Same):
    """Another model of the same width."""

    name = "renamed"


def test_a_restart_finds_everything_in_every_tier(tmp_path: Path) -> None:
    """Exact, near-duplicate and semantic hits survive."""
    with SemanticCache(tmp_path / "c", embedder=Same()) as cache:
        cache.put(QUESTION, {"form": "A"})

    with SemanticCache(tmp_path / "c", embedder=Same(), guards=()) as cache:
        tiers = {text: cache.lookup(text) for text in (QUESTION, NEAR, OTHER_WORDS)}

    assert [d.tier for d in tiers.values() if isinstance(d, Hit)] == list(Tier)
    assert all(isinstance(d, Hit) and d.value == {"form": "A"} for d in tiers.values())


def test_a_decorated_miss_is_on_disk_after_flush(tmp_path: Path) -> None:
    """Two caches on one directory see each other's answers and invalidations at once."""
    with (
        SemanticCache(tmp_path / "c", embedder=Same(), guards=()) as one,
        SemanticCache(tmp_path / "c", embedder=Same(), guards=()) as two,
    ):

        @one.cached(depends_on=["kb"], shared=True)
        def ask(prompt: str) -> str:
            return "answer"

        ask(QUESTION)
        one.flush()
        seen = [two.lookup(text) for text in (QUESTION, NEAR, OTHER_WORDS)]
        one.invalidate("kb")
        gone = [two.lookup(text) for text in (QUESTION, NEAR, OTHER_WORDS)]

    assert all(isinstance(decision, Hit) for decision in seen)
    assert all(isinstance(decision, Miss) for decision in gone)


def test_a_forgotten_hit_is_gone_in_the_other_process_too(tmp_path: Path) -> None:
    """Deletes and marks travel by the journal."""
    with (
        SemanticCache(tmp_path / "c", embedder=Same(), guards=()) as one,
        SemanticCache(tmp_path / "c", embedder=Same(), guards=()) as two,
    ):
        one.put(QUESTION, "A")
        hit = two.lookup(OTHER_WORDS)
        assert isinstance(hit, Hit)
        one.forget(hit)

        assert isinstance(two.lookup(QUESTION), Miss)
        one.put(QUESTION, "B")
        assert isinstance(two.lookup(OTHER_WORDS), Miss)


WRITER = """
import sys
from semcache import SemanticCache
cache = SemanticCache(sys.argv[1], embedder=False)
for n in range(10_000):
    cache.put(f"question number {n}?", n)
    print(n, flush=True)
"""


def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """kill -9 in the middle of writing; store and indexes agree afterwards."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "c")]
    acknowledged = -1
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged == 60:
                process.kill()
    assert acknowledged >= 60

    with SemanticCache(tmp_path / "c", embedder=False) as cache:
        found = [cache.lookup(f"Question number {n}") for n in range(acknowledged + 1)]

    assert [d.value if isinstance(d, Hit) else None for d in found] == list(range(len(found)))


def test_an_embedder_of_another_width_is_refused_at_open(tmp_path: Path) -> None:
    """The error names both widths; `replace_embedder` opens all the same."""
    with SemanticCache(tmp_path / "c", embedder=Same()) as cache:
        cache.put(QUESTION, "A")

    with pytest.raises(DimensionError, match=r"8.*16"):
        SemanticCache(tmp_path / "c", embedder=Wide())
    with SemanticCache(tmp_path / "c", embedder=Wide(), replace_embedder=True) as cache:
        assert isinstance(cache.lookup(QUESTION), Hit)
        assert isinstance(cache.lookup(OTHER_WORDS), Miss)


def test_vectors_of_another_model_are_never_compared(tmp_path: Path) -> None:
    """The semantic tier starts empty, the others go on."""
    with SemanticCache(tmp_path / "c", embedder=Same()) as cache:
        cache.put(QUESTION, "A")

    with SemanticCache(tmp_path / "c", embedder=Renamed(), guards=()) as cache:
        assert isinstance(cache.lookup(QUESTION), Hit)
        assert isinstance(cache.lookup(NEAR), Hit)
        assert isinstance(cache.lookup(OTHER_WORDS), Miss)


def test_a_foreign_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    """A folder with somebody's files is not ours to write into."""
    (tmp_path / "thesis.txt").write_text("chapter one")

    with pytest.raises(ForeignDirectoryError, match=str(tmp_path)):
        SemanticCache(tmp_path, embedder=False)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_place_of_the_directory_is_an_error_that_names_it(tmp_path: Path) -> None:
    """One clear error, not a traceback of sqlite."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(SemcacheError, match="file"):
        SemanticCache(tmp_path / "file", embedder=False)


def test_a_damaged_database_is_set_aside_and_the_call_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One clear message; the cache starts anew."""
    with SemanticCache(tmp_path / "c", embedder=Far()) as cache:
        cache.put_many((f"question number {n}?", "x" * 2000) for n in range(50))
    database = next(path for path in (tmp_path / "c").iterdir() if path.name == "cache.db")
    with database.open("r+b") as file:
        file.seek(0)
        file.write(os.urandom(4096))

    with caplog.at_level(logging.WARNING, "semcache"):
        cache = SemanticCache(tmp_path / "c", embedder=Far())

    with cache:

        @cache.cached()
        def ask(prompt: str) -> str:
            return "answer"

        assert ask(QUESTION) == "answer"
        assert isinstance(ask.lookup(QUESTION), Hit)
    assert sum("set aside" in record.message for record in caplog.records) == 1


def test_nothing_is_served_while_the_journal_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may have invalidated it."""
    with (
        SemanticCache(tmp_path / "c", embedder=False) as one,
        SemanticCache(tmp_path / "c", embedder=False) as two,
    ):
        one.put(QUESTION, "A", depends_on=["kb"])
        assert isinstance(two.lookup(QUESTION), Hit)
        one.invalidate("kb")

        def busy(_apply: object) -> None:
            raise StoreTimeoutError("busy")

        with monkeypatch.context() as patch:
            patch.setattr(two._rooms.store, "catch_up", busy)
            decision = two.lookup(QUESTION)

        assert isinstance(decision, Miss)
        assert decision.reason is Reason.STORE_TIMEOUT
        assert isinstance(two.lookup(QUESTION), Miss)


EXITING = """
import sys
from semcache import SemanticCache
cache = SemanticCache(sys.argv[1], embedder=False)
@cache.cached()
def ask(prompt):
    return "answer"
ask("which tax form do I file in spring?")
"""


def test_an_exit_without_close_loses_nothing(tmp_path: Path) -> None:
    """What was answered from a call is on disk when the interpreter has ended."""
    subprocess.run([sys.executable, "-c", EXITING, str(tmp_path / "c")], check=True)

    with SemanticCache(tmp_path / "c", embedder=False) as cache:
        assert len(cache) == 1
