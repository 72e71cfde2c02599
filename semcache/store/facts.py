"""The small things a directory remembers beside entries: epochs, marks and its own number.

An epoch counts how often its tag was invalidated. A mark is a pair that is never to be served
again. The number tells one database from another that took its place. Works inside the caller's
transaction.
"""

from __future__ import annotations

import secrets

from semcache.store.folder import DamagedDatabaseError
from semcache.store.journal import Run, as_blob, as_tag

__all__ = ["MAX_MARKS"]

MAX_MARKS = 10_000
"""Marks past this number push out the oldest ones."""

_IDENTITY = as_blob("\x00identity")
_CREATE = (
    "CREATE TABLE IF NOT EXISTS semcache_epoch (tag BLOB PRIMARY KEY, count INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS semcache_fact (name BLOB PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS semcache_mark ("
    " made INTEGER PRIMARY KEY AUTOINCREMENT,"
    " query BLOB NOT NULL,"
    " entry BLOB NOT NULL,"
    " UNIQUE (query, entry))",
)


def create(run: Run) -> None:
    """Make the tables if they are not there, and give a new database its number."""
    for statement in _CREATE:
        run(statement)
    run(
        "INSERT OR IGNORE INTO semcache_fact (name, value) VALUES (?, ?)",
        (_IDENTITY, secrets.token_bytes(6)),
    )


def identity(run: Run) -> int:
    """The number that tells this database from every other one, of the same directory as well."""
    row = run("SELECT value FROM semcache_fact WHERE name = ?", (_IDENTITY,)).fetchone()
    if row is None or type(row[0]) is not bytes:
        raise DamagedDatabaseError("it does not say which database it is")
    return int.from_bytes(row[0])


def move_epoch(run: Run, tag: str) -> int:
    """Move the counter of `tag` by one and return where it stands."""
    name = as_blob(tag)
    run("INSERT OR IGNORE INTO semcache_epoch (tag, count) VALUES (?, 0)", (name,))
    run("UPDATE semcache_epoch SET count = count + 1 WHERE tag = ?", (name,))
    (count,) = run("SELECT count FROM semcache_epoch WHERE tag = ?", (name,)).fetchone()
    return int(count)


def epochs(run: Run) -> dict[str, int]:
    """Every counter that has moved. An unreadable one would revive what was invalidated."""
    found = {}
    for tag, count in run("SELECT tag, count FROM semcache_epoch"):
        if type(tag) is not bytes or type(count) is not int:
            raise DamagedDatabaseError("it holds an epoch that is not a name and a number")
        found[as_tag(tag)] = count
    return found


def add_mark(run: Run, query_key: bytes, entry_key: bytes) -> bool:
    """Remember a pair; say whether it is new."""
    added = run(
        "INSERT OR IGNORE INTO semcache_mark (query, entry) VALUES (?, ?)", (query_key, entry_key)
    ).rowcount
    run(
        "DELETE FROM semcache_mark WHERE made <= (SELECT MAX(made) FROM semcache_mark) - ?",
        (MAX_MARKS,),
    )
    return bool(added)


def marks(run: Run) -> set[tuple[bytes, bytes]]:
    """Every pair that is never to be served again."""
    found = set(run("SELECT query, entry FROM semcache_mark"))
    if any(type(half) is not bytes for pair in found for half in pair):
        raise DamagedDatabaseError("it holds a mark that is not a pair of keys")
    return found
