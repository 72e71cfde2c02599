"""What a decorated function can be asked: refresh, bypass, look up, explain, put, remove."""

from __future__ import annotations

import copy

import pytest

from semcache import Bypass, Hit, Miss, SemanticCache, Stored
from semcache.errors import ValueFormError
from tests.fakes import Far, Model
from tests.faults.calls import KINDS, call, decorate
from tests.faults.conftest import PATIENT

PROMPT = "Which documents does a visa for Laos ask for?"


@pytest.fixture
def cache() -> SemanticCache:
    return SemanticCache(embedder=Far(), threshold=0.95, config=PATIENT)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_refresh_replaces_what_is_stored(kind: str, cache: SemanticCache) -> None:
    """The method and the keyword do the same."""
    ask = decorate(kind, cache, Model())
    first = call(kind, ask, PROMPT)

    anew = call(kind, ask.refresh, PROMPT)

    assert [first, anew, call(kind, ask, PROMPT)] == ["R1", "R2", "R2"]


def test_bypass_leaves_the_cache_as_it_was(kind: str, cache: SemanticCache) -> None:
    """The function runs, and its answer is nobody else's."""
    ask = decorate(kind, cache, Model())
    call(kind, ask, PROMPT)

    aside = call(kind, ask.bypass, PROMPT)

    assert [aside, call(kind, ask, PROMPT)] == ["R2", "R1"]


def test_looking_up_and_explaining_call_nothing(kind: str, cache: SemanticCache) -> None:
    """Both decide as a call would; only the look-up is counted."""
    model = Model()
    ask = decorate(kind, cache, model)
    before = ask.lookup(PROMPT)
    call(kind, ask, PROMPT)

    after, explained = ask.lookup(PROMPT), ask.explain(PROMPT)

    assert isinstance(before, Miss)
    assert isinstance(after, Hit)
    assert isinstance(explained, Hit)
    assert model.calls == 1
    assert cache.stats().hits == {"exact": 1}


def test_what_is_put_is_served_until_it_is_removed(cache: SemanticCache) -> None:
    """An answer written by hand stands in for a call of exactly these arguments."""
    ask = decorate("plain", cache, Model())

    stored = ask.put("by hand", PROMPT, tone="dry")

    assert isinstance(stored, Stored)
    assert call("plain", ask, PROMPT, tone="dry") == "by hand"
    assert call("plain", ask, PROMPT, tone="warm") == "R1"
    assert ask.remove(PROMPT, tone="dry")
    assert not ask.remove(PROMPT, tone="dry")
    assert call("plain", ask, PROMPT, tone="dry") == "R2"


def test_an_opaque_call_is_explained_but_not_written(cache: SemanticCache) -> None:
    """A look-up is a Bypass; a write by hand, which nobody else would see fail, raises."""
    ask = decorate("plain", cache, Model())

    assert isinstance(ask.explain(PROMPT, client=object()), Bypass)
    assert isinstance(ask.lookup(PROMPT, client=object()), Bypass)
    with pytest.raises(ValueFormError, match="ignore="):
        ask.put("by hand", PROMPT, client=object())
    with pytest.raises(ValueFormError, match="ignore="):
        ask.remove(PROMPT, client=object())


def test_a_decorated_function_shows_and_copies_as_the_function_it_is(cache: SemanticCache) -> None:
    """A deep copy of a structure that holds it does not copy the cache."""
    ask = decorate("plain", cache, Model())

    assert repr(ask).startswith("<cached <function ")
    assert copy.deepcopy({"ask": ask})["ask"] is ask
