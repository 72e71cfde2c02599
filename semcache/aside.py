"""Threads of our own: those in which the async side looks up and stores, and those behind all.

An event loop's default threads belong to the caller, who may keep all of them busy, even with work
that waits for this very call. Decides nothing about a call.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

__all__ = ["run_aside", "run_behind"]

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 32


async def run_aside(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in one of our threads, in a copy of the caller's context.

    >>> asyncio.run(run_aside(divmod, 7, 2))
    (3, 1)
    """
    context = contextvars.copy_context()
    call = partial(context.run, function, *args, **kwargs)
    try:
        waiting = asyncio.get_running_loop().run_in_executor(_pool.get(), call)
    except RuntimeError:  # no more threads, or the interpreter is ending: a pause beats an error
        return call()
    return await waiting


def run_behind(function: Callable[[], None], name: str) -> threading.Thread | None:
    """Run a function in a daemon thread of its own; None if the process can start no more.

    >>> run_behind(threading.Event().set, "semcache-example").name
    'semcache-example'
    """
    thread = threading.Thread(target=function, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


class _Pool:
    """One executor a process, made when it is first needed."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh: the threads of a parent do not exist in its forked child."""
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    def get(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="semcache-call")
            return self._executor


_pool = _Pool()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
