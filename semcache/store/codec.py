"""How an entry becomes one row of bytes and comes back.

A row is: magic, schema version, BLAKE2b checksum of all that follows, section lengths, a JSON
header of plain scalars, and the raw sections (key, scope, text, payload, vectors). Nothing in a row
is ever executed. A row that does not match in every respect raises CorruptRecordError: no field is
guessed, defaulted or repaired.
"""

from __future__ import annotations

import json
import math
import struct
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from semcache.entry import Entry
from semcache.errors import CorruptRecordError, ValueFormError

__all__ = ["SCHEMA_VERSION", "from_row", "to_row"]

SCHEMA_VERSION = 2
"""Counts up whenever the layout below changes; rows of another version are not read."""

_MAGIC = b"smc\x00"
_FRONT = struct.Struct(">4sB16s")
_LENGTHS = struct.Struct(">6Q")
_BODY_START = _FRONT.size + _LENGTHS.size
_TEXT = (str,)
_FLAG = (bool,)
_SECONDS = (float, int)
_SCALARS: dict[str, tuple[type, ...]] = {
    "created_at": _SECONDS,
    "saved_seconds": _SECONDS,
    "saved_cost": _SECONDS,
    "expires_at": (float, int, type(None)),
    "epochs": (dict,),
    "entry_id": _TEXT,
    "namespace": _TEXT,
    "model": (str, type(None)),
    "exact_only": _FLAG,
    "gate": _TEXT,
    "embedder": _TEXT,
    "windows": (int,),
    "stream": _FLAG,
    "pinned": _FLAG,
    "source": _TEXT,
    "lifetime_seconds": _SECONDS,
    "renewable_until": (float, int, type(None)),
}
_NAMES = tuple(_SCALARS)
_scalars_of = attrgetter(*_NAMES)


def to_row(entry: Entry) -> bytes:
    """Encode `entry` as one row.

    Raises:
        ValueFormError: a field has no plain form, such as a time that is not a finite number.

    >>> entry = Entry(key=bytes(16), entry_id="a", scope=b"s", namespace="default", model=None,
    ...               text="hi", payload=b"hello", created_at=1.0, expires_at=None)
    >>> from_row(to_row(entry)) == entry
    True
    """
    scalars = list(_scalars_of(entry))
    scalars[_NAMES.index("epochs")] = dict(entry.epochs)
    try:
        _check(scalars)
        header = _encode_header(scalars).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError) as error:
        raise ValueFormError(
            f"entry {entry.entry_id!r} cannot be stored: {error}; pass plain, finite values"
        ) from error
    text = entry.text.encode("utf-8", "surrogatepass")
    sections = (header, entry.key, entry.scope, text, entry.payload, entry.vectors)
    body = b"".join((_LENGTHS.pack(*map(len, sections)), *sections))
    return _FRONT.pack(_MAGIC, SCHEMA_VERSION, _checksum(SCHEMA_VERSION, body)) + body


def from_row(data: bytes) -> Entry:
    """Decode one row.

    Raises:
        CorruptRecordError: the row is cut, changed, of another schema version or not a row.
    """
    try:
        return _decode(data)
    except (struct.error, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise CorruptRecordError(
            f"a stored row of {len(data)} bytes is not readable ({error}); it is dropped and the "
            "request will be answered anew"
        ) from error


def _decode(data: bytes) -> Entry:
    magic, version, checksum = _FRONT.unpack_from(data)
    if magic != _MAGIC or version != SCHEMA_VERSION:
        raise ValueError(f"it does not begin like a row of schema {SCHEMA_VERSION}")
    if checksum != _checksum(version, memoryview(data)[_FRONT.size :]):
        raise ValueError("its checksum does not match")
    header, key, scope, text, payload, vectors = _split(data)
    scalars = _decode_header(header.decode("utf-8", "surrogatepass"))
    _check(scalars)
    return Entry(
        key=key,
        scope=scope,
        text=text.decode("utf-8", "surrogatepass"),
        payload=payload,
        vectors=vectors,
        **dict(zip(_NAMES, scalars, strict=True)),
    )


def _split(data: bytes) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes]:
    header, key, scope, text, payload, vectors = _LENGTHS.unpack_from(data, _FRONT.size)
    key_at = _BODY_START + header
    scope_at = key_at + key
    text_at = scope_at + scope
    payload_at = text_at + text
    vectors_at = payload_at + payload
    if vectors_at + vectors != len(data):
        raise ValueError("its sections do not add up to its length")
    return (
        data[_BODY_START:key_at],
        data[key_at:scope_at],
        data[scope_at:text_at],
        data[text_at:payload_at],
        data[payload_at:vectors_at],
        data[vectors_at:],
    )


def _check(scalars: Any) -> None:
    if type(scalars) is not list or not _kinds_fit(tuple(map(type, scalars))):
        raise TypeError("its header has other fields or kinds")
    created_at, saved_seconds, saved_cost, expires_at, epochs, *_, lifetime, until = scalars
    numbers = created_at, saved_seconds, saved_cost, expires_at or 0.0, lifetime, until or 0.0
    if not math.isfinite(sum(numbers)):
        raise ValueError("a time or a cost is not a finite number")
    for tag, count in epochs.items():
        if type(tag) is not str or type(count) is not int:
            raise TypeError("epochs do not map text to whole numbers")


@lru_cache(maxsize=64)
def _kinds_fit(kinds: tuple[type, ...]) -> bool:
    return len(kinds) == len(_NAMES) and all(map(tuple.__contains__, _SCALARS.values(), kinds))


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a finite number")


def _checksum(version: int, body: bytes | memoryview) -> bytes:
    return blake2b(body, digest_size=16, salt=version.to_bytes(16)).digest()


_encode_header = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_decode_header = json.JSONDecoder(parse_constant=_refuse_constant).decode
