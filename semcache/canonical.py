"""One form for one value: the bytes by which two arguments are the same argument.

Rules, all of them here:
  1. Every value is a type tag, a length and its content, so no two different values share bytes.
  2. 1 and 1.0 are one number; 1, "1" and True are three things; None is a value.
  3. A list and a tuple are one sequence, in order; a dict's and a set's order is irrelevant.
  4. Bytes, arrays and images count by content.
  5. A value with no stable form raises ValueFormError. A memory address is never used.
Nothing here knows what a prompt or a message is.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import hashlib
import math
import pathlib
import re
import struct
import sys
import types
import uuid
from collections.abc import Callable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

from semcache.errors import ValueFormError

__all__ = ["DIGEST_BYTES", "SCHEMA_VERSION", "canonical_bytes", "digest", "plain_text"]

SCHEMA_VERSION = b"semcache/1"
"""Keys every digest: a change of the rules above is a change of all keys."""

DIGEST_BYTES = 16
MAX_DEPTH = 100
_CPYTHON_HEAP_TYPE = 1 << 9

_hasher = functools.partial(hashlib.blake2b, digest_size=DIGEST_BYTES, key=SCHEMA_VERSION)


def digest(*parts: bytes) -> bytes:
    """Give the 128-bit keyed digest of length-delimited parts.

    >>> digest(b"ab", b"c") == digest(b"a", b"bc")
    False
    """
    return _hasher(b"".join([_frame(b"P", part) for part in parts])).digest()


def canonical_bytes(value: object) -> bytes:
    """Give the canonical bytes of a value.

    Raises ValueFormError, naming the value's type, when it has no stable form.

    >>> canonical_bytes({"a": 1, "b": 2.0}) == canonical_bytes({"b": 2, "a": 1.0})
    True
    >>> canonical_bytes(1) == canonical_bytes(True)
    False
    """
    try:
        return _encode(value, ())
    except ValueFormError:
        raise
    except Exception as error:
        # A property, a dump or a __semcache_key__ of a foreign object may raise anything.
        raise ValueFormError(
            f"a value of type {type(value).__name__} cannot be read "
            f"({type(error).__name__}: {error}): pass plain values"
        ) from error


def plain_text(value: str) -> str:
    """Give the characters of a text, whatever a subclass of `str` shows instead."""
    return str.__str__(value)


def _frame(tag: bytes, content: bytes) -> bytes:
    return tag + struct.pack(">Q", len(content)) + content


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _number(value: int | float) -> bytes:
    if isinstance(value, float):
        if math.isnan(value):
            return _frame(b"n", b"nan")
        if math.isinf(value):
            return _frame(b"n", repr(value).encode())
        if not value.is_integer():
            return _frame(b"n", value.hex().encode())
        value = int(value)
    return _frame(b"n", b"%x" % value)


def _encode(value: object, path: tuple[int, ...]) -> bytes:
    kind = type(value)
    if kind is str:
        return _frame(b"s", _text(value))  # type: ignore[arg-type]  # narrowed by kind
    if value is None:
        return _frame(b"0", b"")
    if kind is bool:
        return _frame(b"b", b"1" if value else b"0")
    if kind is int or kind is float:
        return _number(value)  # type: ignore[arg-type]  # narrowed by kind
    if len(path) > MAX_DEPTH or id(value) in path:
        raise ValueFormError(f"a {kind.__name__} that contains itself or is nested too deeply")
    inner = (*path, id(value))
    if kind is dict or isinstance(value, Mapping):
        return _mapping(value, inner)  # type: ignore[arg-type]  # a Mapping
    if kind is list or kind is tuple:
        return _sequence(value, inner)  # type: ignore[arg-type]  # a list or tuple
    return _encode_rare(value, inner)


def _sequence(items: Iterable[object], path: tuple[int, ...]) -> bytes:
    return _frame(b"l", b"".join([_encode(item, path) for item in items]))


def _mapping(value: Mapping[Any, object], path: tuple[int, ...]) -> bytes:
    pairs = sorted(_encode(key, path) + _encode(item, path) for key, item in value.items())
    return _frame(b"m", b"".join(pairs))


def _tagged(name: str, content: bytes) -> bytes:
    return _frame(b"t", _frame(b"s", _text(name)) + content)


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _encode_rare(value: object, path: tuple[int, ...]) -> bytes:
    hook = getattr(type(value), "__semcache_key__", None)
    if hook is not None:
        return _tagged(_class_name(type(value)), _encode(hook(value), path))
    for kinds, encode in _RARE:
        if isinstance(value, kinds):
            return encode(value, path)
    return _encode_object(value, path)


def _encode_object(value: object, path: tuple[int, ...]) -> bytes:
    """Encode what is recognised by shape: arrays, models, dataclasses, plain instances, names."""
    kind = type(value)
    if isinstance(value, tuple | list):
        return _tagged(_class_name(kind), _sequence(value, path))
    if kind.__module__ == "numpy":
        return _array(value, path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _tagged(_class_name(kind), _mapping(fields, path))
    if hasattr(kind, "model_fields") and hasattr(value, "model_dump"):
        return _tagged(_class_name(kind), _mapping(_model_fields(value), path))
    if isinstance(value, type) and hasattr(value, "model_json_schema"):
        return _tagged(_class_name(value), _encode(value.model_json_schema(), path))
    name = _stable_name(value)
    if name is not None:
        return _tagged("name", _frame(b"s", _text(name)))
    if isinstance(value, functools.partial):
        return _tagged("partial", _encode([value.func, value.args, value.keywords], path))
    if isinstance(value, types.MethodType):
        return _tagged("method", _encode([value.__func__, value.__self__], path))
    return _instance(value, path)


def _model_fields(value: Any) -> dict[str, object]:
    """Give all fields of a model, those too that it leaves out of its dumps."""
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    return {**fields, **(getattr(value, "model_extra", None) or {})}


def _array(value: Any, path: tuple[int, ...]) -> bytes:
    if value.dtype.hasobject:
        raise ValueFormError("a numpy array of objects has no stable form: pass plain values")
    if value.shape == () and value.dtype.kind in "biufSU":
        return _encode(value.item(), path)
    head = f"{value.dtype.str}{value.shape}"
    return _tagged("array", _frame(b"s", head.encode()) + _frame(b"y", value.tobytes()))


def _stable_name(value: object) -> str | None:
    """Give the import path of a module-level function or class; None for lambdas and closures."""
    if isinstance(value, types.MethodDescriptorType | types.WrapperDescriptorType):
        return f"{_class_name(value.__objclass__)}.{value.__name__}"
    if not isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return None
    name = value.__qualname__
    module = value.__module__ or ""
    if "<" in name or getattr(value, "__self__", None) not in (None, sys.modules.get(module)):
        return None
    return f"{module}.{name}"


def _instance(value: object, path: tuple[int, ...]) -> bytes:
    """Encode a plain Python instance by its class and attributes, read now.

    An instance whose state is hidden (locks, sockets, C types) or absent has no stable form.
    """
    kind = type(value)
    plain = all(base is object or base.__flags__ & _CPYTHON_HEAP_TYPE for base in kind.__mro__)
    attributes = dict(getattr(value, "__dict__", {}))
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, slot) and slot not in ("__dict__", "__weakref__"):
                attributes[slot] = getattr(value, slot)
    if not plain or not attributes or callable(value):
        raise ValueFormError(
            f"a value of type {_class_name(kind)} has no stable form: pass plain values, give the "
            "class a __semcache_key__ method, or leave the argument out with ignore="
        )
    return _tagged(_class_name(kind), _mapping(attributes, path))


def _content(value: bytes | bytearray | memoryview, _path: tuple[int, ...]) -> bytes:
    return _frame(b"y", bytes(value))


def _set(value: Set[object], path: tuple[int, ...]) -> bytes:
    return _frame(b"u", b"".join(sorted(_encode(item, path) for item in value)))


def _enum(value: enum.Enum, _path: tuple[int, ...]) -> bytes:
    if isinstance(value, str | int):
        return _encode(value.value, ())
    return _tagged(_class_name(type(value)), _frame(b"s", _text(value.name)))


def _plain_subclass(read: Callable[[Any], object]) -> Callable[[Any, tuple[int, ...]], bytes]:
    return lambda value, path: _encode(read(value), path)


def _by_text(name: str, text: Callable[[Any], str]) -> Callable[[Any, tuple[int, ...]], bytes]:
    return lambda value, _path: _tagged(name, _frame(b"s", _text(text(value))))


_RARE: tuple[tuple[Any, Callable[[Any, tuple[int, ...]], bytes]], ...] = (
    (enum.Enum, _enum),
    (str, _plain_subclass(plain_text)),
    (int, _plain_subclass(int.__index__)),
    (float, _plain_subclass(float.__float__)),
    (bytes | bytearray | memoryview, _content),
    (Set, _set),
    (dt.datetime, _by_text("datetime", lambda v: f"{v.isoformat()}/{v.fold}/{v.tzinfo}")),
    (dt.date, _by_text("date", dt.date.isoformat)),
    (dt.time, _by_text("time", lambda v: f"{v.isoformat()}/{v.fold}/{v.tzinfo}")),
    (dt.timedelta, _by_text("timedelta", lambda v: f"{v.days}/{v.seconds}/{v.microseconds}")),
    (Decimal, _by_text("decimal", lambda v: str(v.normalize()))),
    (Fraction, _by_text("fraction", str)),
    (complex, _by_text("complex", lambda v: f"{v.real.hex()}/{v.imag.hex()}")),
    (uuid.UUID, _by_text("uuid", str)),
    (pathlib.PurePath, _by_text("path", str)),
    (range, _by_text("range", lambda v: f"{v.start}/{v.stop}/{v.step}")),
    (re.Pattern, lambda v, path: _tagged("pattern", _encode([v.pattern, v.flags], path))),
    (type(...), _by_text("ellipsis", lambda _v: "...")),
)
