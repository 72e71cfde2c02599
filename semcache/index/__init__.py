"""Finds the nearest stored vectors, inside one scope. It decides nothing about serving them."""

from __future__ import annotations

from semcache.index.faiss import FaissIndex
from semcache.index.lock import ReadWriteLock
from semcache.index.scoped import ScopedIndex

__all__ = ["FaissIndex", "ReadWriteLock", "ScopedIndex"]
