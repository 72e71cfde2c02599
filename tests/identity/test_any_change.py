"""Any change outside the text is another request, in every tier; another order of keys is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Config, Decision, Hit, Miss, SemanticCache
from tests.fakes import Same
from tests.identity.requests import (
    NEARLY,
    REWORDED,
    TEXT,
    Call,
    calls,
    changed,
    reordered,
    swapped,
)

TIERS = ["exact", "near-duplicate", "semantic"]
tenants = map(str, itertools.count())
few = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def cache() -> Iterator[SemanticCache]:
    """One vector for every text and no guards: within one scope, anything is served."""
    patient = Config(embed_timeout_seconds=60, store_timeout_seconds=30)
    with SemanticCache(embedder=Same(), guards=(), config=patient) as made:
        yield made


def decisions(cache: SemanticCache, stored: Call, asked: Call) -> list[Decision]:
    """Store one request in a namespace of its own; ask another in the words of each tier."""
    tenant = next(tenants)
    cache.put(**stored.asking(TEXT), value="A", namespace=tenant, dynamic=False)
    return [
        cache.lookup(**asked.asking(text), namespace=tenant, dynamic=False)
        for text in (TEXT, NEARLY, REWORDED)
    ]


@few
@given(st.data())
def test_any_change_outside_the_text_misses_in_every_tier(
    cache: SemanticCache, data: st.DataObject
) -> None:
    """A value changed, one left out or one added, at any depth, in any provider's shape."""
    call = data.draw(calls)
    other = data.draw(changed(call))

    assert all(isinstance(decision, Miss) for decision in decisions(cache, call, other))


@few
@given(st.data())
def test_messages_tools_and_parts_keep_their_order(
    cache: SemanticCache, data: st.DataObject
) -> None:
    """Two different ones swapped are another request."""
    call = data.draw(calls)
    other = data.draw(swapped(call))

    assert all(isinstance(decision, Miss) for decision in decisions(cache, call, other))


@few
@given(st.data())
def test_the_order_of_keys_and_members_is_no_change(
    cache: SemanticCache, data: st.DataObject
) -> None:
    """Every dict and every set built in another order: each tier serves."""
    call = data.draw(calls)
    same = data.draw(reordered(call))

    found = decisions(cache, call, same)

    assert [decision.tier.value for decision in found if isinstance(decision, Hit)] == TIERS
