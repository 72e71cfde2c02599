"""What of an object counts when it is an argument: its class and its settings, read now.

An instance counts by its class and its attributes, a function by its name, its code and what it
closes over, a class by its name and what it declares. Where that does not say what the object is,
because its state is hidden or absent or its name is shared by others, ValueFormError is raised.
Nothing here makes bytes, and nothing is remembered.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import functools
import os
import sys
import types
import typing
from typing import Any

from semcache.errors import ValueFormError

__all__ = ["attributes_of", "class_name", "code_of", "describe", "module_name", "zone_of"]

_CPYTHON_HEAP_TYPE = 1 << 9
_MAIN = ("__main__", "__mp_main__")
_NAMED = (types.MethodDescriptorType, types.WrapperDescriptorType)


def module_name(name: str | None) -> str:
    """Name a module so that no other program has the same name for one of its own.

    `__main__` is the import name given to `python -m`, else the path of the script; a program that
    has neither, such as a notebook, is only `__main__`.

    >>> module_name("json")
    'json'
    """
    if name not in _MAIN:
        return name or ""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":
        return str(spec.name)
    path = getattr(main, "__file__", None)
    return "__main__" if path is None else f"__main__ {_resolved(path)}"


@functools.lru_cache(maxsize=16)
def _resolved(path: str) -> str:
    return os.path.realpath(path)


def class_name(kind: type) -> str:
    """Give the import path of a class."""
    return f"{module_name(kind.__module__)}.{kind.__qualname__}"


def describe(value: object) -> tuple[str, object]:
    """Give a tag and a plainer value that tell an object from all others.

    The tag is empty where the object is no more than that plainer value. Raises ValueFormError,
    naming the type, when it has no stable form.
    """
    kind = type(value)
    if kind is types.SimpleNamespace:
        return class_name(kind), attributes_of(value)
    if isinstance(value, collections.deque):
        return class_name(kind), [list(value), attributes_of(value)]
    if kind.__module__ == "numpy" and hasattr(value, "tobytes"):
        return _array(value)
    if typing.get_origin(value) is not None:
        origin = typing.get_origin(value)
        return "alias", [
            origin if isinstance(origin, type) else str(origin),
            typing.get_args(value),
        ]
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, functools.partial):
        return "partial", [value.func, value.args, value.keywords]
    if isinstance(value, types.MethodType):
        return "method", [value.__func__, value.__self__]
    return _named(value) or _instance(value)


def attributes_of(value: object) -> dict[str, object]:
    """Give the attributes that an object holds itself, those in slots too; nothing is computed.

    What a `cached_property` keeps is left out: it follows from the rest, and comes and goes.
    """
    kind = type(value)
    held = getattr(value, "__dict__", None)
    # An object may be its own dict of attributes, so that its keys can be written as such.
    attributes: dict[str, object] = dict(held) if held and held is not value else {}
    slots, computed = _members(kind)  # type: ignore[arg-type]  # a class can be hashed
    for name in computed:
        attributes.pop(name, None)
    for name, member in slots:
        try:
            attributes[name] = member.__get__(value, kind)
        except AttributeError:  # an empty slot
            continue
    return attributes


@functools.lru_cache(maxsize=1024)
def _members(kind: type) -> tuple[list[tuple[str, Any]], list[str]]:
    """Give the slots of a class, by names that no two of them share, and what it computes once."""
    slots: dict[str, Any] = {}
    computed = []
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            if isinstance(member, functools.cached_property):
                computed.append(name)
            elif isinstance(member, types.MemberDescriptorType):
                hides = name in slots  # a slot of that name further up, which holds on to its own
                slots[f"{class_name(base)}.{name}" if hides else name] = member
    return list(slots.items()), computed


def code_of(code: types.CodeType) -> list[object]:
    """Give what a function does, as far as its own code says: not its file, lines or globals."""
    constants = [
        code_of(constant) if isinstance(constant, types.CodeType) else _typed(constant)
        for constant in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return [code.co_code, code.co_flags, names, constants]


def _typed(constant: object) -> list[object]:
    """Tell 1 from 1.0, which are one number where they are arguments."""
    inner = [_typed(item) for item in constant] if isinstance(constant, tuple) else constant
    return [type(constant).__name__, inner]


def zone_of(moment: dt.datetime | dt.time) -> object:
    """Give what names a moment's time zone; its offset is told by the moment itself."""
    zone = moment.tzinfo
    if zone is None or isinstance(zone, dt.timezone):
        return None if zone is None else str(zone)
    named = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return named if isinstance(named, str) else [class_name(type(zone)), attributes_of(zone)]


