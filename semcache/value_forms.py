"""The forms of built-in types: how each becomes plain JSON data and is read back exactly.

Decides nothing about classes and never looks one up. A reader gets a body whose inner values are
rebuilt already, and may raise anything: `value.decode` turns it into one error.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import pathlib
import re
import sys
import uuid
import zoneinfo
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from semcache.errors import ValueFormError

__all__ = ["READERS", "WRITERS", "Plain", "ReadForm", "WriteForm", "Writer", "dump", "write_scalar"]

Plain: TypeAlias = Any
"""What JSON takes: None, bool, int, float, str, a list, or a dict whose one key names a form."""


class Writer(Protocol):
    """What a form asks for the values inside its own."""

    def plain(self, value: Any) -> Plain:
        """Return the plain form of one value."""
        ...

    def plains(self, values: Iterable[Any]) -> list[Plain]:
        """Return the plain forms of many values, in order."""
        ...


WriteForm: TypeAlias = Callable[[Any, Writer], Plain]
ReadForm: TypeAlias = Callable[[Any], Any]

dump = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def _write_int(value: int, writer: Writer) -> Plain:
    # Long decimal numbers are slow to parse and refused past a limit of the interpreter.
    return value if value.bit_length() <= 64 else {"int": format(value, "x")}


def _write_float(value: float, writer: Writer) -> Plain:
    return value if math.isfinite(value) else {"float": repr(value)}


def _write_bytes(value: bytes | bytearray, writer: Writer) -> Plain:
    return {type(value).__name__: base64.b64encode(value).decode("ascii")}


def _write_dict(value: dict[Any, Any], writer: Writer) -> Plain:
    flat = [part for pair in value.items() for part in pair]
    return {type(value).__name__: writer.plains(flat)}


def _pairs(body: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(body[::2], body[1::2], strict=True)


def _write_set(value: set[Any] | frozenset[Any], writer: Writer) -> Plain:
    # Sets have no order: sorted by their text, equal sets make equal records.
    return {type(value).__name__: sorted(writer.plains(value), key=dump)}


def _write_range(value: range, writer: Writer) -> Plain:
    return {"range": writer.plains((value.start, value.stop, value.step))}


def _write_complex(value: complex, writer: Writer) -> Plain:
    return {"complex": writer.plains((value.real, value.imag))}


def _write_fraction(value: Fraction, writer: Writer) -> Plain:
    return {"fraction": writer.plains((value.numerator, value.denominator))}


def _write_delta(value: timedelta, writer: Writer) -> Plain:
    return {"timedelta": [value.days, value.seconds, value.microseconds]}


def _write_datetime(value: datetime, writer: Writer) -> Plain:
    naive = value.replace(tzinfo=None, fold=0).isoformat()
    return {"datetime": [naive, value.fold, _zone_form(value.tzinfo, writer)]}


def _write_time(value: time, writer: Writer) -> Plain:
    naive = value.replace(tzinfo=None, fold=0).isoformat()
    return {"time": [naive, value.fold, _zone_form(value.tzinfo, writer)]}


def _read_moment(cls: type[datetime] | type[time], body: Any) -> Any:
    text, fold, zone = body
    return cls.fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _zone_form(zone: tzinfo | None, writer: Writer) -> Plain:
    if zone is None:
        return None
    kind, core = type(zone), getattr(sys.modules.get("pydantic_core"), "TzInfo", None)
    if kind is timezone:
        # Whether an offset was given a name shows only in the arguments it would be copied with.
        return {"offset": writer.plains(zone.__getinitargs__())}  # type: ignore[attr-defined]
    if isinstance(zone, zoneinfo.ZoneInfo) and kind is zoneinfo.ZoneInfo and zone.key is not None:
        return {"zone": zone.key}
    if core is not None and kind is core:
        offset = zone.utcoffset(None) or timedelta()
        return {"pydantic offset": offset // timedelta(seconds=1)}
    raise ValueFormError(f"a time zone of type {kind.__qualname__} cannot be stored: use zoneinfo")


def _read_zone(key: str) -> tzinfo:
    if not re.fullmatch(r"[\w+-]+(/[\w+-]+)*", key, re.ASCII):
        raise ValueFormError(f"a stored time zone is named {key!r}, which is no zone")
    return zoneinfo.ZoneInfo(key)


def _read_pydantic_offset(seconds: int) -> tzinfo:
    zone: tzinfo = sys.modules["pydantic_core"].TzInfo(seconds)
    return zone


def _write_path(value: pathlib.PurePath, writer: Writer) -> Plain:
    return {"path": [type(value).__name__, str(value)]}


def _read_path(body: Any) -> Any:
    kind, text = body
    return _PATHS[kind](text)


def _dtype(text: str) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(text)
    if dtype.hasobject or dtype.str != text:
        raise ValueFormError(f"a numpy dtype {text!r} cannot be stored: use numbers or strings")
    return dtype


def _write_array(value: np.ndarray[Any, Any], writer: Writer) -> Plain:
    if _dtype(value.dtype.str) != value.dtype:
        raise ValueFormError(
            f"a numpy dtype {value.dtype} cannot be stored: use one without fields"
        )
    body = base64.b64encode(value.tobytes()).decode("ascii")
    return {"ndarray": [value.dtype.str, list(value.shape), body]}


def _read_array(body: Any) -> np.ndarray[Any, Any]:
    dtype, shape, data = body
    raw = bytearray(base64.b64decode(data))
    if not raw:  # frombuffer refuses an empty buffer
        return np.empty(shape, _dtype(dtype))
    return np.frombuffer(raw, _dtype(dtype)).reshape(shape)


def write_scalar(value: np.generic, writer: Writer) -> Plain:
    """Return the form of a numpy scalar: that of an array without dimensions."""
    return {"numpy": _write_array(np.asarray(value), writer)}


_PATHS: dict[str, type[pathlib.PurePath]] = {
    kind.__name__: kind
    for kind in (
        pathlib.PosixPath,
        pathlib.PurePosixPath,
        pathlib.PureWindowsPath,
        pathlib.WindowsPath,
    )
}

WRITERS: dict[type, WriteForm] = {
    type(None): lambda value, writer: value,
    bool: lambda value, writer: value,
    str: lambda value, writer: value,
    int: _write_int,
    float: _write_float,
    complex: _write_complex,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    list: lambda value, writer: writer.plains(value),
    tuple: lambda value, writer: {"tuple": writer.plains(value)},
    dict: _write_dict,
    OrderedDict: _write_dict,
    set: _write_set,
    frozenset: _write_set,
    range: _write_range,
    date: lambda value, writer: {"date": value.isoformat()},
    datetime: _write_datetime,
    time: _write_time,
    timedelta: _write_delta,
    Decimal: lambda value, writer: {"decimal": str(value)},
    Fraction: _write_fraction,
    uuid.UUID: lambda value, writer: {"uuid": value.hex},
    np.ndarray: _write_array,
    **dict.fromkeys(_PATHS.values(), _write_path),
}


READERS: dict[str, ReadForm] = {
    "int": lambda body: int(body, 16),
    "float": float,
    "complex": lambda body: complex(*body),
    "bytes": base64.b64decode,
    "bytearray": lambda body: bytearray(base64.b64decode(body)),
    "tuple": tuple,
    "dict": lambda body: dict(_pairs(body)),
    "OrderedDict": lambda body: OrderedDict(_pairs(body)),
    "set": set,
    "frozenset": frozenset,
    "range": lambda body: range(*body),
    "date": date.fromisoformat,
    "datetime": functools.partial(_read_moment, datetime),
    "time": functools.partial(_read_moment, time),
    "timedelta": lambda body: timedelta(*body),
    "offset": lambda body: timezone(*body),
    "zone": _read_zone,
    "pydantic offset": _read_pydantic_offset,
    "decimal": Decimal,
    "fraction": lambda body: Fraction(*body),
    "uuid": lambda body: uuid.UUID(hex=body),
    "path": _read_path,
    "ndarray": _read_array,
    "numpy": lambda body: body[()],
}
