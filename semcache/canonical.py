"""One form for one value: the bytes by which two arguments are the same argument.

Rules, all of them here or, for objects, in `canonical_objects`:
  1. Every value is a type tag, a length and its content, so no two different values share bytes.
  2. 1 and 1.0 are one number; 1, "1" and True are three things; None is a value.
  3. A list and a tuple are one sequence, in order; a dict's and a set's order is irrelevant.
  4. Bytes, arrays and images count by content.
  5. A subclass of a built-in type counts by what it holds, and by its attributes if it has any.
  6. A value with no stable form raises ValueFormError. A memory address is never used.
Nothing here knows what a prompt or a message is.
"""

from __future__ import annotations

import datetime as dt
import enum
import functools
import hashlib
import math
import pathlib
import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

from semcache.canonical_objects import Lenient, attributes_of, class_name, describe, zone_of
from semcache.errors import ValueFormError

__all__ = ["DIGEST_BYTES", "SCHEMA_VERSION", "canonical_bytes", "digest", "plain_text"]

SCHEMA_VERSION = b"semcache/1"
"""Keys every digest: a change of the rules above is a change of all keys."""

DIGEST_BYTES = 16
MAX_DEPTH = 100

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
    if kind is dict:
        return _mapping(value, inner)  # type: ignore[arg-type]  # narrowed by kind
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


def _encode_rare(value: object, path: tuple[int, ...]) -> bytes:
    hook = getattr(type(value), "__semcache_key__", None)
    if hook is not None:
        return _tagged(class_name(type(value)), _encode(hook(value), path))
    for kinds, encode in _RARE:
        if isinstance(value, kinds):
            return _with_attributes(value, encode(value, path), path)
    name, content = describe(value)
    return _tagged(name, _encode(content, path)) if name else _encode(content, path)


def _lenient(value: Lenient, path: tuple[int, ...]) -> bytes:
    return _mapping({name: _form_or_type(item, path) for name, item in value.values.items()}, path)


def _form_or_type(value: object, path: tuple[int, ...]) -> bytes:
    try:
        return _encode(value, path)
    except Exception:  # whatever keeps it from having a form: its type is all that can be said
        return _tagged("type", _frame(b"s", _text(class_name(type(value)))))


def _with_attributes(value: object, content: bytes, path: tuple[int, ...]) -> bytes:
    """Add what an instance of a subclass of a built-in type holds beside its content."""
    if not isinstance(value, _BUILT_IN) or isinstance(value, enum.Enum):
        return content
    attributes = attributes_of(value)
    if not attributes:
        return content
    return _tagged(class_name(type(value)), content + _mapping(attributes, path))


def _content(value: bytes | bytearray | memoryview, _path: tuple[int, ...]) -> bytes:
    return _frame(b"y", bytes(value))


def _subclassed(value: Iterable[object], path: tuple[int, ...]) -> bytes:
    return _tagged(class_name(type(value)), _sequence(value, path))


def _set(value: Set[object], path: tuple[int, ...]) -> bytes:
    return _frame(b"u", b"".join(sorted(_encode(item, path) for item in value)))


def _enum(member: enum.Enum, path: tuple[int, ...]) -> bytes:
    """Encode a member: as its value where it is a text or a number and its value is that too."""
    held = _HELD[str](member) if isinstance(member, str) else None
    held = _HELD[int](member) if isinstance(member, int) else held
    if held is not None and type(member.value) is type(held) and member.value == held:
        return _encode(held, path)
    return _tagged(class_name(type(member)), _encode([member.name, member.value], path))


def _plain_subclass(read: Callable[[Any], object]) -> Callable[[Any, tuple[int, ...]], bytes]:
    return lambda value, path: _encode(read(value), path)


def _by_text(name: str, text: Callable[[Any], str]) -> Callable[[Any, tuple[int, ...]], bytes]:
    return lambda value, _path: _tagged(name, _frame(b"s", _text(text(value))))


def _moment(value: dt.datetime | dt.time, path: tuple[int, ...]) -> bytes:
    name = "datetime" if isinstance(value, dt.datetime) else "time"
    return _tagged(name, _encode([value.isoformat(), value.fold, zone_of(value)], path))


def _decimal(value: Decimal) -> str:
    """Write a decimal without its closing zeros; `normalize` would round it to the context."""
    sign, digits, exponent = value.as_tuple()
    if isinstance(exponent, str):
        return str(value)
    written = "".join(map(str, digits))
    stripped = written.rstrip("0")
    if not stripped:
        return "0"
    return f"{'-' * sign}{stripped.lstrip('0')}e{exponent + len(written) - len(stripped)}"


_HELD: dict[type, Callable[[Any], object]] = {str: plain_text, int: int.__index__}
_BUILT_IN = (str, int, float, bytes, bytearray, dict, list, tuple, set, frozenset)
_RARE: tuple[tuple[Any, Callable[[Any, tuple[int, ...]], bytes]], ...] = (
    (Lenient, _lenient),
    (enum.Enum, _enum),
    (str, _plain_subclass(plain_text)),
    (int, _plain_subclass(int.__index__)),
    (float, _plain_subclass(float.__float__)),
    (bytes | bytearray | memoryview, _content),
    (Mapping, _mapping),
    (list | tuple, _subclassed),
    (Set, _set),
    (dt.datetime | dt.time, _moment),
    (dt.date, _by_text("date", dt.date.isoformat)),
    (dt.timedelta, _by_text("timedelta", lambda v: f"{v.days}/{v.seconds}/{v.microseconds}")),
    (Decimal, _by_text("decimal", _decimal)),
    (Fraction, _by_text("fraction", str)),
    (complex, _by_text("complex", lambda v: f"{v.real.hex()}/{v.imag.hex()}")),
    (uuid.UUID, _by_text("uuid", str)),
    (pathlib.PureWindowsPath, _by_text("windows path", str)),
    (pathlib.PurePath, _by_text("path", str)),
    (range, _by_text("range", lambda v: f"{v.start}/{v.stop}/{v.step}")),
    (re.Pattern, lambda v, path: _tagged("pattern", _encode([v.pattern, v.flags], path))),
    (type(...), _by_text("ellipsis", lambda _v: "...")),
)
