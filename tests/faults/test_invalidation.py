"""An answer that was computed before the change is written back after it, or too much is cleared.

Promise: What was invalidated, replaced or taken out stays so, in all processes and for calls in
flight; nothing else is touched
Room: `semcache/epochs.py`, `semcache/removals.py`, `semcache/rooms.py`
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache import Hit, Miss, Reason, SemanticCache
from tests.fakes import Far, Model
from tests.faults.calls import call, decorate, replies_to
from tests.faults.conftest import PATIENT

QUESTION = "Which tax form do I file in spring?"
NEAR = "which tax form do i file in spring"
REWORDED = "In spring, which form is it that one files for taxes?"
ALL_TIERS = pytest.mark.parametrize("text", [QUESTION, NEAR, REWORDED])


@ALL_TIERS
def test_b118_answers_from_old_documents_are_missed_under_new_ones(
    kind: str, text: str, same: SemanticCache
) -> None:
    """By version in the scope: exact and paraphrase alike; and the old version can be purged."""
    version = "docs-1"
    ask = decorate(
        kind,
        same,
        Model(),
        scope=lambda *_args, **_kwargs: version,
        depends_on=lambda *_args, **_kwargs: [version],
    )
    call(kind, ask, QUESTION)
    assert isinstance(ask.lookup(text), Hit)

    version = "docs-2"
    under_new = ask.lookup(text)
    same.invalidate("docs-1")
    version = "docs-1"
    under_old = ask.lookup(text)

    assert isinstance(under_new, Miss)
    assert isinstance(under_old, Miss)
    assert under_old.reason is Reason.INVALIDATED


@ALL_TIERS
def test_b119_a_call_that_began_before_the_invalidation_leaves_nothing(
    kind: str, text: str, same: SemanticCache
) -> None:
    """Its caller gets the value; the cache stays empty of it, in every tier."""
    model = Model()

    def body(_prompt: str) -> str:
        answer = model()
        if model.calls == 1:
            same.invalidate("docs")
        return answer

    ask = decorate(kind, same, body, depends_on=["docs"])

    first = call(kind, ask, QUESTION)
    after = ask.lookup(text)

    assert first == "R1"
    assert isinstance(after, Miss)
    assert call(kind, ask, text) == "R2"
    assert isinstance(ask.lookup(text), Hit)


def test_b121_refresh_replaces_a_bad_answer(kind: str, apart: SemanticCache) -> None:
    """The function runs, the entry is replaced, the plain call gets the new one."""
    answers = replies_to(kind, apart, QUESTION, {}, {"refresh": True}, {}, {})

    assert answers == ["R1", "R2", "R2", "R2"]


def test_b121_refresh_also_replaces_what_other_words_find(kind: str, same: SemanticCache) -> None:
    """A paraphrase does not bring the bad answer back."""
    ask = decorate(kind, same, Model())
    call(kind, ask, QUESTION)

    call(kind, ask, QUESTION, refresh=True)
    same.flush()

    assert [call(kind, ask, text) for text in (NEAR, REWORDED)] == ["R2", "R2"]


@pytest.mark.parametrize("how", ["own namespace", "named"])
def test_b122_clearing_one_cache_leaves_the_others(tmp_path: Path, how: str) -> None:
    """Two namespaces in one folder, and a foreign file: only the one is cleared."""
    folder = tmp_path / "c"
    with (
        SemanticCache(folder, namespace="a", embedder=Far(), config=PATIENT) as a,
        SemanticCache(folder, namespace="b", embedder=Far(), config=PATIENT) as b,
    ):
        (folder / "thesis.txt").write_text("chapter one")
        a.put(QUESTION, "of a")
        b.put(QUESTION, "of b")

        cleared = a.clear() if how == "own namespace" else b.clear("a")
        left = b.lookup(QUESTION)
        gone = a.lookup(QUESTION)

    assert cleared == 1
    assert isinstance(gone, Miss)
    assert isinstance(left, Hit)
    assert left.value == "of b"
    assert (folder / "thesis.txt").read_text() == "chapter one"
    with SemanticCache(folder, namespace="b", embedder=Far(), config=PATIENT) as b:
        assert isinstance(b.lookup(QUESTION), Hit)


REMOVALS: dict[str, Callable[[SemanticCache, Any], object]] = {
    "remove": lambda _cache, ask: ask.remove(QUESTION),
    "purge": lambda cache, _ask: cache.purge(lambda entry: entry.text == QUESTION),
    "clear": lambda cache, _ask: cache.clear(),
    "refresh elsewhere": lambda _cache, ask: ask.lookup(QUESTION, refresh=True),
}


@pytest.mark.parametrize("how", REMOVALS)
@pytest.mark.parametrize("text", [QUESTION, REWORDED])
def test_a_call_that_began_before_its_answer_was_taken_out_leaves_nothing(
    kind: str, text: str, how: str, same: SemanticCache
) -> None:
    """Whichever way it was taken out; the caller has the value, and the next call is made."""
    model = Model()

    def body(_prompt: str) -> str:
        answer = model()
        if model.calls == 1:
            REMOVALS[how](same, ask)
        return answer

    ask = decorate(kind, same, body)

    first = call(kind, ask, QUESTION)
    after = ask.lookup(text)

    assert first == "R1"
    assert isinstance(after, Miss)
    assert call(kind, ask, text) == "R2"


def test_taking_out_one_answer_spares_the_calls_of_others(kind: str, far: SemanticCache) -> None:
    """A purge or removal of something else does not cost a call in flight its place."""

    def body(_prompt: str) -> str:
        far.purge(lambda entry: entry.text == "something else")
        ask.remove("Who was the first queen of Spain?")
        return "A"

    ask = decorate(kind, far, body)

    call(kind, ask, QUESTION)

    assert isinstance(ask.lookup(QUESTION), Hit)


def test_an_answer_put_by_hand_is_not_overwritten_by_a_call_in_flight(far: SemanticCache) -> None:
    """The correction came later than the call began, so it stands."""

    def body(_prompt: str) -> str:
        ask.put("right", QUESTION)
        return "wrong"

    ask = decorate("plain", far, body)

    assert ask(QUESTION) == "wrong"
    assert ask(QUESTION) == "right"


def test_nobody_joins_a_call_that_began_before_the_removal(far: SemanticCache) -> None:
    """The second caller asks after the old answer was taken out, and gets a new one."""
    model = Model()
    others: list[str] = []

    def body(_prompt: str) -> str:
        answer = model()
        if model.calls == 1:
            ask.remove(QUESTION)
            thread = threading.Thread(target=lambda: others.append(ask(QUESTION)))
            thread.start()
            thread.join(30)
        return answer

    ask = decorate("plain", far, body)

    assert ask(QUESTION) == "R1"
    assert others == ["R2"]
    assert ask(QUESTION) == "R2"


def test_a_refresh_that_fails_leaves_the_old_answer(kind: str, far: SemanticCache) -> None:
    """Only a new answer takes the place of the old one."""
    model = Model()

    def body(_prompt: str) -> str:
        if model.calls == 1:
            model.calls += 1
            raise TimeoutError("the provider is down")
        return model()

    ask = decorate(kind, far, body)
    call(kind, ask, QUESTION)

    with pytest.raises(TimeoutError):
        call(kind, ask, QUESTION, refresh=True)

    assert call(kind, ask, QUESTION) == "R1"


@pytest.mark.parametrize("moves", [1, 3])
def test_an_invalidation_counts_though_the_folder_was_begun_anew(
    tmp_path: Path, moves: int
) -> None:
    """Somebody deletes the folder under a running cache: its counters do not come true again."""
    folder = tmp_path / "c"
    with SemanticCache(folder, embedder=Far(), config=PATIENT) as cache:
        for _ in range(moves):
            cache.invalidate("kb")
        shutil.rmtree(folder)
        cache.put(QUESTION, "old", depends_on=["kb"])

        for _ in range(moves):
            cache.invalidate("kb")
            decision = cache.lookup(QUESTION)

            assert isinstance(decision, Miss)


def test_no_invalidation_is_lost_among_many(far: SemanticCache) -> None:
    """Threads that move one counter at the same moment all move it."""
    begun = threading.Barrier(5)

    def move() -> None:
        begun.wait()
        for _ in range(500):
            far.invalidate("kb")

    threads = [threading.Thread(target=move) for _ in range(4)]
    for thread in threads:
        thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # not before all have begun: what traces a thread starts there
    try:
        begun.wait()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    assert far.invalidate("kb") == 2001


@pytest.mark.parametrize("near", ["kb", "kb:", "kb:pricing ", "KB:pricing", "kb:pricing:eu", "*"])
def test_only_the_very_tag_is_invalidated(far: SemanticCache, near: str) -> None:
    """Neither a prefix nor another spelling reaches further."""
    far.put(QUESTION, "A", depends_on=["kb:pricing"])

    far.invalidate(near)
    spared = far.lookup(QUESTION)
    far.invalidate("kb:pricing")

    assert isinstance(spared, Hit)
    assert isinstance(far.lookup(QUESTION), Miss)


class Interrupted(Far):
    """An embedder during whose first work something happens."""

    meanwhile: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().embed(texts)


@pytest.mark.parametrize("end", ["removed", "replaced", "cleared"])
def test_a_vector_that_comes_late_brings_no_answer_back(tmp_path: Path, end: str) -> None:
    """Another process ends the answer while this one fills its vector in."""
    folder = tmp_path / "c"
    with SemanticCache(folder, embedder=False, config=PATIENT) as bare:
        bare.put(QUESTION, "old")
    ends: dict[str, Callable[[SemanticCache], object]] = {
        "removed": lambda other: other.remove(QUESTION),
        "replaced": lambda other: other.put(QUESTION, "new"),
        "cleared": lambda other: other.clear(),
    }
    embedder = Interrupted()
    with SemanticCache(folder, embedder=False, config=PATIENT) as other:
        embedder.meanwhile = lambda: ends[end](other)
        with SemanticCache(folder, embedder=embedder, config=PATIENT) as cache:
            cache.flush()
            decisions = [one.lookup(QUESTION) for one in (cache, other)]
            stored = list(other.entries())

    values = [one.value if isinstance(one, Hit) else None for one in decisions]
    assert values == [None if end != "replaced" else "new"] * 2
    assert len(stored) == (end == "replaced")
