"""Checks of what a user passes, each naming the argument, the value and the remedy.

They look at one value and give it back, checked; none of them changes what a value means.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from semcache.errors import ArgumentError

__all__ = [
    "check_callable",
    "check_flag",
    "check_folder",
    "check_items",
    "check_kind",
    "check_known",
    "check_wait",
    "is_number",
]

T = TypeVar("T")


def check_kind(argument: str, value: object, kind: type[T], remedy: str) -> T:
    """Give a value that is an instance of a class."""
    if not isinstance(value, kind):
        raise ArgumentError(argument, value, remedy)
    return value


def is_number(value: object) -> TypeGuard[int | float]:
    """Say whether a value is a number; True and False are none.

    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_callable(argument: str, value: object) -> None:
    """See that a value is a callable or left out."""
    if value is not None and not callable(value):
        raise ArgumentError(argument, value, "pass a callable, or leave it out")


def check_flag(argument: str, value: object, *, or_none: bool = False) -> None:
    """See that a value is True or False."""
    if not isinstance(value, bool) and not (or_none and value is None):
        choice = "True, False or None" if or_none else "True or False"
        raise ArgumentError(argument, value, f"pass {choice}")


def check_items(argument: str, value: object, remedy: str) -> tuple[Any, ...]:
    """Give the items of an iterable; a text is one item, not as many as it has letters."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ArgumentError(argument, value, remedy)
    return tuple(value)


def check_folder(argument: str, value: object) -> Path:
    """Give a path that a system could hold; an empty one is no name of the current folder.

    >>> check_folder("directory", "cache").name
    'cache'
    """
    try:
        path = os.fspath(value)  # type: ignore[call-overload]  # anything may come
        if not isinstance(path, str) or not path.strip() or b"\0" in os.fsencode(path):
            raise ValueError(path)
        return Path(path).expanduser()
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: no such home
        raise ArgumentError(argument, value, 'pass a path, such as "~/.cache/app"') from error


def check_wait(argument: str, value: object) -> None:
    """See that a value is a number of seconds to wait, 0 or more, or None."""
    if value is None:
        return
    if not is_number(value) or math.isnan(value) or value < 0:
        raise ArgumentError(argument, value, "pass 0 or more seconds, or None")


def check_known(given: Mapping[str, object], known: Collection[str], of: str) -> None:
    """See that each option is known: a slip of the keyboard is not ignored.

    >>> check_known({"ttl": 5}, ["model", "ttl_seconds"], "cached")
    Traceback (most recent call last):
    semcache.errors.ArgumentError: ttl=5: unknown, cached takes ['model', 'ttl_seconds']
    """
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(name, value, f"unknown, {of} takes {sorted(known)}")
