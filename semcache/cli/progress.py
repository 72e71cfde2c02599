"""Progress bars on stderr, and only where somebody watches: never in a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Tell", "progress"]

Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: not known)."""


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Tell]:
    """Show bars for the length of the block; give the function that moves them."""
    if quiet or not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bars:
        known: dict[str, TaskID] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in known:
                known[what] = bars.add_task(what, total=total or None)
            bars.update(known[what], completed=done)

        yield tell


def _ignore(_what: str, _done: int, _total: int) -> None:
    pass