def _array(value: Any) -> tuple[str, object]:
    if value.dtype.hasobject:
        raise ValueFormError("a numpy array of objects has no stable form: pass plain values")
    if value.shape == () and value.dtype.kind in "biufSU":
        return "", value.item()
    kind = value.dtype.str if value.dtype.names is None else repr(value.dtype)
    return "array", [kind, value.shape, value.tobytes()]


def _class(value: type) -> tuple[str, object]:
    """A class counts by its name and by what it declares, for it may be a schema."""
    if hasattr(value, "model_json_schema"):
        return class_name(value), value.model_json_schema()
    if "<" in value.__qualname__:
        raise _no_form(value, "a class inside a function")
    if issubclass(value, enum.Enum):
        return class_name(value), [[name, m.value] for name, m in value.__members__.items()]
    declared: dict[str, object] = {}
    for base in reversed(value.__mro__):
        declared |= vars(base).get("__annotations__", {})
    required = getattr(value, "__required_keys__", None)
    return class_name(value), [{k: _annotation(v) for k, v in declared.items()}, required]


def _annotation(value: object) -> object:
    """Give an annotation in a form that holds no address and is not followed any further."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, type) and typing.get_origin(value) is None:
        return [class_name(value)]
    return [str(typing.get_origin(value)), [_annotation(item) for item in typing.get_args(value)]]


def _function(value: types.FunctionType) -> tuple[str, object]:
    if "<" in value.__qualname__:
        raise _no_form(value, "a lambda or a function inside another")
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    name = f"{module_name(value.__module__)}.{value.__qualname__}"
    return name, [code_of(value.__code__), cells]


def _named(value: object) -> tuple[str, object] | None:
    """Give the import path of a built-in function or method that is bound to no object."""
    if isinstance(value, _NAMED):
        return "name", f"{class_name(value.__objclass__)}.{value.__name__}"
    if not isinstance(value, types.BuiltinFunctionType):
        return None
    owner = value.__self__
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return "method", [owner, value.__name__]
    return "name", [owner if isinstance(owner, type) else value.__module__, value.__qualname__]


def _instance(value: object) -> tuple[str, object]:
    """An instance of a plain Python class; one whose state is hidden or absent has no form."""
    kind = type(value)
    attributes = attributes_of(value)
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        attributes |= {name: getattr(value, name) for name in names if hasattr(value, name)}
        return class_name(kind), attributes
    if hasattr(kind, "model_fields") and hasattr(value, "model_dump"):
        return class_name(kind), _model(value)
    plain = all(base is object or base.__flags__ & _CPYTHON_HEAP_TYPE for base in kind.__mro__)
    if not plain or not attributes:
        raise _no_form(value, f"a value of type {class_name(kind)}")
    return class_name(kind), attributes


def _model(value: Any) -> object:
    """Give all fields of a model: those too that it leaves out of its dumps, and the private."""
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    private = getattr(value, "__pydantic_private__", None)
    extra = getattr(value, "model_extra", None)
    return [fields, extra or {}, private or {}]


def _no_form(value: object, what: str) -> ValueFormError:
    return ValueFormError(
        f"{what} has no stable form: pass plain values, give the class a __semcache_key__ method, "
        "or leave the argument out with ignore="
    )
