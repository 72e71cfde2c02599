"""The order of all writes to one directory: what each process reads to follow the others.

A journal row goes into the same SQLite transaction as the row it speaks of. Sequences have no gaps
and are never used twice, so a reader that does not find the sequence after its own knows that the
journal was trimmed past it. Nothing here opens a transaction or a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

__all__ = ["JOURNAL_ROWS", "Change", "Changes", "Op", "Resync", "Run", "as_blob", "as_tag"]

JOURNAL_ROWS = 20_000
"""How many changes are kept for processes that have not read them yet."""

_TRIM_EVERY = 1_024

Run: TypeAlias = Callable[..., Any]
"""The `execute` of a connection, inside whatever transaction the caller has begun."""


class Op(StrEnum):
    """What a change did."""

    PUT = "put"
    DELETE = "delete"
    EPOCH = "epoch"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Change:
    """One change made by another process or instance.

    `key` is the entry put or deleted, or the entry of a mark; `query_key` is the other half of the
    mark. `tag` and `count` are the epoch that moved and where it stands now.
    """

    op: Op
    key: bytes = b""
    query_key: bytes = b""
    tag: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Resync:
    """The changes since last time cannot be told one by one: read the store again."""

    reason: str


Changes: TypeAlias = "list[Change] | Resync"

_CREATE = """
CREATE TABLE IF NOT EXISTS semcache_journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    origin BLOB NOT NULL,
    op TEXT NOT NULL,
    subject BLOB NOT NULL,
    detail BLOB NOT NULL,
    count INTEGER NOT NULL
)
"""


def create(run: Run) -> None:
    """Make the journal's table if it is not there, and read through it if it is.

    Damage is met here, before anything is acknowledged into the same file.
    """
    run(_CREATE)
    run("SELECT TOTAL(count) FROM semcache_journal").fetchone()


def append(run: Run, origin: bytes, changes: Iterable[Change]) -> None:
    """Add `changes` in order, as made by `origin`."""
    for change in changes:
        epoch = change.op is Op.EPOCH
        subject = as_blob(change.tag) if epoch else change.key
        run(
            "INSERT INTO semcache_journal (origin, op, subject, detail, count)"
            " VALUES (?, ?, ?, ?, ?)",
            (origin, change.op.value, subject, change.query_key, change.count),
        )


def last_sequence(run: Run) -> int:
    """The sequence of the newest change, 0 if there has never been one."""
    row = run("SELECT seq FROM sqlite_sequence WHERE name = 'semcache_journal'").fetchone()
    return 0 if row is None else int(row[0])


def read(run: Run, after: int, origin: bytes) -> tuple[int, Changes]:
    """Return the newest sequence and the changes past `after` that `origin` did not make."""
    rows = run(
        "SELECT seq, origin, op, subject, detail, count FROM semcache_journal"
        " WHERE seq > ? ORDER BY seq",
        (after,),
    ).fetchall()
    if not rows:
        newest = last_sequence(run)
        if newest == after:
            return after, []
        return newest, Resync(f"the journal ends at {newest}, this process has read to {after}")
    if rows[0][0] != after + 1:
        return rows[-1][0], Resync(f"the journal was trimmed past {after}")
    try:
        return rows[-1][0], _changes_of_others(rows, origin)
    except (TypeError, ValueError) as error:
        return rows[-1][0], Resync(f"the journal holds a row that is not readable: {error}")


def _changes_of_others(rows: list[Sequence[Any]], origin: bytes) -> list[Change]:
    """All but one's own, and but for a delete that one's own later put has made void."""
    own_puts = {
        subject: sequence
        for sequence, made_by, op, subject, _, _ in rows
        if made_by == origin and op == Op.PUT
    }
    changes = [(row[0], _change(row)) for row in rows if row[1] != origin]
    return [
        change
        for sequence, change in changes
        if change.op is not Op.DELETE or own_puts.get(change.key, 0) < sequence
    ]


def trim(run: Run, keep_rows: int) -> int:
    """Drop all but the newest `keep_rows` changes (at least one); say how many went."""
    floor = last_sequence(run) - max(keep_rows, 1)
    return int(run("DELETE FROM semcache_journal WHERE seq <= ?", (floor,)).rowcount)


def trim_now_and_then(run: Run, before: int, after: int) -> None:
    """Keep the journal near `JOURNAL_ROWS`, at a cost spread over many writes."""
    if before // _TRIM_EVERY != after // _TRIM_EVERY:
        trim(run, JOURNAL_ROWS)


def as_blob(text: str) -> bytes:
    """Text as bytes, lone surrogates included: SQLite's own text refuses them."""
    return text.encode("utf-8", "surrogatepass")


def as_tag(blob: bytes) -> str:
    """Text as it was before `as_blob`; bytes that are not text stand for themselves."""
    try:
        return blob.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return blob.hex()


def _change(row: Sequence[Any]) -> Change:
    _, _, op, subject, detail, count = row
    if (type(subject), type(detail), type(count)) != (bytes, bytes, int):
        raise TypeError("its columns have other types")
    kind = Op(op)
    if kind is Op.EPOCH:
        return Change(kind, tag=as_tag(subject), count=count)
    return Change(kind, key=subject, query_key=detail)
