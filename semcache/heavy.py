"""Imports heavy packages when they are needed, and never half way when the process forks.

A child that is forked during an import finds the package half there, and its lock held by a thread
that the child does not have: it would wait for ever. So a fork waits for imports under way. Knows
nothing of what a package is for.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any, Literal, TypeAlias

__all__ = ["imported"]

Package: TypeAlias = Literal["datasketch", "faiss", "sentence_transformers"]

FORK_WAITS_SECONDS = 60.0
"""For one package; past that the fork goes on."""

_ready: dict[str, Any] = {}


class _Importing:
    """One lock a package, so that nobody waits for a package that another needs."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        # Reentrant, because what a package runs while it is imported may fork.
        names: tuple[Package, ...] = ("datasketch", "faiss", "sentence_transformers")
        self.locks = {name: threading.RLock() for name in names}
        self._resting: list[threading.RLock] = []

    def rest(self) -> None:
        locks = self.locks.values()
        self._resting = [lock for lock in locks if lock.acquire(timeout=FORK_WAITS_SECONDS)]

    def go_on(self) -> None:
        for lock in self._resting:
            lock.release()


_importing = _Importing()


def imported(name: Package) -> Any:
    """Give a package, imported by whoever asks first. Raises ImportError where it is missing.

    >>> imported("faiss").__name__
    'faiss'
    """
    package = _ready.get(name)
    if package is None:
        with _importing.locks[name]:
            package = _ready[name] = importlib.import_module(name)
    return package


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_importing.rest,
        after_in_parent=_importing.go_on,
        after_in_child=_importing.renew,
    )
