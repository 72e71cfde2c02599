"""How decisions, entries and directories are shown: plain data for machines, lines for people.

Stored texts are not trusted: nothing in them may steer a terminal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, assert_never

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from semcache.decision import Bypass, Decision, Hit, Miss
from semcache.entry import Entry
from semcache.epochs import user_tags
from semcache.value import decode

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = [
    "age",
    "console",
    "decision_data",
    "directory_data",
    "directory_lines",
    "entry_data",
    "expiry",
    "json_line",
    "plain",
    "print_table",
    "state",
]

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def json_line(data: Any) -> None:
    """Print data as one line of JSON; what JSON lacks is shown as text."""
    click.echo(json.dumps(data, ensure_ascii=True, default=repr))


def plain(text: str) -> str:
    """Give a text with its control characters made visible; line ends and tabs stay.

    >>> plain("a" + chr(27) + "[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def print_table(rows: Iterable[Iterable[str]], *, file: Any = None) -> None:
    """Print rows as a table, the first row being its head. Cells are never read as markup."""
    head, *body = [[Text(plain(cell)) for cell in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for cell in head:
        table.add_column(cell)
    for row in body:
        table.add_row(*row)
    console(file).print(table)


def console(file: Any = None) -> Console:
    """Give a console that does not cut lines where nobody sees a screen."""
    made = Console(file=file, highlight=False, emoji=False)
    return made if made.is_terminal else Console(file=file, highlight=False, emoji=False, width=160)


def age(seconds: float) -> str:
    """Give a span of time in its largest fitting unit.

    >>> age(7300)
    '2 h'
    """
    for unit_seconds, unit in _UNITS:
        if seconds >= unit_seconds:
            return f"{int(seconds / unit_seconds)} {unit}"
    return "0 s"


def decision_data(decision: Decision) -> dict[str, Any]:
    """Give a decision as plain data; `decision` is hit, miss or bypass."""
    steps = [asdict(step) for step in decision.steps]
    match decision:
        case Hit():
            return {
                "decision": "hit",
                "value": decision.value,
                "tier": decision.tier.value,
                "score": decision.score,
                "age_seconds": decision.age_seconds,
                "entry_id": decision.entry_id,
                "stale": decision.stale,
                "steps": steps,
            }
        case Miss():
            near = None if decision.nearest is None else asdict(decision.nearest)
            reason = {"reason": decision.reason.value, "detail": decision.detail}
            return {"decision": "miss", **reason, "nearest": near, "steps": steps}
        case Bypass():
            reason = {"reason": decision.reason.value, "detail": decision.detail}
            return {"decision": "bypass", **reason, "steps": steps}
        case _:
            assert_never(decision)


def entry_data(cache: SemanticCache, entry: Entry, *, full: bool = False) -> dict[str, Any]:
    """Give an entry as plain data, with its value if `full`."""
    data: dict[str, Any] = {
        "entry_id": entry.entry_id,
        "text": entry.text,
        "namespace": entry.namespace,
        "model": entry.model,
        "tags": user_tags(entry.epochs),
        "age_seconds": cache.now() - entry.created_at,
        "created_at": entry.created_at,
        "expires_at": entry.expires_at,
        "state": state(cache, entry),
        "pinned": entry.pinned,
        "source": entry.source,
    }
    if full:
        data |= {
            "value": decode(entry.payload),
            "stream": entry.stream,
            "exact_only": entry.exact_only,
            "embedder": entry.embedder or None,
            "windows": entry.windows,
            "size_bytes": entry.size_bytes,
            "saved_seconds": entry.saved_seconds,
            "saved_cost": entry.saved_cost,
        }
    return data


def state(cache: SemanticCache, entry: Entry) -> str:
    """Say whether an entry is live, expired or invalidated."""
    if cache.is_live(entry):
        return "live"
    return "invalidated" if entry.is_live(cache.now()) else "expired"


def expiry(cache: SemanticCache, entry: Entry) -> str:
    """Say when an entry ends, or that it has."""
    found = state(cache, entry)
    if found != "live":
        return found
    return "never" if entry.expires_at is None else f"in {age(entry.expires_at - cache.now())}"


def directory_data(cache: SemanticCache) -> dict[str, Any]:
    """Count what a directory holds."""
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("states", "namespaces", "models", "sources")
    }
    pinned = embedded = 0
    created: list[float] = []
    ends: list[float] = []
    for entry in cache.entries():
        found = state(cache, entry)
        counts["states"][found] += 1
        counts["namespaces"][entry.namespace] += 1
        counts["models"][entry.model or ""] += 1
        counts["sources"][entry.source] += 1
        pinned += entry.pinned
        embedded += entry.windows > 0
        created.append(entry.created_at)
        if found == "live" and entry.expires_at is not None:
            ends.append(entry.expires_at)
    return {
        "entries": len(created),
        **{name: dict(count.most_common()) for name, count in counts.items()},
        "pinned": pinned,
        "embedded": embedded,
        "disk_bytes": int(cache.stats().store.get("disk_bytes", 0)),
        "oldest_seconds": cache.now() - min(created) if created else None,
        "newest_seconds": cache.now() - max(created) if created else None,
        "next_expiry_seconds": min(ends) - cache.now() if ends else None,
    }


def directory_lines(data: Mapping[str, Any]) -> list[str]:
    """Give the counts of a directory as lines for people."""
    states = ", ".join(f"{count:,} {name}" for name, count in data["states"].items())
    lines = [
        f"{data['entries']:,} entries{f' ({states})' if states else ''}, "
        f"{data['disk_bytes'] / 1e6:.1f} MB, {data['pinned']:,} pinned, "
        f"{data['embedded']:,} with vectors"
    ]
    if data["oldest_seconds"] is not None:
        lines.append(
            f"oldest {age(data['oldest_seconds'])} old, newest {age(data['newest_seconds'])} old"
        )
    if data["next_expiry_seconds"] is not None:
        lines.append(f"next to expire in {age(data['next_expiry_seconds'])}")
    for name in ("namespaces", "models", "sources"):
        if data[name]:
            each = ", ".join(f"{key or '(none)'} {n:,}" for key, n in data[name].items())
            lines.append(f"{name}: {each}")
    return [plain(line) for line in lines]
