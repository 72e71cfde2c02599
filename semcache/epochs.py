"""Versioned invalidation: named counters, and whether an answer's counters still stand.

An entry keeps the counters it depends on as they stood when its call began. Moving a counter kills
every entry that depends on it, in O(1), whatever is in flight. Where counters are kept is the
store's business; this room only compares. Counters of two databases never agree: one that was set
aside and begun anew counts from 1 again, and what an old answer knows must not come true once more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from semcache.canonical import plain_text

__all__ = ["Epochs", "is_reserved", "model_tag", "namespace_tag", "user_tags"]

_RESERVED = "\x00"
_MOST_MOVES = 2**32
"""By so much the counters of two databases lie apart."""


def namespace_tag(namespace: str) -> str:
    """Name the counter that every entry of a namespace depends on."""
    return f"{_RESERVED}namespace:{plain_text(namespace)}"


def model_tag(model: str | None) -> str:
    """Name the counter that every entry of a model depends on."""
    return f"{_RESERVED}no model" if model is None else f"{_RESERVED}model:{plain_text(model)}"


def is_reserved(tag: str) -> bool:
    """Say whether a tag is one of ours, which no user may name."""
    return tag.startswith(_RESERVED)


def user_tags(snapshot: Iterable[str]) -> list[str]:
    """Give the tags that a user named, without those of namespace and model.

    >>> user_tags({namespace_tag("default"): 0, "kb:pricing": 3})
    ['kb:pricing']
    """
    return [tag for tag in snapshot if not is_reserved(tag)]


class Epochs:
    """The counters as this process knows them. A counter that never moved is 0.

    >>> epochs = Epochs()
    >>> before = epochs.snapshot(["kb:pricing"])
    >>> epochs.set("kb:pricing", 1)
    >>> epochs.moved(before)
    'kb:pricing'
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first = 0
        self.reset_lock()

    def reset_lock(self) -> None:
        """Take a fresh lock: at birth, and in a forked child."""
        self._lock = threading.Lock()

    def snapshot(self, tags: Iterable[str]) -> dict[str, int]:
        """Give the counters of some tags as they stand now."""
        counts = self._counts
        return {tag: counts.get(tag, 0) for tag in tags}

    def moved(self, snapshot: Mapping[str, int]) -> str | None:
        """Give the first tag of a snapshot whose counter has moved since, or None."""
        counts = self._counts
        for tag, count in snapshot.items():
            if counts.get(tag, 0) != count:
                return tag
        return None

    def move(self, tag: str) -> int:
        """Move a counter that no store keeps; give its new value."""
        with self._lock:
            count = self._counts[tag] = self._counts.get(tag, 0) + 1
        return count

    def set(self, tag: str, count: int) -> None:
        """Take over a counter as the store has it; counters never move back."""
        with self._lock:
            self._counts[tag] = max(self._first + count, self._counts.get(tag, 0))

    def replace(self, counts: Mapping[str, int], database: int) -> None:
        """Take over all counters after the store was read again, whichever database it has now."""
        first = database * _MOST_MOVES
        with self._lock:
            known = self._counts if first == self._first else {}
            newest = {tag: max(first + n, known.get(tag, 0)) for tag, n in counts.items()}
            self._counts, self._first = {**known, **newest}, first
