"""Texts that are embedded behind the caller: none that is still stored is passed over."""

from __future__ import annotations

from dataclasses import replace

from semcache import SemanticCache
from tests.fakes import Far


def test_entries_that_went_meanwhile_do_not_end_the_queue() -> None:
    """A whole batch may have been deleted before its turn; what waits behind it has its own."""
    with SemanticCache(embedder=Far()) as cache:
        cache.put("How do magnets work?", "They align.")
        (entry,) = cache.entries()
        bare = replace(entry, windows=0, vectors=b"")
        cache.restore([bare])
        gone = [replace(bare, key=bytes([1] * 15 + [number])) for number in range(40)]

        cache._rooms.writer.backfill.embed_later([*gone, bare])
        cache.flush()

        assert [kept.windows for kept in cache.entries()] == [1]
