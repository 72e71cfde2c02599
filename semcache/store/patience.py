"""How long whoever writes by hand waits for others who write: longer than a look-up may."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from semcache.errors import StoreTimeoutError

__all__ = ["PATIENCE_SECONDS", "patiently"]

T = TypeVar("T")

PATIENCE_SECONDS = 5.0


def patiently(write: Callable[[], T]) -> T:
    """Run a write, again while others are in its way, for five seconds at most.

    Each try waits for the store's own timeout, so this does not spin. A write that timed out has
    not happened.

    Raises:
        StoreTimeoutError: others were in the way all the time.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return write()
        except StoreTimeoutError:
            if time.monotonic() >= deadline:
                raise
