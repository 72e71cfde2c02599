"""An answer on its way in, and how it is to be kept. It stores nothing and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from semcache.admit.wire import sent
from semcache.config import USE_DEFAULT, UseDefault
from semcache.errors import ValueFormError
from semcache.value import decode, encode

__all__ = ["Draft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer on its way in, and how it is to be kept."""

    value: object
    chunks: Sequence[object] | None = None
    """The parts of a stream; `value` counts for nothing then."""
    payload: bytes | None = None
    """The encoded answer, where the caller has it already."""
    cache_if: Callable[[Any], bool] | None = None
    is_complete: Callable[[list[Any]], bool] | None = None
    ttl_seconds: float | timedelta | UseDefault | None = USE_DEFAULT
    renew_up_to_seconds: float | timedelta | UseDefault | None = USE_DEFAULT
    source: str = "call"
    pinned: bool = False
    saved_seconds: float = 0.0
    cost: float | Callable[[Any], float] = 0.0
    """What the call cost, or how to read it off the answer."""

    @property
    def shown(self) -> Any:
        """What the user's rules are asked about."""
        return self.value if self.chunks is None else self.chunks

    @property
    def told(self) -> Any:
        """What it says, where it is still text from the wire; else what is shown."""
        wire = sent([self.value] if self.chunks is None else self.chunks)
        return self.shown if wire is None else wire.objects

    def apart(self) -> Draft:
        """Give the draft with its bytes, and a copy of what they hold for the rules to read.

        The caller's own object is never shown to a rule, which might change it. What has no
        storable form stays as it is: it may still be refused for a better reason.
        """
        if self.payload is not None:
            return self
        with suppress(ValueFormError):
            payload = encode(self.shown)
            name = "value" if self.chunks is None else "chunks"
            return replace(self, payload=payload, **{name: decode(payload)})
        return self
