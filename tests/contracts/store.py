"""What every Store must do, whatever it keeps entries in.

Subclass `StoreContract` and give the fixture `store`, with room for at least 100 small entries but
not for one whose payload is `TOO_LARGE_BYTES` long.
"""

from __future__ import annotations

import threading
from hashlib import blake2b
from typing import Any

from semcache.entry import Entry
from semcache.protocols import Store
from semcache.store import journal
from semcache.store.disk import DiskStore

TOO_LARGE_BYTES = 2_000_000


def make_entry(name: str, *, answer: str = "answer", **changes: Any) -> Entry:
    """Give the entry of one question; equal names give equal keys."""
    fields: dict[str, Any] = {
        "key": blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest(),
        "entry_id": f"{name}-{answer[:20]}",
        "scope": b"scope",
        "namespace": "default",
        "model": "m",
        "text": name,
        "payload": answer.encode(),
        "created_at": 1_700_000_000.0,
        "expires_at": None,
    }
    return Entry(**(fields | changes))


def trim_journal(store: DiskStore, keep_rows: int) -> int:
    """Trim a journal now, as it happens by itself after many writes; give how many rows went."""
    return store._database.write(lambda _, run: (journal.trim(run, keep_rows), []))


class StoreContract:
    """The contract: one test a promise."""

    def test_it_is_a_store(self, store: Store) -> None:
        """It has all the methods of the protocol."""
        assert isinstance(store, Store)

    def test_an_entry_comes_back_equal(self, store: Store) -> None:
        """Every field survives, odd text, bytes and times included."""
        entry = make_entry(
            "odd \ud800 \x00 多 \U0001f600",
            model=None,
            payload=bytes(range(256)),
            expires_at=1_700_000_000.123456789,
            epochs={"kb:\udfff": 3, "": 0},
            windows=2,
            vectors=b"\x00\x01" * 32,
            stream=True,
            pinned=True,
            exact_only=True,
            saved_cost=0.1,
        )

        dropped = store.put([entry])

        assert dropped == ()
        assert store.get(entry.key) == entry

    def test_an_absent_key_is_none(self, store: Store) -> None:
        """A key that was never put gives None, with and without company."""
        absent = make_entry("absent").key

        assert store.get(absent) is None
        store.put([make_entry("present")])
        assert store.get(absent) is None

    def test_a_later_entry_replaces_an_earlier_one(self, store: Store) -> None:
        """One entry a key, across puts and inside one put."""
        store.put([make_entry("q", answer="one")])
        store.put([make_entry("q", answer="two"), make_entry("q", answer="three")])

        found = store.get(make_entry("q").key)

        assert found == make_entry("q", answer="three")
        assert len(store) == 1
        assert [entry.payload for entry in store.scan()] == [b"three"]

    def test_delete_counts_what_was_there(self, store: Store) -> None:
        """Absent keys and repeated keys count for nothing."""
        store.put([make_entry("a"), make_entry("b")])
        a, absent = make_entry("a").key, make_entry("absent").key

        assert store.delete([a, a, absent]) == 1
        assert store.delete([a]) == 0
        assert store.delete([]) == 0
        assert store.get(a) is None
        assert len(store) == 1

    def test_scan_gives_everything_once(self, store: Store) -> None:
        """All entries, in any order, more of them than one batch."""
        entries = [make_entry(str(number)) for number in range(100)]

        store.put(entries)

        assert sorted(entry.text for entry in store.scan()) == sorted(e.text for e in entries)
        assert len(store) == 100

    def test_an_empty_store_is_still_a_store(self, store: Store) -> None:
        """Nothing to scan, length 0, and putting nothing is fine."""
        assert store.put([]) == ()
        assert len(store) == 0
        assert list(store.scan()) == []

    def test_expired_entries_are_returned(self, store: Store) -> None:
        """Expiry is the cache's decision, not the store's."""
        entry = make_entry("old", expires_at=1.0)

        store.put([entry])

        assert store.get(entry.key) == entry

    def test_an_entry_too_large_is_refused_alone(self, store: Store) -> None:
        """It is among the dropped keys, its older self goes too, all others stay."""
        others = [make_entry(str(number)) for number in range(20)]
        store.put([*others, make_entry("large", answer="small")])
        large = make_entry("large", answer="x" * TOO_LARGE_BYTES)

        dropped = store.put([large])

        assert dropped == (large.key,)
        assert store.get(large.key) is None
        assert all(store.get(entry.key) == entry for entry in others)

    def test_a_scan_survives_writes(self, store: Store) -> None:
        """Deleting and putting while scanning neither raises nor loses what was not touched."""
        store.put([make_entry(str(number)) for number in range(50)])

        seen = set()
        for entry in store.scan():
            seen.add(entry.text)
            store.delete([make_entry("7").key])
            store.put([make_entry("3", answer="again")])

        assert seen | {"7"} >= {str(number) for number in range(50)}

    def test_threads_share_it(self, store: Store) -> None:
        """Four threads put, get and delete at once; nobody sees another key's entry."""
        faults: list[object] = []

        def work(thread: int) -> None:
            try:
                for number in range(25):
                    entry = make_entry(f"{thread}-{number}")
                    store.put([entry])
                    faults.extend([entry] if store.get(entry.key) != entry else [])
                    if number % 2:
                        store.delete([entry.key])
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert not faults
        assert len(store) == 4 * 13
