"""Index and store disagree: deleted, evicted or expired entries are found, live ones are not.

Promise: indexes follow what the store has, whatever the order of changes; what it lacks is no hit.
Room: `semcache/match/projections.py`, `semcache/rooms.py`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache import Hit, Miss, Refused, SemanticCache, Tier
from semcache.entry import Entry
from semcache.index.faiss import FaissIndex
from semcache.index.scoped import ScopedIndex
from semcache.match.projections import Projections
from tests.contracts.store import make_entry
from tests.fakes import Clock, Far, Model, Same
from tests.faults.calls import call, decorate
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"


def question(number: int) -> str:
    return f"What is so special about harbour number {number}?"


@pytest.mark.parametrize("how", ["remove", "purge", "forget", "clear"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_b094_a_deleted_entry_is_never_returned(how: str, on_disk: bool, tmp_path: Path) -> None:
    """However it was taken out, in any tier, and its vector's room comes back."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None, embedder=Same(), guards=(), config=PATIENT
    ) as cache:
        cache.put("Describe a green tent", "T", model="other")
        kept = cache.stats().store["vector_bytes"]
        cache.put(QUESTION, "A", namespace="n")
        found = cache.lookup(QUESTION, namespace="n")
        assert isinstance(found, Hit)

        match how:
            case "remove":
                cache.remove(QUESTION, namespace="n")
            case "purge":
                cache.purge(lambda entry: entry.text == QUESTION)
            case "forget":
                cache.forget(found)
            case _:
                cache.clear("n")

        for text in (QUESTION, NEAR, REWORDED):
            assert isinstance(cache.lookup(text, namespace="n"), Miss)
        assert cache.stats().store["vector_bytes"] == kept


@pytest.mark.parametrize("on_disk", [False, True])
def test_b095_a_full_cache_still_finds_the_last(on_disk: bool, tmp_path: Path) -> None:
    """Room for 5, 20 inserted: index and store agree after each, and the last five hit."""
    bound = {"max_disk_bytes": 64 * 1024} if on_disk else {"max_entries": 5}
    value = "x" * (8 * 1024 if on_disk else 1)
    with SemanticCache(
        tmp_path / "c" if on_disk else None,
        embedder=Far(),
        config=PATIENT,
        **bound,  # type: ignore[arg-type]  # one keyword of two
    ) as cache:
        for number in range(20):
            cache.put(question(number), f"{number}{value}", dynamic=False)
            assert len(cache._rooms.projections) == len(cache)
        last = [
            cache.lookup(text, dynamic=False)
            for number in range(15, 20)
            for text in (question(number), question(number).lower())
        ]

        assert len(cache) < 20
        assert all(isinstance(decision, Hit) for decision in last)


def test_b095_a_decorated_function_keeps_index_and_store_in_step() -> None:
    """The same for answers that are stored by the way."""
    with SemanticCache(embedder=Far(), max_entries=5, config=PATIENT) as cache:

        @cache.cached(dynamic=False)
        def ask(prompt: str) -> str:
            return prompt.upper()

        for number in range(20):
            ask(question(number))
            assert len(cache._rooms.projections) == len(cache)
        last = [ask.lookup(question(number)) for number in range(15, 20)]

    assert all(isinstance(decision, Hit) for decision in last)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("dead", [1, 20])
