"""Reads JSONL, CSV, TSV and XLSX files as numbered records of named cells.

It settles encoding, separator and header, and judges no cell. Every error names the file and the
line, which in a spreadsheet is the row.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from semcache.errors import FileFormatError, MissingExtraError

__all__ = ["Record", "Table", "read_table"]

_SEPARATORS = {".csv": "", ".tsv": "\t", ".tab": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a file: its number, counted from 1, and its cells by column name.

    A record that could not be read has `problem` instead of cells.
    """

    line: int
    cells: Mapping[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A file that was read: how it was encoded, its columns (none for JSONL) and its records."""

    path: Path
    encoding: str
    columns: tuple[str, ...]
    records: tuple[Record, ...]


def read_table(path: Path, encoding: str | None = None) -> Table:
    """Read a whole file; its suffix says the format. Column names are trimmed and lower-cased.

    Raises:
        FileFormatError: unknown format, unreadable, undecodable, or without a usable header.
        MissingExtraError: a spreadsheet, and openpyxl is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in (*_JSON_LINES, *_SEPARATORS, ".xlsx"):
        raise FileFormatError(
            f"{path}: unknown format {suffix!r}: pass a .jsonl, .csv, .tsv or .xlsx file"
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    if suffix == ".xlsx":
        return _spreadsheet(path)
    text, found = _decode(path, data, encoding)
    if suffix in _JSON_LINES:
        return Table(path, found, (), tuple(_json_lines(text)))
    return _separated(path, text, found, _SEPARATORS[suffix])


def _decode(path: Path, data: bytes, encoding: str | None) -> tuple[str, str]:
    """Decode by the encoding named, by a byte-order mark, else as UTF-8, else as GB18030."""
    if encoding is not None:
        candidates = [encoding]
    elif data.startswith(_UTF_16):
        candidates = ["utf-16"]
    else:
        candidates = ["utf-8-sig", "gb18030"]
    problem = ""
    for name in candidates:
        try:
            return data.decode(name), name.removesuffix("-sig")
        except LookupError as error:
            raise FileFormatError(f"{path}: encoding {name!r} is unknown: {error}") from error
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            value = data[error.start : error.end].hex()
            problem = problem or f"line {line}: not {name}, byte {error.start} is {value}"
    raise FileFormatError(f"{path}, {problem}: name the encoding with --encoding")


def _json_lines(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            yield Record(number, {}, f"not JSON: {error}")
            continue
        if isinstance(cells, dict):
            yield Record(number, {key.strip().lower(): value for key, value in cells.items()})
        else:
            yield Record(number, {}, f"expected a JSON object, got {line.strip()[:40]!r}")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _separated(path: Path, text: str, encoding: str, separator: str) -> Table:
    head = text.split("\n", 1)[0]
    separator = separator or max(",;\t", key=head.count)
    # newline="" leaves line ends inside quotes as they are, and splits at no other character.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines = _csv_lines(path, reader)
    first = next(lines, None)
    if first is None:
        raise FileFormatError(f"{path}: the file is empty: expected a header line")
    columns = _header(path, first[1])
    records = tuple(_record(columns, *line) for line in lines)
    return Table(path, encoding, columns, records)


def _csv_lines(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Give each non-blank line with the number of the line where it begins."""
    begin = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileFormatError(f"{path}, line {begin}: {error}: mend the quotes") from error
        if any(cell.strip() for cell in cells):
            yield begin, cells
        begin = reader.line_num + 1


def _header(path: Path, cells: list[Any]) -> tuple[str, ...]:
    columns = tuple("" if cell is None else str(cell).strip().lower() for cell in cells)
    for column in columns:
        if column and columns.count(column) > 1:
            raise FileFormatError(f"{path}, line 1: the column {column!r} is there twice")
    return columns


def _record(columns: tuple[str, ...], line: int, cells: list[Any]) -> Record:
    extra = [cell for cell in cells[len(columns) :] if cell not in ("", None)]
    if extra:
        return Record(
            line,
            {},
            f"{len(cells)} cells under {len(columns)} columns, {str(extra[0])[:40]!r} is too much",
        )
    return Record(line, {name: cell for name, cell in zip(columns, cells, strict=False) if name})


def _spreadsheet(path: Path) -> Table:
    try:
        import openpyxl  # type: ignore[import-untyped]  # it ships no types
    except ImportError as error:
        raise MissingExtraError("openpyxl", "pip install openpyxl") from error
    try:
        with warnings.catch_warnings():
            # It warns of styles and checks that it does not know; cells are all that counts here.
            warnings.simplefilter("ignore")
            # Not read_only: only then are merged cells known.
            book = openpyxl.load_workbook(path, data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileFormatError(f"{path}: not a readable .xlsx file: {error}") from error
    rows = _unmerged(book.worksheets[0]) if book.worksheets else []
    book.close()
    lines = [(n, cells) for n, cells in rows if any(cell is not None for cell in cells)]
    if not lines:
        raise FileFormatError(f"{path}: the first sheet is empty: expected a header row")
    columns = _header(path, lines[0][1])
    return Table(path, "xlsx", columns, tuple(_record(columns, *line) for line in lines[1:]))


def _unmerged(sheet: Any) -> list[tuple[int, list[Any]]]:
    """Give the rows of a sheet; a merged cell's value stands in each of its rows."""
    values = [[_cell(value) for value in row] for row in sheet.iter_rows(values_only=True)]
    for area in sheet.merged_cells.ranges:
        value = values[area.min_row - 1][area.min_col - 1]
        for row in range(area.min_row - 1, area.max_row):
            values[row][area.min_col - 1] = value
    return list(enumerate(values, start=1))


def _cell(value: Any) -> Any:
    """Give a cell as text: 3.0 as "3", a date in ISO form, nothing as None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
