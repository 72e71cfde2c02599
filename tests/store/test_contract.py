"""The store contract, run on every store and every way to combine them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semcache.protocols import Store
from semcache.store.disk import DiskStore
from semcache.store.memory import MemoryStore
from semcache.store.tiered import TieredStore
from tests.contracts.store import StoreContract
from tests.fakes import Clock


def memory(max_entries: int = 1000) -> MemoryStore:
    return MemoryStore(max_entries=max_entries, max_bytes=1_000_000, clock=Clock())


def disk(path: Path) -> DiskStore:
    return DiskStore(path / "cache", clock=Clock(), max_bytes=1_000_000, timeout_seconds=5.0)


class TestMemoryStore(StoreContract):
    """Memory alone."""

    @pytest.fixture
    def store(self) -> Store:
        return memory()


class TestDiskStore(StoreContract):
    """Disk alone."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = disk(tmp_path)
        yield store
        store.close()


class TestTieredStore(StoreContract):
    """Memory over disk, the memory large enough for everything."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = TieredStore(memory(), disk(tmp_path))
        yield store
        store.close()


class TestTieredStoreWithLittleMemory(StoreContract):
    """Memory over disk, the memory so small that most look-ups reach the disk."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = TieredStore(memory(max_entries=3), disk(tmp_path))
        yield store
        store.close()


class TestTieredStoreWithoutDisk(StoreContract):
    """Memory alone, behind the same door."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        store = TieredStore(memory(), None)
        yield store
        store.close()
