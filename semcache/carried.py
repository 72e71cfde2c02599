"""What a function carries along beside its arguments: name, what is bound in, what it closes over.

Two functions of one name that carry different things give different answers, so this counts in the
scope. What a closure holds that has no stable form counts by its type only, as globals do not count
at all. Nothing here calls the function or looks anything up.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from semcache.canonical import canonical_bytes
from semcache.errors import ValueFormError

__all__ = ["bound_in", "closed_over", "is_stream", "name_of", "runs_as"]


def name_of(function: Callable[..., Any]) -> str:
    """Give the import path of a function; of its class for a callable object.

    >>> name_of(functools.partial(len))
    'builtins.len'
    """
    while isinstance(function, functools.partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def runs_as(is_kind: Callable[[object], bool], function: Callable[..., Any]) -> bool:
    """Say whether a callable is of a kind that `inspect` knows; an object goes by `__call__`."""
    if is_kind(function):
        return True
    while isinstance(function, functools.partial):
        function = function.func
    return not inspect.isroutine(function) and is_kind(type(function).__call__)


def is_stream(function: Callable[..., Any]) -> bool:
    """Say whether a callable is a generator function of either kind.

    >>> is_stream(functools.partial(iter, "abc"))
    False
    """
    kinds = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return any(runs_as(is_kind, function) for is_kind in kinds)


def bound_in(function: Any) -> object:
    """Give what is bound into a callable, to be read at each call; None for a plain function."""
    if isinstance(function, functools.partial):
        return [function.args, function.keywords, bound_in(function.func)]
    owner = getattr(function, "__self__", None)
    if owner is not None:
        return None if isinstance(owner, types.ModuleType) else [owner]
    if isinstance(function, type | types.FunctionType):
        return None
    if hasattr(function, "__wrapped__"):
        return bound_in(function.__wrapped__)
    if inspect.isroutine(function):
        return None
    if hasattr(type(function), "__semcache_key__") or not hasattr(function, "__dict__"):
        return function
    return [name_of(function), vars(function)]


def closed_over(function: Any) -> bytes:
    """Give the form of what a function closes over now, empty if that is nothing.

    A lambda has no name of its own: its code counts too.
    """
    return _closure(function, frozenset())


def _closure(function: Any, seen: frozenset[int]) -> bytes:
    while not hasattr(function, "__code__"):
        inner = getattr(function, "func", getattr(function, "__wrapped__", None))
        if inner is None:
            return b""
        function = inner
    cells = getattr(function, "__closure__", None) or ()
    seen |= {id(function)}
    held = [_held(cell, seen) for cell in cells]
    if "<lambda>" in function.__qualname__:
        held.append(canonical_bytes(_code(function.__code__)))
    return canonical_bytes(held) if held else b""


def _held(cell: types.CellType, seen: frozenset[int]) -> bytes:
    try:
        value = cell.cell_contents
    except ValueError:  # not assigned yet: most often the function's own name
        return b""
    try:
        return canonical_bytes(value)
    except ValueFormError:  # its type is all that can be said of it, as the door says
        inner = b"" if id(value) in seen or not callable(value) else _closure(value, seen)
        return canonical_bytes([type(value).__qualname__, inner])


def _code(code: types.CodeType) -> list[object]:
    constants = [_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return [code.co_code, code.co_names, constants]
