"""How an answer becomes bytes and comes back: same type, equal value, a fresh object each time.

Decides what has a storable form. It must never run code because a record says so: no pickle, no
import, no constructor. What cannot come back exactly is refused when it is stored.

The first byte is a tag: `s` is a str (UTF-8, lone surrogates kept), `c` a list of encoded parts
(see `join`), `j` JSON. In the JSON a list is a list, and every object is a form with one key that
names it. Values made of built-in types come back exactly by construction. A value that holds an
instance of a class is read back once when it is encoded and must encode to the same bytes. Two
places that hold one object hold two equal objects afterwards.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from semcache.errors import ArgumentError, ValueFormError
from semcache.value_classes import READERS as CLASS_READERS
from semcache.value_classes import Registered, class_name, registered, writer_of
from semcache.value_forms import READERS, WRITERS, Plain, dump

__all__ = ["decode", "encode", "join", "register", "split"]

T = TypeVar("T")

MAX_DEPTH = 64
"""Levels of nesting; deeper values are refused, so that no reader runs out of stack."""

MAX_PARTS = 100_000
"""Parts other than text and numbers: a small web of shared lists can unfold without end."""


def encode(value: object) -> bytes:
    """Return the bytes of `value`, the same for equal values of equal types.

    Raises:
        ValueFormError: the value, or something in it, has no storable form: locks, callables, open
            files, generators, classes defined in a function, instances of classes that are not
            registered, cycles, and anything that would come back changed.

    >>> decode(encode({"text": "yes", "pages": (1, 2)}))
    {'text': 'yes', 'pages': (1, 2)}
    """
    if type(value) is str:
        return b"s" + value.encode("utf-8", "surrogatepass")
    writer = _Writer()
    data = _write(value, writer)
    if writer.holds_instances and _write(decode(data), _Writer()) != data:
        raise ValueFormError(
            f"a value of type {class_name(type(value))} does not come back as it went in: "
            "return plain data, or make its class known with semcache.value.register"
        )
    return data


def decode(data: bytes) -> Any:
    """Return a fresh value from the bytes that `encode` or `join` made.

    Raises:
        ValueFormError: the bytes are not such a record, or name a class that this process has not
            imported, that has changed, or that is not one `encode` would take.
    """
    try:
        if data[0] == 115:  # b"s"
            return data[1:].decode("utf-8", "surrogatepass")
        if data[0] == 106:  # b"j"
            return _parse(data[1:].decode("utf-8", "surrogatepass"))
        if data[0] == 99:  # b"c"
            return [decode(part) for part in split(data)[0]]
    except ValueFormError:
        raise
    except Exception as error:
        # Whatever a torn or forged record provokes in a reader means one thing: not a record.
        raise ValueFormError(
            f"a stored value cannot be read ({error!r}): treat it as lost"
        ) from error
    raise ValueFormError(f"a stored value starts with {data[:1]!r}, which no version wrote")


def join(parts: Sequence[bytes], tail: bytes = b"") -> bytes:
    """Return one record of many encoded values. `decode` reads it as a list, `split` undoes it.

    >>> split(join([encode("a"), encode(0)], tail=encode(None)))
    ([b'sa', b'j0'], b'jnull')
    """
    sizes = struct.pack(f"<I{len(parts)}I", len(parts), *map(len, parts))
    return b"".join((b"c", sizes, *parts, tail))


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the parts and the tail that `join` put together.

    Raises:
        ValueFormError: the bytes are not such a record.
    """
    try:
        (count,) = struct.unpack_from("<I", data, 1)
        start = 5 + 4 * count
        parts = []
        for size in struct.unpack_from(f"<{count}I", data, 5):
            parts.append(data[start : start + size])
            start += size
    except struct.error as error:
        raise ValueFormError(f"a stored list of parts cannot be read ({error})") from error
    if data[:1] != b"c" or start > len(data):
        raise ValueFormError("a stored list of parts is cut short or is something else")
    return parts, data[start:]


def register(cls: type[T], to_plain: Callable[[T], object], from_plain: Callable[[Any], T]) -> None:
    """Make instances of `cls`, and of no subclass, storable.

    `to_plain` returns anything that `encode` takes, `from_plain` gets a copy of it and returns the
    instance. The class is known by its module and qualified name, so a later process must register
    it before it reads; a second registration of one name replaces the first. A registered class
    goes by these two functions even if it is a dataclass or a model.

    Raises:
        ArgumentError: `cls` is not a class, or is a built-in type with a form of its own.

    >>> class Pair:
    ...     def __init__(self, left: str, right: str) -> None:
    ...         self.left, self.right = left, right
    >>> register(Pair, lambda pair: [pair.left, pair.right], lambda plain: Pair(*plain))
    >>> decode(encode(Pair("a", "b"))).right
    'b'
    """
    if not isinstance(cls, type) or cls in WRITERS:
        raise ArgumentError("cls", cls, "pass a class of your own, not an instance or a built-in")
    registered[class_name(cls)] = Registered(cls, to_plain, from_plain)


@dataclasses.dataclass(slots=True)
class _Writer:
    """Turns one value into plain data and keeps count of where it is."""

    depth: int = 0
    parts: int = 0
    holds_instances: bool = False
    open: set[int] = dataclasses.field(default_factory=set)

    def plain(self, value: Any) -> Plain:
        """Return the plain form of `value`."""
        cls = type(value)
        if cls is str or cls is bool or value is None:
            return value
        if cls is int or cls is float:
            return WRITERS[cls](value, self)
        write = WRITERS.get(cls)
        if write is None:
            write = writer_of(value)
            self.holds_instances = True
        self._enter(value)
        form = write(value, self)
        self.depth -= 1
        self.open.discard(id(value))
        return form

    def plains(self, values: Iterable[Any]) -> list[Plain]:
        """Return the plain forms of `values`, in order."""
        return [self.plain(value) for value in values]

    def _enter(self, value: Any) -> None:
        self.depth += 1
        self.parts += 1
        if id(value) in self.open:
            raise ValueFormError(
                f"a {class_name(type(value))} contains itself: store a copy without it"
            )
        if self.depth > MAX_DEPTH or self.parts > MAX_PARTS:
            raise ValueFormError(
                f"a value has more than {MAX_DEPTH} levels or {MAX_PARTS} parts: store less of it"
            )
        self.open.add(id(value))


def _write(value: object, writer: _Writer) -> bytes:
    try:
        if type(value) is str:
            return encode(value)
        return b"j" + dump(writer.plain(value)).encode("utf-8", "surrogatepass")
    except ValueFormError:
        raise
    except RecursionError as error:
        raise ValueFormError("a value is nested too deeply to store from here") from error
    except RuntimeError as error:
        raise ValueFormError(f"a value changed while it was being stored ({error})") from error
    except Exception as error:
        # Whatever a foreign object raises when it is read means one thing: no storable form.
        name = class_name(type(value))
        raise ValueFormError(f"a {name} cannot be read ({error!r}): return plain data") from error


_READERS = {**READERS, **CLASS_READERS}


def _read_object(pairs: dict[str, Any]) -> Any:
    ((form, body),) = pairs.items()
    return _READERS[form](body)


_parse = json.JSONDecoder(object_hook=_read_object).decode
