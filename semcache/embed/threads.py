"""How many threads torch may use here, without a say in how many it uses elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["calm_threads", "threads_for"]

_WORTH_MORE_THREADS = 8


@contextmanager
def threads_for(texts: int) -> Iterator[None]:
    """Run a small batch on one torch thread; torch keeps the setting for each thread apart.

    A text or two gain nothing from more, and on a busy machine threads that spin while they wait
    for each other took 50 ms, and up to 800 ms, where one takes 10.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1 if texts < _WORTH_MORE_THREADS else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def calm_threads() -> None:
    """Keep a forked child to one torch thread: the others of the parent's pool are not there."""
    import torch

    torch.set_num_threads(1)
