"""What is kept: one stored answer with its request, provenance, expiry and cost.

An entry is a value: frozen, plain, comparable. It decides whether it is alive at a given moment and
nothing else; how it becomes bytes is `store.codec`'s, how its value becomes bytes is `value`'s.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = ["CLOCK_SKEW_SECONDS", "Entry", "new_entry_id"]

CLOCK_SKEW_SECONDS = 60.0
"""An entry from further in the future than this was written before the clock was set back."""

RENEWAL_STEP = 0.1
"""Share of its lifetime that a renewal must add, so that no hit but one in a tenth is written down.
Hits in between change nothing: an entry lives on for nine tenths of its lifetime at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One stored answer.

    `key` is the 16-byte digest of scope and text: there is one entry a key, a later one replaces
    it. `entry_id` names this very write. `payload` is the encoded value. `vectors` holds float32
    bytes of shape (windows, dimension), empty when the text has not been embedded; `embedder` is
    the fingerprint of what made them. `epochs` are the counters the answer depends on, as they
    stood when its call began. Times are seconds of wall clock.
    """

    key: bytes
    entry_id: str
    scope: bytes
    namespace: str
    model: str | None
    text: str
    payload: bytes
    created_at: float
    expires_at: float | None
    epochs: Mapping[str, int] = field(default_factory=dict)
    exact_only: bool = False
    gate: str = ""
    """Fingerprint of the dynamic rules that let the text in; an exact hit need not run them."""
    embedder: str = ""
    windows: int = 0
    vectors: bytes = b""
    stream: bool = False
    pinned: bool = False
    source: str = "call"
    saved_seconds: float = 0.0
    saved_cost: float = 0.0
    lifetime_seconds: float = 0.0
    """How long the entry lives from a hit that renews it."""
    renewable_until: float | None = None
    """No hit makes the entry live past this moment; None: no hit renews it."""

    def is_live(self, now: float, *, grace_seconds: float = 0.0) -> bool:
        """Say whether the entry may be served at `now`, or within the grace after its expiry."""
        if now < self.created_at - CLOCK_SKEW_SECONDS:
            return self.expires_at is None
        return self.expires_at is None or now < self.expires_at + grace_seconds

    def renewed(self, now: float) -> Entry | None:
        """Give the entry as a hit at `now` leaves it, or None if the hit changes nothing.

        >>> entry = Entry(key=bytes(16), entry_id="a", scope=b"s", namespace="default", model=None,
        ...               text="hi", payload=b"hello", created_at=0.0, expires_at=10.0,
        ...               lifetime_seconds=10.0, renewable_until=25.0)
        >>> [renewed.expires_at for now in (0.5, 9.0) if (renewed := entry.renewed(now))]
        [19.0]
        """
        cap, end = self.renewable_until, self.expires_at
        if cap is None or end is None or not self.is_live(now):
            return None
        wanted = min(now + self.lifetime_seconds, cap)
        step = min(RENEWAL_STEP * self.lifetime_seconds, cap - end)
        return replace(self, expires_at=wanted) if wanted > end and wanted >= end + step else None

    @property
    def size_bytes(self) -> int:
        """Roughly what the entry takes, in bytes: payload, text, vectors and tags, and a header."""
        tags = sum(map(len, self.epochs)) + 24 * len(self.epochs)
        return len(self.payload) + 4 * (len(self.text) + tags) + len(self.vectors) + 512


def new_entry_id(key: bytes) -> str:
    """Name one write of one key: the key in hex, a dash and eight random hex digits.

    >>> new_entry_id(bytes(16))[:33]
    '00000000000000000000000000000000-'
    """
    return f"{key.hex()}-{secrets.token_hex(4)}"
