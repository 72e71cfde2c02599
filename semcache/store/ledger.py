"""What each stored row weighs and which goes first when there is too much.

Expired rows go first, the longest expired leading; then the least recently written; pinned rows go
last. Whether an entry may be served is not decided here. Works inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from semcache.entry import Entry
from semcache.store.journal import Run

__all__ = ["create", "reconcile", "victims"]

_BATCH = 64

_CREATE = (
    "CREATE TABLE IF NOT EXISTS semcache_ledger ("
    " written INTEGER PRIMARY KEY AUTOINCREMENT,"
    " key BLOB NOT NULL UNIQUE,"
    " bytes INTEGER NOT NULL,"
    " expires_at REAL,"
    " pinned INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS semcache_ledger_expiry"
    " ON semcache_ledger (expires_at, key, bytes) WHERE expires_at IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS semcache_ledger_order"
    " ON semcache_ledger (pinned, written, key, bytes)",
)


def create(run: Run) -> None:
    """Make the ledger's table and indexes if they are not there."""
    for statement in _CREATE:
        run(statement)


def enter(run: Run, entry: Entry, weight_bytes: int) -> None:
    """Write `entry` down as the most recently written."""
    run(
        "INSERT OR REPLACE INTO semcache_ledger (key, bytes, expires_at, pinned)"
        " VALUES (?, ?, ?, ?)",
        (entry.key, weight_bytes, entry.expires_at, entry.pinned),
    )


def strike(run: Run, key: bytes) -> bool:
    """Take `key` out; say whether it was there."""
    return bool(run("DELETE FROM semcache_ledger WHERE key = ?", (key,)).rowcount)


def total_bytes(run: Run) -> int:
    """The weight of all rows, from the sum that triggers keep: no scan."""
    (total,) = run("SELECT value FROM Settings WHERE key = 'size'").fetchone()
    return int(total)


def victims(run: Run, excess_bytes: int, now: float) -> Iterator[bytes]:
    """Yield keys to drop, in order, until their weights reach `excess_bytes`.

    The caller drops each key before it asks for the next, so that every batch is read anew.
    """
    expired = "WHERE expires_at <= ? ORDER BY expires_at"
    oldest = "WHERE ? IS NOT NULL ORDER BY pinned, written"
    for order in (expired, oldest):
        while excess_bytes > 0:
            rows = run(
                f"SELECT key, bytes FROM semcache_ledger {order} LIMIT {_BATCH}", (now,)
            ).fetchall()
            if not rows:
                break
            for key, weight_bytes in rows:
                if excess_bytes <= 0:
                    return
                yield key
                excess_bytes -= weight_bytes


def reconcile(run: Run) -> bool:
    """Make ledger and rows agree again; say whether they did not.

    They are written together, so they differ only after damage or a change by another hand.
    """
    (listed, weight_bytes) = run(
        "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM semcache_ledger"
    ).fetchone()
    (stored,) = run("SELECT COUNT(*) FROM Cache").fetchone()
    kept = dict(run("SELECT key, value FROM Settings WHERE key IN ('size', 'count')"))
    if listed == stored == kept["count"] and weight_bytes == kept["size"]:
        return False
    run("DELETE FROM Cache WHERE raw IS NOT 1 OR typeof(key) IS NOT 'blob'")
    run("DELETE FROM semcache_ledger WHERE key NOT IN (SELECT key FROM Cache)")
    run("UPDATE Cache SET size = length(value) WHERE typeof(size) IS NOT 'integer' OR size < 0")
    run(
        "INSERT OR IGNORE INTO semcache_ledger (key, bytes, expires_at, pinned)"
        " SELECT key, size, NULL, 0 FROM Cache"
    )
    run(
        "UPDATE semcache_ledger SET bytes = (SELECT size FROM Cache WHERE Cache.key ="
        " semcache_ledger.key)"
    )
    run("UPDATE Settings SET value = (SELECT COUNT(*) FROM Cache) WHERE key = 'count'")
    run("UPDATE Settings SET value = (SELECT COALESCE(SUM(size), 0) FROM Cache) WHERE key = 'size'")
    return True