def test_b097_dead_entries_do_not_hide_a_live_one(
    dead: int, on_disk: bool, tmp_path: Path, clock: Clock
) -> None:
    """However many of them come first; and they are dropped from the index."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None, embedder=Same(), guards=(), clock=clock, config=PATIENT
    ) as cache:
        for number in range(dead):
            cache.put(question(number), "dead", ttl_seconds=1, dynamic=False)
        cache.put("Describe a green tent", "live", ttl_seconds=1000)
        clock.advance(10)

        found = [cache.lookup(question(0), dynamic=False) for _ in range(3)][-1]

        assert isinstance(found, Hit)
        assert found.value == "live"
        assert len(cache._rooms.projections) == 1


@pytest.mark.parametrize("stored", [0, 1])
def test_b098_more_neighbours_asked_for_than_there_are(stored: int) -> None:
    """k=5 on an index with no vectors and with one: no row is made up."""
    vector = np.eye(8, dtype=np.float32)[0]
    flat, scoped = FaissIndex(8), ScopedIndex(8)
    for number in range(stored):
        flat.add(bytes([number]), vector)
        scoped.add(b"s", bytes([number]), vector[None])

    expected = [(bytes([number]), 1.0) for number in range(stored)]

    assert flat.search(vector, 5) == expected
    assert scoped.search(b"s", vector[None], 5) == expected


@pytest.mark.parametrize("stored", [0, 1])
def test_b098_the_cache_finds_what_there_is(stored: int, same: SemanticCache) -> None:
    """Also after the only vector was taken out."""
    same.put(QUESTION, "A")
    if not stored:
        same.remove(QUESTION)

    found = same.lookup(REWORDED)

    assert isinstance(found, Hit if stored else Miss)
    assert not isinstance(found, Hit) or found.tier is Tier.SEMANTIC


def indexed(cache: SemanticCache) -> set[bytes]:
    """The keys that any index of the cache holds."""
    projections = cache._rooms.projections
    found = set(projections.keys())
    near = {key for index in projections._near.values() for key in index._texts}
    assert near == found
    return found


def stored(cache: SemanticCache) -> set[bytes]:
    return {entry.key for entry in cache.entries()}


def test_an_answer_that_finds_no_room_is_in_no_index(kind: str) -> None:
    """Pinned entries fill the cache: the caller has the answer, nobody else ever will."""
    with SemanticCache(embedder=Same(), max_entries=3, config=PATIENT) as cache:
        for number in range(3):
            cache.put(question(number), number, pinned=True, dynamic=False)
        ask = decorate(kind, cache, Model(), dynamic=False)

        answers = [call(kind, ask, question(number)) for number in range(10, 20)]
        refused = cache.put(question(99), "by hand", dynamic=False)
        cache.flush()

        assert answers == [f"R{number}" for number in range(1, 11)]
        assert isinstance(refused, Refused)
        assert indexed(cache) == stored(cache)
        assert len(cache) == 3
        assert cache.stats().refused["no room"] == 11


def test_an_import_larger_than_the_cache_indexes_what_was_kept() -> None:
    """Whatever the bounds pushed out again on the way in."""
    with SemanticCache(embedder=Far(), config=PATIENT) as source:
        source.put_many([(question(number), number) for number in range(12)], dynamic=False)
        entries = list(source.entries())

    with SemanticCache(embedder=Far(), max_entries=5, config=PATIENT) as cache:
        cache.restore(entries)

        assert indexed(cache) == stored(cache)
        assert len(cache) == 5


def test_storing_a_key_again_in_a_full_cache_drops_no_other(kind: str) -> None:
    """An overwrite needs no room, so nothing has to make some."""
    with SemanticCache(embedder=Far(), max_entries=3, config=PATIENT) as cache:
        cache.put_many([(question(number), number) for number in range(3)], dynamic=False)
        ask = decorate(kind, cache, Model(), dynamic=False)
        for number in range(3):
            cache.put(question(number), -number, dynamic=False)
            call(kind, ask, question(0), refresh=True)

        assert indexed(cache) == stored(cache)
        found = [cache.lookup(question(number).lower(), dynamic=False) for number in (1, 2)]
        assert [d.value if isinstance(d, Hit) else None for d in found] == [-1, -2]


class Numbered:
    """An embedder that reads only the last number of a text: each number has its own direction."""

    name = "numbered"
    dimension = 64
    default_threshold = 0.9

    def embed(self, texts: Sequence[str]) -> Any:
        return np.eye(self.dimension, dtype=np.float32)[[int(t.split()[-1]) for t in texts]]


def as_it_is(text: str) -> str:
    return text


@pytest.mark.parametrize("on_disk", [False, True])
def test_rows_that_move_up_keep_their_own_answers(on_disk: bool, tmp_path: Path) -> None:
    """From the front, the middle and the end: after each one taken out, all others are right."""
    with SemanticCache(
        tmp_path / "c" if on_disk else None,
        embedder=Numbered(),
        guards=(),
        core=as_it_is,
        config=PATIENT,
    ) as cache:
        left = set(range(12))
        for number in left:
            cache.put(f"Describe harbour {number}", number, dynamic=False)
        for gone in (0, 11, 5, 6, 1, 10, 3):
            cache.remove(f"Describe harbour {gone}")
            left.remove(gone)

            found = [cache.lookup(f"What of ships in {n}", dynamic=False) for n in range(12)]

            assert [d.value if isinstance(d, Hit) else None for d in found] == [
                number if number in left else None for number in range(12)
            ]
            assert indexed(cache) == stored(cache)


@pytest.mark.parametrize("how", ["remove", "purge", "forget", "clear", "overwrite"])
def test_another_process_takes_it_out_of_both_indexes(how: str, tmp_path: Path) -> None:
    """Two caches on one directory: each follows what the other does."""
    options: dict[str, Any] = {"embedder": Same(), "guards": (), "config": PATIENT}
    with (
        SemanticCache(tmp_path / "c", **options) as one,
        SemanticCache(tmp_path / "c", **options) as two,
    ):
        one.put(QUESTION, "A")
        found = two.lookup(REWORDED)
        assert isinstance(found, Hit)

        match how:
            case "remove":
                two.remove(QUESTION)
            case "purge":
                two.purge(lambda entry: True)
            case "forget":
                two.forget(found)
            case "clear":
                two.clear()
            case _:
                two.put(QUESTION, "B")
        decision = one.lookup(REWORDED)

        value = decision.value if isinstance(decision, Hit) else None
        assert value == ("B" if how == "overwrite" else None)
        assert indexed(one) == indexed(two) == stored(one) == stored(two)


class Shelf(dict[bytes, Entry]):
    """A store of a dict: what the indexes follow."""

    def __init__(self, *names: str) -> None:
        super().__init__({entry.key: entry for entry in map(make_entry, names)})


ONE, OTHER = make_entry("Describe a green tent"), make_entry("Describe a blue kettle")


def test_what_was_deleted_before_it_was_indexed_is_not_indexed() -> None:
    """A caller stores it, another deletes it, and only then is the first one's turn."""
    shelf = Shelf()
    index = Projections(shelf.get)
    shelf[ONE.key] = ONE
    index.follow_later(ONE.key)
    del shelf[ONE.key]

    index.follow([ONE.key])

    assert ONE.key not in index


