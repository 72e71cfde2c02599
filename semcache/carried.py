"""What a function carries along beside its arguments: name, code, what is bound in or closed over.

Two functions of one name that carry different things give different answers, so this counts in the
scope. Globals do not count. What is closed over and has no stable form, such as a client with a
connection, counts by its class and its settings as they stood when it was first carried: not by
what happens to it later, so that a client that counts its calls goes on hitting. Nothing here calls
the function or looks anything up.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from semcache.canonical import canonical_bytes, digest
from semcache.canonical_objects import (
    attributes_of,
    class_name,
    code_of,
    lent_to,
    module_name,
)

__all__ = ["bound_in", "closed_over", "is_stream", "name_of", "runs_as"]

DEPTH = 3
"""How far into objects without a stable form settings are looked for: a client, its transport."""


def name_of(function: Callable[..., Any]) -> str:
    """Give the import path of a function; of its class for a callable object.

    >>> name_of(functools.partial(len))
    'builtins.len'
    """
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__qualname__"):
        return class_name(type(function))
    return f"{module_name(function.__module__)}.{function.__qualname__}"


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
        return [function]
    return [name_of(function), attributes_of(function), lent_to(function)]


def closed_over(function: Any) -> bytes:
    """Give the digest of a function's code and of what it closes over now.

    Its name does not say which function it is: another may have borrowed it, as wrappers do, or
    taken its place. Empty for what has no code to be read.
    """
    form = _closure(function, frozenset())
    return digest(form) if form else form


def _closure(function: Any, seen: frozenset[int]) -> bytes:
    while not hasattr(function, "__code__"):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function := type(function).__call__, types.WrapperDescriptorType):
            return b""
    seen |= {id(function)}
    held = [_cell(cell, seen) for cell in getattr(function, "__closure__", None) or ()]
    return canonical_bytes([code_of(function.__code__), held])


def _cell(cell: types.CellType, seen: frozenset[int]) -> bytes:
    try:
        return _held(cell.cell_contents, seen, DEPTH)
    except ValueError:  # not assigned yet: most often the function's own name
        return b""


def _held(value: Any, seen: frozenset[int], depth: int) -> bytes:
    """Give the form of a value, of its settings where it has none."""
    if isinstance(value, _CODE) or not callable(value):
        try:
            return canonical_bytes(value)
        except Exception:  # whatever keeps it from having a form, it has settings
            return _first_settings(value, seen, depth)
    return _first_settings(value, seen, depth)


def _first_settings(value: Any, seen: frozenset[int], depth: int) -> bytes:
    """Give the settings of an object as they stood when it was first carried."""
    known = _known.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    form = digest(_settings(value, seen, depth))
    if depth == DEPTH and not isinstance(value, _CODE):
        try:
            reference = weakref.ref(value, functools.partial(_forget, id(value)))
        except TypeError:  # nothing tells when it is gone, and its place taken by another
            return form
        _known[id(value)] = reference, form
    return form


def _settings(value: Any, seen: frozenset[int], depth: int) -> bytes:
    name = canonical_bytes(class_name(type(value)))
    if id(value) in seen or depth == 0:
        return name
    seen |= {id(value)}
    if isinstance(value, types.FunctionType):
        return name + _closure(value, seen)
    try:
        parts = list(_parts(value))
    except Exception:  # the object's own code: it breaks no function that holds the object
        return name
    forms = [[_held(key, seen, depth - 1), _held(part, seen, depth - 1)] for key, part in parts]
    return name + canonical_bytes(sorted(forms))


def _parts(value: Any) -> Iterable[tuple[object, object]]:
    """Give what an object without a form is made of, by name."""
    if isinstance(value, functools.partial):
        return enumerate([value.func, value.args, value.keywords])
    if isinstance(value, types.MethodType):
        return enumerate([value.__func__, value.__self__])
    if isinstance(value, type):
        return [item for item in vars(value).items() if not item[0].startswith("__")]
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, Set):
        return [(item, None) for item in value]
    if hasattr(value, "__wrapped__"):
        return [("", value.__wrapped__)]
    return attributes_of(value).items()


def _forget(address: int, reference: weakref.ref[Any]) -> None:
    known = _known.get(address)
    if known is not None and known[0] is reference:
        del _known[address]


_CODE = (types.FunctionType, types.MethodType, functools.partial, type, types.BuiltinFunctionType)
_known: dict[int, tuple[weakref.ref[Any], bytes]] = {}
"""Objects alive that were carried, by address: only ever asked together with who lives there."""
