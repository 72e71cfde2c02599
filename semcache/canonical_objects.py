"""What of an object counts when it is an argument: its class and its settings, read now.

An instance counts by its class, its attributes and the data that its class lends it; a function by
its name, signature, code and what it closes over; a class by its name, what it declares and its
data; an image by what it shows. Where that does not say what the object is, because its state is
hidden or absent or its name is shared by others, ValueFormError is raised. What a class or a
signature merely carries along counts by its type where it has no form.
Nothing here makes bytes, and nothing is remembered.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import dis
import enum
import functools
import itertools
import os
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

from semcache.errors import ValueFormError

__all__ = [
    "Lenient",
    "attributes_of",
    "class_name",
    "code_of",
    "describe",
    "lent_to",
    "module_name",
    "zone_of",
]

_CPYTHON_HEAP_TYPE = 1 << 9
_MAIN = ("__main__", "__mp_main__")
_PLAIN_DATA = (
    str,
    bytes,
    int,
    float,
    complex,
    types.NoneType,
    list,
    tuple,
    dict,
    set,
    frozenset,
    type,
)
_NAMED = (types.MethodDescriptorType, types.WrapperDescriptorType)


@dataclasses.dataclass(frozen=True, slots=True)
class Lenient:
    """Values that count by form where they have one, and by type where they have none."""

    values: Mapping[Any, object]


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
    if _is_image(value):
        return _image(value)
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


def lent_to(value: object) -> Lenient:
    """Give the data that a class lends an instance: what it has no attribute of its own for."""
    own = attributes_of(value)
    return Lenient({k: v for k, v in _data_of(type(value)).items() if k not in own})


def _data_of(kind: type) -> dict[str, object]:
    """Give a class's plain data as it stands: no descriptors, such as methods, and no counters.

    An object at work on a class, such as a client, counts its own calls: it is no setting.
    """
    counters = _counters_of(kind)
    return {
        name: value
        for base in reversed(kind.__mro__)
        if base.__flags__ & _CPYTHON_HEAP_TYPE
        for name, value in vars(base).items()
        if not (name.startswith("__") or name in counters or hasattr(type(value), "__get__"))
        and isinstance(value, _PLAIN_DATA)
    }


@functools.lru_cache(maxsize=1024)
def _counters_of(kind: type) -> frozenset[str]:
    """Give the attributes that a method both reads and assigns, as one that counts its calls."""
    found: set[str] = set()
    for member in itertools.chain.from_iterable(vars(base).values() for base in kind.__mro__):
        code = getattr(getattr(member, "__func__", member), "__code__", None)
        if isinstance(code, types.CodeType):
            steps = list(dis.get_instructions(code))
            read = {step.argval for step in steps if step.opname == "LOAD_ATTR"}
            found |= {step.argval for step in steps if step.opname == "STORE_ATTR"} & read
    return frozenset(found)


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
    declared = {name: _annotation(hint) for name, hint in _hints_of(value).items()}
    required = getattr(value, "__required_keys__", None)
    written = None if (value.__doc__ or "").startswith(f"{value.__name__}(") else value.__doc__
    fields = {
        field.name: Lenient({"default": field.default, "metadata": field.metadata})
        for field in getattr(value, "__dataclass_fields__", {}).values()
    }
    carried = [Lenient(part) for part in (declared, fields, _data_of(value))]
    return class_name(value), [required, written, carried]


def _hints_of(kind: type) -> dict[str, object]:
    """Give what a class declares, read where it is a schema."""
    if _is_schema(kind):
        try:
            return typing.get_type_hints(kind, include_extras=True)
        except Exception:  # a name that only a type checker knows: the hints count as written
            pass
    declared: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        declared |= vars(base).get("__annotations__", {})
    return declared


def _is_schema(kind: type) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return dataclasses.is_dataclass(kind) or typing.is_typeddict(kind) or named


def _annotation(value: object) -> object:
    """Give an annotation in a form that holds no address; only schemas are followed further."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, type) and typing.get_origin(value) is None:
        declares = _is_schema(value) or issubclass(value, enum.Enum)
        return value if declares or hasattr(value, "model_json_schema") else [class_name(value)]
    return [str(typing.get_origin(value)), [_annotation(item) for item in typing.get_args(value)]]


def _function(value: types.FunctionType) -> tuple[str, object]:
    if "<" in value.__qualname__:
        raise _no_form(value, "a lambda or a function inside another")
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    name = f"{module_name(value.__module__)}.{value.__qualname__}"
    hints = {name: _annotation(hint) for name, hint in value.__annotations__.items()}
    defaults = dict(enumerate(value.__defaults__ or ())) | (value.__kwdefaults__ or {})
    return name, [code_of(value.__code__), cells, Lenient(hints), Lenient(defaults)]


def _is_image(value: object) -> bool:
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def _image(value: Any) -> tuple[str, object]:
    if getattr(value, "n_frames", 1) > 1:
        raise _no_form(value, "an image of several frames")
    shown = [value.mode, value.size, value.getpalette(None), value.tobytes()]
    return "image", [shown, Lenient(value.info)]


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
        return class_name(kind), [attributes, lent_to(value)]
    if hasattr(kind, "model_fields") and hasattr(value, "model_dump"):
        return class_name(kind), [_model(value), lent_to(value)]
    plain = all(base is object or base.__flags__ & _CPYTHON_HEAP_TYPE for base in kind.__mro__)
    if not plain or not attributes:
        raise _no_form(value, f"a value of type {class_name(kind)}")
    return class_name(kind), [attributes, lent_to(value)]


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
