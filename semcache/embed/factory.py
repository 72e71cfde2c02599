"""An embedder that is made when it is first needed: a class or function that takes no arguments.

What its making raises is a failed load, which the service turns into a reason. Nothing is decided.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from semcache.protocols import Embedder, Vectors

__all__ = ["FactoryEmbedder"]


class FactoryEmbedder:
    """An Embedder behind the callable that makes it.

    >>> FactoryEmbedder(lambda: 1 / 0, lambda made: made).loaded
    False
    """

    def __init__(self, factory: Callable[[], object], adapt: Callable[[object], Embedder]) -> None:
        self._factory = factory
        self._adapt = adapt
        self._made: Embedder | None = None
        self._making = threading.Lock()

    @property
    def loaded(self) -> bool:
        """Whether it was made, and is loaded where that is a step of its own."""
        made = self._made
        return made is not None and bool(getattr(made, "loaded", True))

    def load(self) -> None:
        """Make it, once, and load it. Raises what the factory raises."""
        with self._making:
            if self._made is None:
                self._made = self._adapt(self._factory())
        load = getattr(self._made, "load", None)
        if load is not None:
            load()

    @property
    def name(self) -> str:
        """The fingerprint of what was made."""
        return self._ready().name

    @property
    def dimension(self) -> int:
        """The width of its vectors."""
        return self._ready().dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dimension), rows of unit length."""
        return self._ready().embed(texts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._made is None:
            raise AttributeError(name)
        return getattr(self._made, name)

    def _ready(self) -> Embedder:
        if self._made is None:
            self.load()
        assert self._made is not None
        return self._made
