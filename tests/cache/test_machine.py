"""A state machine over the cache: whatever the order of events, bounds hold and indexes agree.

In memory, and on disk with restarts. The model beside it knows which answers may be served.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from semcache import Config, Hit, Refused, SemanticCache
from semcache.store.safe_disk import ROW_OVERHEAD_BYTES
from tests.fakes import Clock, Far

MAX_ENTRIES = 4
MAX_BYTES = 14_000
MAX_DISK_BYTES = 24_000
QUEUE_SIZE = 2
PERIODS = ("morning", "evening", "winter", "summer", "weekend", "holiday")
TEXTS = st.sampled_from(
    [
        *(f"Which ferries leave the old harbour on a {period}, by name?" for period in PERIODS),
        "How tall is a giraffe?",
        "...",
        "",
    ]
)
ANSWERS = st.sampled_from([10, 400, 6_000, 30_000])
"""How many characters an answer has: small, of a size that pushes others out, and too large."""
SPACES = st.sampled_from(["one", "two"])
LIFETIMES = st.none() | st.integers(1, 50)
TAGS = st.sampled_from(["kb", "terms"])


class CacheMachine(RuleBasedStateMachine):
    """One cache, in memory or on disk, and what is known of each answer given to it."""

    @initialize(on_disk=st.booleans())
    def open(self, on_disk: bool) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "c" if on_disk else None
        self.clock = Clock()
        self.answers = itertools.count()
        self.dead: set[str] = set()
        self.ends: dict[str, float | None] = {}
        self.depends: dict[str, tuple[str, str]] = {}
        self.newest: dict[tuple[str, str], str] = {}
        self.threads = len(own_threads())
        self.start()

    def start(self) -> None:
        self.cache = SemanticCache(
            self.path,
            embedder=Far(),
            clock=self.clock,
            config=Config(
                max_entries=MAX_ENTRIES,
                max_bytes=MAX_BYTES,
                max_disk_bytes=MAX_DISK_BYTES,
                queue_size=QUEUE_SIZE,
                dynamic_filter=False,
                store_timeout_seconds=30.0,
                embed_timeout_seconds=60.0,
            ),
        )
        self.ask = self.cached("one"), self.cached("two")

    def cached(self, space: str) -> object:
        """A function that stores by the way what the machine is about to answer."""

        @self.cache.cached(namespace=space, shared=True)
        def ask(prompt: str) -> str:
            return self.answer

        return ask

    def teardown(self) -> None:
        if hasattr(self, "cache"):
            self.cache.close()
            self.folder.cleanup()

    def note(self, space: str, text: str, tag: str, lifetime: float | None, size: int) -> str:
        """Make a new answer, and write down what kills it."""
        answer = f"{next(self.answers)}:".ljust(size, "x")
        self.answer = answer
        self.ends[answer] = None if lifetime is None else self.clock() + lifetime
        self.depends[answer] = (space, tag)
        return answer

    @rule(
        space=SPACES, text=TEXTS, tag=TAGS, size=ANSWERS, lifetime=LIFETIMES, pinned=st.booleans()
    )
    def put(
        self, space: str, text: str, tag: str, size: int, lifetime: int | None, pinned: bool
    ) -> None:
        answer = self.note(space, text, tag, lifetime, size)
        stored = self.cache.put(
            text, answer, namespace=space, depends_on=[tag], ttl_seconds=lifetime, pinned=pinned
        )
        if not isinstance(stored, Refused):
            self.newest[space, text] = answer

    @rule(space=SPACES, text=TEXTS, size=ANSWERS)
    def call(self, space: str, text: str, size: int) -> None:
        before = self.newest.get((space, text))
        answer = self.note(space, text, "", 3600, size)
        given = self.ask[space == "two"](text)  # type: ignore[operator]
        if given == answer:
            self.newest[space, text] = answer
        else:
            assert given == before
            self.check(given)

    @rule(space=SPACES, text=TEXTS, change=st.sampled_from(["", "case", "end"]))
    def lookup(self, space: str, text: str, change: str) -> None:
        asked = {"": text, "case": text.lower(), "end": text.rstrip("?")}[change]
        found = self.cache.lookup(asked, namespace=space)
        if isinstance(found, Hit):
            assert found.value == self.newest[space, text]
            self.check(found.value)

    def check(self, answer: str) -> None:
        """No answer is served that was killed, or is over."""
        end = self.ends[answer]
        assert answer not in self.dead
        assert end is None or self.clock() < end

    @rule(space=SPACES, text=TEXTS)
    def forget(self, space: str, text: str) -> None:
        found = self.cache.lookup(text, namespace=space)
        if isinstance(found, Hit):
            assert self.cache.forget(found)
            self.dead.add(found.value)

    @rule(space=SPACES, text=TEXTS)
    def remove(self, space: str, text: str) -> None:
        if self.cache.remove(text, namespace=space):
            self.dead.add(self.newest[space, text])

    @rule(tag=TAGS)
    def invalidate(self, tag: str) -> None:
        self.cache.invalidate(tag)
        self.dead |= {answer for answer, (_space, own) in self.depends.items() if own == tag}

    @rule(space=SPACES)
    def clear(self, space: str) -> None:
        self.cache.clear(space)
        self.dead |= {answer for answer, (own, _tag) in self.depends.items() if own == space}

    @rule(part=st.sampled_from(["ferries", "giraffe"]))
    def purge(self, part: str) -> None:
        self.cache.purge(lambda entry: part in entry.text)

    @rule()
    def restore(self) -> None:
        """Import what is there already, and more of it than there is room for."""
        kept = list(self.cache.entries())
        self.cache.restore(kept + [replace(entry, pinned=True) for entry in kept])

    @rule(seconds=st.integers(1, 60))
    def pass_time(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @precondition(lambda self: self.path is not None)
    @rule()
    def restart(self) -> None:
        self.cache.close()
        self.start()

    @invariant()
    def indexes_follow_the_store(self) -> None:
        """All that lives is findable, nothing else but the dead not met yet; parts agree."""
        if not hasattr(self, "cache"):
            return
        projections = self.cache._rooms.projections
        found = projections.keys()
        compared = {entry.key: entry for entry in self.cache.entries() if not entry.exact_only}
        assert found <= compared.keys()
        assert not [key for key in compared.keys() - found if self.cache.is_live(compared[key])]

        near = [index for index in projections._near.values() if len(index)]
        signed = [
            {key for key, text in index._texts.items() if text.signature is not None}
            for index in near
        ]
        buckets = [set() if index._lsh is None else set(index._lsh.keys) for index in near]
        assert sum(map(len, near)) == len(found)
        assert signed == buckets
        with_vectors = sum(compared[key].windows > 0 for key in found)
        assert sum(projections.spaces().values()) == with_vectors

    @invariant()
    def bounds_hold(self) -> None:
        """Entries, bytes, queues and threads: never more than the settings say."""
        if not hasattr(self, "cache"):
            return
        rooms = self.cache._rooms
        assert len(rooms.store._queue) <= QUEUE_SIZE
        assert len(rooms.projections._pending) <= QUEUE_SIZE
        assert len(rooms.writer.backfill._waiting) <= len(self.cache)
        rooms.writer.backfill.drain()  # it reads entries, which brings them into memory
        numbers = self.cache.stats().store
        sizes = [entry.size_bytes for entry in rooms.store._memory.scan()]
        assert numbers["memory_entries"] == len(sizes) <= MAX_ENTRIES
        assert numbers["memory_bytes"] == sum(sizes) <= MAX_BYTES
        assert numbers["disk_bytes"] <= MAX_DISK_BYTES
        # Caches of other tests may still be closing, and so may the one before a restart.
        assert len(own_threads()) - self.threads <= len(THREADS) * 2
        if self.path is None:
            assert len(self.cache) <= MAX_ENTRIES
        else:
            assert len(self.cache) * ROW_OVERHEAD_BYTES <= MAX_DISK_BYTES


THREADS = frozenset({"semcache-embed", "semcache-settle", "semcache-backfill", "semcache-writer"})


def own_threads() -> list[str]:
    """Name the threads that caches run behind their callers."""
    return [thread.name for thread in threading.enumerate() if thread.name in THREADS]


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
