"""Reads a warm-up file's records as questions with their approved answer. Stores nothing.

Columns are known by name, in English and Chinese; each error names file, line, column and value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semcache.errors import FileFormatError
from semcache.warm.tables import Record, Table, read_table

__all__ = ["Columns", "Row", "Sheet", "read_rows"]

_PROMPTS = ("prompt", "prompts", "question", "questions", "问题")
_ANSWERS = ("answer", "回答", "答案")
_COUNTS = ("count", "frequency", "次数")
_TAG_SEPARATORS = re.compile("[,;，；]")
_SHOWN_CHARACTERS = 60
_FAILED_FORMULAS = frozenset(
    {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!"}
)
"""What a spreadsheet shows where a formula failed. Nobody approved that as an answer."""


@dataclass(frozen=True, slots=True)
class Row:
    """Phrasings that have one answer. `answer` None: it is to be asked for.

    `count` is how often the question is asked, 0 when the file does not say.
    """

    line: int
    prompts: tuple[str, ...]
    answer: Any = None
    count: int = 0
    model: str | None = None
    namespace: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file that was read: its rows, and what was wrong with those left out."""

    path: Path
    encoding: str
    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How a file is to be read, where its own names do not say it.

    `separator` splits one prompt cell into several phrasings.
    """

    prompt: str | None = None
    answer: str | None = None
    separator: str | None = None
    encoding: str | None = None


DEFAULT = Columns()


def read_rows(path: Path, columns: Columns = DEFAULT, *, skip_bad: bool = False) -> Sheet:
    """Read the rows of a JSONL, CSV, TSV or XLSX file.

    Args:
        path: the file; its suffix says the format.
        columns: names and encoding, where they are not the usual ones.
        skip_bad: leave bad rows out and say so in `Sheet.skipped`, instead of raising.

    Raises:
        FileFormatError: the file, or one of its rows, cannot be read.
    """
    table = read_table(path, columns.encoding)
    names = _find_columns(table, columns)
    rows: list[Row] = []
    skipped: list[str] = []
    for record in table.records:
        try:
            rows.append(_row(record, names, columns.separator))
        except _BadCellError as problem:
            place = "row" if table.encoding == "xlsx" else "line"
            message = f"{path}, {place} {record.line}{problem}"
            if not skip_bad:
                raise FileFormatError(f"{message} (--skip-bad leaves such rows out)") from None
            skipped.append(message)
    return Sheet(path, table.encoding, tuple(rows), tuple(skipped))


class _BadCellError(Exception):
    """What is wrong with one record; becomes part of a FileFormatError or of `skipped`."""

    def __init__(self, column: str, value: object, expected: str) -> None:
        shown = repr(value)
        cut = shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + "..."
        super().__init__(f", column {column!r}, value {cut}: {expected}")


class _BadRecordError(_BadCellError):
    def __init__(self, problem: str) -> None:
        Exception.__init__(self, f": {problem}")


def _find_columns(table: Table, columns: Columns) -> Mapping[str, tuple[str, ...]]:
    """Give the names under which each field is looked for, checked against the header."""
    names = {
        "prompt": _PROMPTS if columns.prompt is None else (columns.prompt.strip().lower(),),
        "answer": _ANSWERS if columns.answer is None else (columns.answer.strip().lower(),),
        "count": _COUNTS,
    }
    named = {"prompt": True, "answer": columns.answer is not None}
    for field, must in named.items():
        if must and table.columns and not set(names[field]) & set(table.columns):
            raise FileFormatError(
                f"{table.path}, line 1: no column {' or '.join(names[field])} among "
                f"{list(table.columns)}: name it with --{field}-column"
            )
    return names


def _row(record: Record, names: Mapping[str, tuple[str, ...]], separator: str | None) -> Row:
    if record.problem:
        raise _BadRecordError(record.problem)
    cells = record.cells
    for column, value in cells.items():
        if isinstance(value, str) and value.strip() in _FAILED_FORMULAS:
            raise _BadCellError(column, value, "a formula failed here: mend it")
    return Row(
        line=record.line,
        prompts=_prompts(*_pick(cells, names["prompt"]), separator),
        answer=_answer(*_pick(cells, names["answer"])),
        count=_count(*_pick(cells, names["count"])),
        model=_text("model", cells.get("model")),
        namespace=_text("namespace", cells.get("namespace")),
        tags=_tags(cells.get("tags")),
    )


def _pick(cells: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    for name in names:
        if cells.get(name) is not None:
            return name, cells[name]
    return names[0], None


def _prompts(column: str, value: Any, separator: str | None) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    found: dict[str, None] = {}
    for item in items:
        if not isinstance(item, str):
            raise _BadCellError(column, value, "expected a text or a list of texts")
        parts = item.split(separator) if separator else [item]
        found.update({part.strip(): None for part in parts if part.strip()})
    if not found:
        raise _BadCellError(column, value, "expected a question")
    return tuple(found)


def _answer(column: str, value: Any) -> Any:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool | int | float):
        raise _BadCellError(column, value, "expected a text, an object or a list")
    return value or None


def _count(column: str, value: Any) -> int:
    if value is None or value == "":
        return 0
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not number.is_integer() or number < 0:
        raise _BadCellError(column, value, "expected a whole number of 0 or more")
    return int(number)


def _text(column: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _BadCellError(column, value, "expected a text")
    return (value or "").strip() or None


def _tags(value: Any) -> tuple[str, ...]:
    items = _TAG_SEPARATORS.split(value) if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _BadCellError("tags", value, "expected a list of texts, or tags with commas between")
    return tuple(dict.fromkeys(item.strip() for item in items if item.strip()))
