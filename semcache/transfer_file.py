"""The file of an export: a header line, one JSON line an entry, and a checksum line.

Reading checks everything and guesses nothing: a line that does not match in every respect is a
FileFormatError that names it. Nothing in a file is executed, and nothing is stored from here.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from semcache.canonical import digest
from semcache.entry import Entry
from semcache.errors import FileFormatError, StoreError, ValueFormError
from semcache.store.codec import to_row

__all__ = ["ExportFile", "entries", "verify", "writing"]

FORMAT = "semcache export"
VERSION = 2

_BYTES = ("key", "scope", "payload", "vectors")
_NAMES = frozenset(field.name for field in fields(Entry))
_CUT = "it was cut short, export again"
_CHANGED = "the checksum does not match: the file was changed or cut, export again"
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@dataclass(slots=True)
class ExportFile:
    """An export being written; `writing` makes it and ends it with the checksum."""

    file: IO[bytes]
    count: int = 0
    _check: Any = field(default_factory=lambda: blake2b(digest_size=32))

    def begin(self, origin: str) -> None:
        """Write the header."""
        self._put({"format": FORMAT, "version": VERSION, "origin": origin})

    def add(self, entry: Entry) -> None:
        """Write one entry."""
        self._put(_to_json(entry))
        self.count += 1

    def end(self) -> None:
        """Write the count and the checksum of all lines before."""
        self._put({"entries": self.count, "blake2b": self._check.hexdigest()})

    def _put(self, value: dict[str, Any]) -> None:
        line = _line(value)
        self._check.update(line)
        self.file.write(line)


@contextmanager
def writing(path: Path, origin: str) -> Iterator[ExportFile]:
    """Write an export beside the file and put it in place at the end, whole or not at all.

    Raises StoreError when the disk will not take it.
    """
    with _beside(path) as file:
        export = ExportFile(file)
        export.begin(origin)
        yield export
        export.end()


def entries(path: Path) -> Iterator[Entry]:
    """Give the entries of a file that `verify` has passed."""
    for number, _raw, values in _lines(path):
        if number > 1 and "blake2b" not in values:
            yield _entry(path, number, values)


def _line(value: dict[str, Any]) -> bytes:
    text = _encode(value) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; JSON can escape it.
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _to_json(entry: Entry) -> dict[str, Any]:
    values = asdict(entry)
    values["epochs"] = dict(entry.epochs)
    for name in _BYTES:
        values[name] = base64.b64encode(values[name]).decode()
    return values


def _from_json(values: dict[str, Any]) -> Entry:
    """Build an entry and check it whole. Raises ValueError that says what is wrong."""
    if values.keys() != _NAMES:
        odd = sorted(values.keys() ^ _NAMES)
        raise ValueError(f"its fields are not those of an entry: {odd[0]!r}")
    data = {name: base64.b64decode(values[name], validate=True) for name in _BYTES}
    if not isinstance(values["text"], str):
        raise ValueError(f"text is {values['text']!r}")
    entry = Entry(**{**values, **data})
    to_row(entry)
    if entry.key != digest(entry.scope, entry.text.encode("utf-8", "surrogatepass")):
        raise ValueError("its key does not belong to its text")
    if not entry.entry_id.startswith(f"{entry.key.hex()}-"):
        raise ValueError(f"its id {entry.entry_id!r} does not belong to its key")
    width, odd_bytes = divmod(len(entry.vectors), 4 * entry.windows or 1)
    if odd_bytes or (entry.vectors and not width) or entry.windows < 0:
        raise ValueError(f"{len(entry.vectors)} bytes are not {entry.windows} vectors")
    if not np.isfinite(np.frombuffer(entry.vectors, dtype=np.float32)).all():
        raise ValueError("a vector is not finite")
    return entry


def verify(path: Path) -> str:
    """Check every line of a file, its count and its checksum; give its origin."""
    check = blake2b(digest_size=32)
    header: dict[str, Any] | None = None
    ended = False
    count = number = 0
    for number, raw, values in _lines(path):
        if ended:
            raise FileFormatError(f"{path}, line {number}: expected nothing after the checksum")
        if header is None:
            header = _header(path, values)
        elif "blake2b" in values:
            if values != {"entries": count, "blake2b": check.hexdigest()}:
                raise FileFormatError(f"{path}, line {number}: {_CHANGED}")
            ended = True
        else:
            _entry(path, number, values)
            count += 1
        check.update(raw)
    if header is None:
        raise FileFormatError(f"{path}, line 1: the file is empty: expected an export")
    if not ended:
        raise FileFormatError(f"{path}, line {number}: the file ends before its checksum: {_CUT}")
    origin: str = header["origin"]
    return origin


def _header(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    if values.get("format") != FORMAT or not isinstance(values.get("origin"), str):
        raise FileFormatError(f"{path}, line 1: not a file that `semcache export` wrote")
    if values.get("version") != VERSION:
        raise FileFormatError(
            f"{path}, line 1: format version {values.get('version')!r}, this semcache reads "
            f"{VERSION}: use the semcache that wrote it"
        )
    return values


def _entry(path: Path, number: int, values: dict[str, Any]) -> Entry:
    try:
        return _from_json(values)
    except (ValueError, TypeError, AttributeError, ValueFormError) as error:
        raise FileFormatError(f"{path}, line {number}: not an entry: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    number = 0
    try:
        with _reading(path) as file:
            for number, raw in enumerate(file, start=1):
                values = json.loads(raw)
                if not isinstance(values, dict):
                    raise ValueError("expected an object")
                yield number, raw, values
    except FileFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}, line {number}: not a line of an export: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        where = f"{path}, line {number + 1}"
        raise FileFormatError(f"{where}: the compression is damaged: {error}") from error
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from error


def _reading(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    """Write beside the file and put it in place at the end; a failure leaves nothing behind."""
    try:
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as raw:
                if path.suffix == ".gz":
                    # No time and no name in it: equal contents are equal files.
                    with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                        yield cast("IO[bytes]", file)
                else:
                    yield raw
                raw.flush()
                os.fsync(raw.fileno())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error
