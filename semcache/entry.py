"""What is kept: one stored answer with its request, provenance, expiry and cost.

An entry is a value: frozen, plain, comparable. It decides whether it is alive at a given moment and
nothing else; how it becomes bytes is `store.codec`'s, how its value becomes bytes is `value`'s.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CLOCK_SKEW_SECONDS", "Entry", "new_entry_id"]

CLOCK_SKEW_SECONDS = 60.0
"""An entry from further in the future than this was written before the clock was set back."""


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

    def is_live(self, now: float, *, grace_seconds: float = 0.0) -> bool:
        """Say whether the entry may be served at `now`, or within the grace after its expiry."""
        if now < self.created_at - CLOCK_SKEW_SECONDS:
            return self.expires_at is None
        return self.expires_at is None or now < self.expires_at + grace_seconds

    @property
    def size_bytes(self) -> int:
        """Roughly what the entry takes, in bytes: its payload, text and vectors, and a header."""
        return len(self.payload) + 4 * len(self.text) + len(self.vectors) + 512


def new_entry_id(key: bytes) -> str:
    """Name one write of one key: the key in hex, a dash and eight random hex digits.

    >>> new_entry_id(bytes(16))[:33]
    '00000000000000000000000000000000-'
    """
    return f"{key.hex()}-{secrets.token_hex(4)}"
