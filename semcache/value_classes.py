"""The forms of instances: which classes may be stored, how one is found again and rebuilt.

Decides what a stored record may name: only a class that a loaded module defines at its top or in a
class, that is a dataclass, pydantic model, Enum or namedtuple, has no `__del__` and has the fields
it had; anything else must be registered. Must never import a module, call a constructor or run a
validator because a record says so: fields are put in place with `object.__setattr__`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import re
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from semcache.errors import ValueFormError
from semcache.value_forms import Plain, ReadForm, WriteForm, Writer, write_scalar

__all__ = ["READERS", "Registered", "class_name", "registered", "writer_of"]


@dataclasses.dataclass(frozen=True, slots=True)
class Registered:
    """A class with the two functions that take its instances apart and put them together."""

    cls: type
    to_plain: Callable[[Any], object]
    from_plain: Callable[[Any], object]


registered: dict[str, Registered] = {}
_shapes: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()


def writer_of(value: object) -> WriteForm:
    """Return the writer for an instance of a class, or refuse it with the remedy."""
    cls = type(value)
    entry = registered.get(class_name(cls))
    if entry is not None and entry.cls is cls:
        return _write_registered
    if issubclass(cls, np.generic):
        return write_scalar
    for kind, write in _KINDS:
        if kind(cls):
            if _find(class_name(cls)) is not cls or hasattr(cls, "__del__"):
                break
            return write
    raise ValueFormError(
        f"a value of type {class_name(cls)} cannot be stored: return plain data, define the "
        "class at the top of a module as a dataclass, model or Enum, or register it with "
        "semcache.value.register"
    )


def class_name(cls: type) -> str:
    """Return the name that records know a class by: its module, a colon, its qualified name."""
    return f"{cls.__module__}:{cls.__qualname__}"


def _find(name: str) -> type | None:
    """Return the class of that name if a loaded module defines it.

    Only dictionaries are read: a module's `__getattr__` or lazy loader would run code.
    """
    module, _, qualname = name.partition(":")
    try:
        space = object.__getattribute__(sys.modules[module], "__dict__")
    except (KeyError, AttributeError):
        return None
    found = space.get(qualname)  # the name of a generic model may have dots inside its brackets
    for part in qualname.split(".") if found is None else ():
        found = space.get(part)
        space = vars(found) if isinstance(found, type) else {}
    return found if isinstance(found, type) and class_name(found) == name else None


def _known(name: object, kind: Callable[[type], bool]) -> Any:
    """Return the class that a record names, or refuse it."""
    cls = _find(name) if isinstance(name, str) else None
    if cls is None or not kind(cls) or hasattr(cls, "__del__"):
        raise ValueFormError(
            f"a stored value is of class {name!r}, which is not imported here or not a kind that "
            "may be rebuilt: import its module first, or register it"
        )
    return cls


def _same_shape(cls: type, shape: object) -> None:
    if _shape(cls) != shape:
        raise ValueFormError(f"the fields of {class_name(cls)} changed since a value was stored")


def _shape(cls: type) -> str:
    """Return a digest of the fields of a class and of their types as its source states them."""
    shape = _shapes.get(cls)
    if shape is None:
        stated = [inspect.get_annotations(base) for base in reversed(cls.__mro__)]
        # A default inside Annotated may print its address, which changes from run to run.
        text = re.sub(r"0x[0-9a-fA-F]+", "", repr([getattr(cls, "_fields", ()), stated]))
        shape = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        _shapes[cls] = shape
    return shape


def _write_registered(value: Any, writer: Writer) -> Plain:
    name = class_name(type(value))
    try:
        plain = registered[name].to_plain(value)
    except Exception as error:
        raise ValueFormError(f"to_plain of {name} failed with {error!r}: mend it") from error
    return {"registered": [name, writer.plain(plain)]}


def _read_registered(body: Any) -> Any:
    name, plain = body
    entry = registered.get(name)
    if entry is None:
        raise ValueFormError(f"a stored value is of class {name!r}: register it before reading")
    return entry.from_plain(plain)


def _is_plain_class(cls: type) -> bool:
    """Say whether every base is written in Python: a built-in base keeps state of its own."""
    heap_type = 1 << 9
    return all(base.__flags__ & heap_type for base in cls.__mro__[:-1])


def _is_dataclass(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) and _is_plain_class(cls)


def _fields_of(cls: type, state: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the fields in `state`; a filled cached_property is left out, all else is refused."""
    fields = {name: state[name] for name in names if name in state}
    for name in state.keys() - fields.keys():
        if not isinstance(inspect.getattr_static(cls, name, None), functools.cached_property):
            raise ValueFormError(
                f"{class_name(cls)} carries {name!r}, which is not a field: register the class"
            )
    return fields


