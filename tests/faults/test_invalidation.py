"""Documents change, answers are refreshed or cleared, and the old live on, or too much dies."""

from __future__ import annotations

from pathlib import Path

import pytest

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