def test_what_was_stored_again_before_its_end_was_told_stays_indexed() -> None:
    """An eviction is told late: by then the key is in the store once more."""
    shelf = Shelf()
    index = Projections(shelf.get)
    shelf[ONE.key] = ONE
    index.follow_later(ONE.key)

    index.follow([ONE.key])

    assert ONE.key in index


@pytest.mark.parametrize("late", ["deleted", "stored"])
def test_a_change_during_a_rebuild_is_not_undone_by_it(late: str) -> None:
    """The store is read entry by entry: what was read before a change is older than the change."""
    shelf = Shelf()
    index = Projections(shelf.get)
    shelf[ONE.key] = ONE

    def read_slowly() -> Iterator[Entry]:
        read = list(shelf.values())
        if late == "deleted":
            del shelf[ONE.key]
            index.follow([ONE.key])
        else:
            shelf[OTHER.key] = OTHER
            index.follow([OTHER.key])
        yield from read

    index.rebuild(read_slowly())

    assert index.keys() == shelf.keys()


def test_vectors_that_are_none_keep_nothing_from_opening() -> None:
    """An entry from a file may hold any bytes: it is found by its text, and the rest as before."""
    vector = np.eye(8, dtype=np.float32)[:1].tobytes()
    odd = [(1, b""), (1, vector[:-1]), (3, vector), (-1, vector), (1, b"\xff" * 32), (0, vector)]
    entries = [
        make_entry(question(number), embedder="same", windows=windows, vectors=vectors)
        for number, (windows, vectors) in enumerate([*odd, (1, vector)])
    ]
    with SemanticCache(embedder=Same(), config=PATIENT) as cache:
        cache.restore(entries)

        assert indexed(cache) == stored(cache) == {entry.key for entry in entries}
        assert sum(cache._rooms.projections.spaces().values()) == 1
