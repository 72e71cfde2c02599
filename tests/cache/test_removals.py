"""Removals: what is forgotten of them can only refuse an answer, never let one in."""

from __future__ import annotations

from semcache.entry import Entry
from semcache.removals import Removals
from tests.contracts.store import make_entry

ENTRY = make_entry("a")


def is_stored(removals: Removals, since: int, entry: Entry = ENTRY) -> bool:
    stored: list[Entry] = []
    assert removals.unless_removed(since, entry, stored.append) is bool(stored)
    return bool(stored)


def test_more_removals_than_are_remembered_refuse_all_calls_before_them() -> None:
    """The key of the call may have been among those forgotten."""
    removals = Removals()
    before = removals.number(ENTRY.key)

    removals.note(number.to_bytes(16) for number in range(20_000))
    after = removals.number(ENTRY.key)

    assert not is_stored(removals, before)
    assert is_stored(removals, after)


def test_more_purges_than_are_remembered_refuse_all_calls_before_them() -> None:
    """As above, for predicates; one that is remembered is asked."""
    removals = Removals()
    before = removals.number(ENTRY.key)

    removals.note_where(lambda entry: entry.text == "b")
    spared = is_stored(removals, before)
    for _ in range(64):
        removals.note_where(lambda _: False)

    assert spared
    assert not is_stored(removals, before)
    assert is_stored(removals, removals.number(ENTRY.key))


def test_a_removal_between_the_test_and_the_storing_is_seen() -> None:
    """The predicate is the user's own, and takes the very key out while it is asked."""
    removals = Removals()
    before = removals.number(ENTRY.key)

    def takes_out(_: Entry) -> bool:
        removals.note([ENTRY.key])
        return False

    removals.note_where(takes_out)

    assert not is_stored(removals, before)


def test_the_call_that_replaces_an_answer_may_store_its_own() -> None:
    """It begins at the number that it is given; those before it may not."""
    removals = Removals()
    before = removals.number(ENTRY.key)

    mine = removals.note([ENTRY.key])

    assert not is_stored(removals, before)
    assert is_stored(removals, mine)
