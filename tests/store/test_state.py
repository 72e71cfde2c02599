"""State machines: whatever the order of operations, a store does what a dict does."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from semcache.entry import Entry
from semcache.store.disk import DiskStore, Op, Resync
from semcache.store.memory import MemoryStore
from semcache.store.tiered import TieredStore
from tests.contracts.store import make_entry, trim_journal
from tests.fakes import Clock

NAMES = st.sampled_from("abcdefgh")
ANSWERS = st.sampled_from(["", "short", "x" * 400])
LIFETIMES = st.none() | st.integers(1, 100)
MAX_BYTES = 4_000


class Bounded(RuleBasedStateMachine):
    """A memory of few entries and bytes: what it has is right, and it has no more than it may."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.store = MemoryStore(max_entries=5, max_bytes=MAX_BYTES, clock=self.clock)
        self.model: dict[bytes, Entry] = {}

    @rule(name=NAMES, answer=ANSWERS, lifetime=LIFETIMES, pinned=st.booleans())
    def put(self, name: str, answer: str, lifetime: int | None, pinned: bool) -> None:
        expires_at = None if lifetime is None else self.clock() + lifetime
        entry = make_entry(name, answer=answer, expires_at=expires_at, pinned=pinned)
        self.model[entry.key] = entry
        for key in self.store.put([entry]):
            del self.model[key]

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        key = make_entry(name).key
        assert self.store.delete([key]) == (self.model.pop(key, None) is not None)

    @rule(name=NAMES)
    def get(self, name: str) -> None:
        key = make_entry(name).key
        assert self.store.get(key) == self.model.get(key)

    @rule(seconds=st.integers(-50, 200))
    def move_clock(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @invariant()
    def is_within_its_bounds(self) -> None:
        assert {entry.key: entry for entry in self.store.scan()} == self.model
        assert len(self.store) == len(self.model) <= 5
        expected = sum(entry.size_bytes for entry in self.model.values())
        assert self.store.size_bytes == expected <= MAX_BYTES


class Shared(RuleBasedStateMachine):
    """Two tiered stores on one directory, restarted at will, against one dict.

    What a write reported as dropped is gone from the dict; what the other one wrote is followed
    by its journal alone: a copy made of the changes must equal the dict.
    """

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.model: dict[bytes, Entry] = {}
        self.epochs: dict[str, int] = {}
        self.stores = [self.open_one(), self.open_one()]
        self.copies: list[dict[bytes, Entry]] = [{}, {}]

    def open_one(self) -> TieredStore:
        disk = DiskStore(
            Path(self.folder.name) / "cache",
            clock=self.clock,
            max_bytes=MAX_BYTES,
            timeout_seconds=5.0,
        )
        memory = MemoryStore(max_entries=2, max_bytes=MAX_BYTES, clock=self.clock)
        return TieredStore(memory, disk)

    def teardown(self) -> None:
        for store in getattr(self, "stores", []):
            store.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule(
        which=st.integers(0, 1),
        names=st.lists(NAMES, min_size=1, max_size=3),
        answer=ANSWERS,
        lifetime=LIFETIMES,
        pinned=st.booleans(),
    )
    def put(
        self, which: int, names: list[str], answer: str, lifetime: int | None, pinned: bool
    ) -> None:
        expires_at = None if lifetime is None else self.clock() + lifetime
        entries = [
            make_entry(name, answer=answer, expires_at=expires_at, pinned=pinned) for name in names
        ]
        self.model |= {entry.key: entry for entry in entries}
        self.copies[which] |= {entry.key: entry for entry in entries}
        for key in self.stores[which].put(entries):
            del self.model[key]
            self.copies[which].pop(key, None)

    @rule(which=st.integers(0, 1), name=NAMES)
    def put_later(self, which: int, name: str) -> None:
        store, entry = self.stores[which], make_entry(name, answer="later")
        store.put_later(entry)
        store.flush()
        # Evictions are told to on_drop by whichever thread wrote: here the store is asked instead.
        self.model[entry.key] = entry
        kept = {found.key for found in store.scan()}
        self.model = {key: value for key, value in self.model.items() if key in kept}
        self.copies[which] |= {entry.key: entry}
        self.copies[which] = {k: v for k, v in self.copies[which].items() if k in kept}

    @rule(which=st.integers(0, 1), name=NAMES)
    def amend(self, which: int, name: str) -> None:
        """Whatever the store knew of the other one's writes, nothing comes back or changes hands.

        Two writes of one id are taken for one: the amended may be the older.
        """
        store, key = self.stores[which], make_entry(name).key
        store.amend(key, lambda held: replace(held, saved_cost=held.saved_cost + 1.0))
        store.flush()
        kept = {found.key: found for found in store.scan()}
        assert kept.keys() <= self.model.keys()
        for place, found in kept.items():
            assert found.entry_id == self.model[place].entry_id
            assert place == key or found == self.model[place]
        self.model = kept
        self.copies[which] = {k: v for k, v in self.copies[which].items() if k in kept}
        if key in kept:
            self.copies[which][key] = kept[key]

    @rule(which=st.integers(0, 1), name=NAMES)
    def delete(self, which: int, name: str) -> None:
        key = make_entry(name).key
        deleted = self.stores[which].delete([key])
        assert deleted == (self.model.pop(key, None) is not None)
        self.copies[which].pop(key, None)

    @rule(which=st.integers(0, 1), name=NAMES)
    def get(self, which: int, name: str) -> None:
        key = make_entry(name).key
        self.follow(which)
        assert self.stores[which].get(key) == self.model.get(key)

    @rule(which=st.integers(0, 1), tag=st.sampled_from(["kb", "", "\ud800"]))
    def move_epoch(self, which: int, tag: str) -> None:
        disk = self.stores[which]._disk
        assert disk is not None
        self.epochs[tag] = self.epochs.get(tag, 0) + 1
        assert disk.move_epoch(tag) == self.epochs[tag]
        assert disk.epochs() == self.epochs

    @rule(which=st.integers(0, 1), keep_rows=st.integers(0, 3))
    def trim(self, which: int, keep_rows: int) -> None:
        disk = self.stores[which]._disk
        assert disk is not None
        trim_journal(disk, keep_rows)

    @rule(which=st.integers(0, 1))
    def restart(self, which: int) -> None:
        self.stores[which].close()
        self.stores[which] = self.open_one()
        self.copies[which] = {entry.key: entry for entry in self.stores[which].scan()}

    @rule(seconds=st.integers(-50, 200))
    def move_clock(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(which=st.integers(0, 1))
    def follow(self, which: int) -> None:
        store, copy = self.stores[which], self.copies[which]
        changes = store.catch_up()
        if isinstance(changes, Resync):
            copy = {entry.key: entry for entry in store.scan()}
        else:
            for change in changes:
                found = store.get(change.key)
                if change.op is Op.DELETE or found is None:
                    copy.pop(change.key, None)
                elif change.op is Op.PUT:
                    copy[change.key] = found
        self.copies[which] = copy
        assert not store.changed()
        assert copy == self.model

    @invariant()
    def is_within_its_bound(self) -> None:
        for store in getattr(self, "stores", []):
            disk = store._disk
            assert disk is not None
            assert disk.size_bytes <= MAX_BYTES
            assert {entry.key: entry for entry in store.scan()} == self.model
            assert len(store) == len(self.model)


TestBounded = Bounded.TestCase
TestBounded.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestShared = Shared.TestCase
TestShared.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