def _write_dataclass(value: Any, writer: Writer) -> Plain:
    cls = type(value)
    state: Any = object.__getstate__(value)
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    names = [field.name for field in dataclasses.fields(value)]
    fields = _fields_of(cls, {**(attributes or {}), **(slots or {})}, names)
    return {"dataclass": [class_name(cls), _shape(cls), writer.plain(fields)]}


def _read_dataclass(body: Any) -> Any:
    name, shape, fields = body
    cls = _known(name, _is_dataclass)
    _same_shape(cls, shape)
    value = object.__new__(cls)
    for field in dataclasses.fields(cls):
        if field.name in fields:
            object.__setattr__(value, field.name, fields[field.name])
    return value


def _model_root(cls: type) -> Any:
    """Return pydantic's own base of a model class, None for other classes. Imports nothing."""
    base = getattr(sys.modules.get("pydantic.main"), "BaseModel", None)
    if base is None or not issubclass(cls, base) or not hasattr(base, "model_fields"):
        return None
    root = getattr(sys.modules.get("pydantic.root_model"), "RootModel", base)
    return root if issubclass(cls, root) else base


def _is_model(cls: type) -> bool:
    return _model_root(cls) is not None


def _write_model(value: Any, writer: Writer) -> Plain:
    cls: Any = type(value)
    state = _model_root(cls).__getstate__(value)
    body = [
        _fields_of(cls, state["__dict__"], cls.model_fields),
        sorted(state["__pydantic_fields_set__"]),
        state.get("__pydantic_extra__"),
        state.get("__pydantic_private__"),
    ]
    return {"model": [class_name(cls), _shape(cls), writer.plain(body)]}


def _read_model(body: Any) -> Any:
    name, shape, (fields, fields_set, extra, private) = body
    cls = _known(name, _is_model)
    _same_shape(cls, shape)
    state = {
        "__dict__": fields,
        "__pydantic_fields_set__": set(fields_set),
        "__pydantic_extra__": extra,
        "__pydantic_private__": private,
    }
    value = object.__new__(cls)
    _model_root(cls).__setstate__(value, state)
    return value


def _is_enum(cls: type) -> bool:
    return issubclass(cls, enum.Enum)


def _write_enum(value: Any, writer: Writer) -> Plain:
    if type(value).__members__.get(value.name) is not value:
        raise ValueFormError(f"{value!r} has no name of its own: return its value instead")
    return {"enum": [class_name(type(value)), value.name]}


def _read_enum(body: Any) -> Any:
    name, member = body
    return _known(name, _is_enum).__members__[member]


def _is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def _write_namedtuple(value: Any, writer: Writer) -> Plain:
    if getattr(value, "__dict__", None):
        raise ValueFormError(f"{class_name(type(value))} carries more than its fields: register it")
    return {"namedtuple": [class_name(type(value)), _shape(type(value)), writer.plains(value)]}


def _read_namedtuple(body: Any) -> Any:
    name, shape, values = body
    cls = _known(name, _is_namedtuple)
    _same_shape(cls, shape)
    return tuple.__new__(cls, values)


_KINDS: tuple[tuple[Callable[[type], bool], WriteForm], ...] = (
    (_is_enum, _write_enum),
    (_is_model, _write_model),
    (_is_dataclass, _write_dataclass),
    (_is_namedtuple, _write_namedtuple),
)

READERS: dict[str, ReadForm] = {
    "enum": _read_enum,
    "namedtuple": _read_namedtuple,
    "dataclass": _read_dataclass,
    "model": _read_model,
    "registered": _read_registered,
}
