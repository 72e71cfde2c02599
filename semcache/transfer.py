"""Entries as a file and back: one JSON line each, between a header and a checksum.

Decides what may come in: a file that does not match in every respect is refused before anything is
stored, and an answer whose tags were invalidated here is not brought back to life. Ids and
lifetimes stay as they were. Nothing in a file is executed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.decision import Bypass
from semcache.entry import Entry
from semcache.epochs import user_tags
from semcache.errors import ArgumentError, ValueFormError
from semcache.transfer_file import entries, verify, writing

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["ExportReport", "ImportReport", "export_entries", "import_entries"]

_BATCH = 64

Progress = Callable[[int], None]
"""Told how many entries are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """How many entries were written, and how many were left out as expired or invalidated."""

    written: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file's entries.

    `present` were there already, in the same or a newer version; `expired` are past their lifetime;
    `invalidated` depend on something that has been invalidated in this cache.
    """

    stored: int
    present: int
    expired: int
    invalidated: int


def export_entries(
    cache: SemanticCache,
    path: Path,
    *,
    namespace: str | None = None,
    origin: str = "",
    replace_file: bool = False,
    on_progress: Progress | None = None,
) -> ExportReport:
    """Write every live entry to a file, for its owner's eyes; `.gz` at the end compresses it.

    Args:
        cache: what to write.
        path: the file. It appears whole or not at all.
        namespace: only this tenant's entries.
        origin: names the directory; `import_entries` into the same one compares counters.
        replace_file: write over a file that is there.
        on_progress: told after each entry.

    Raises:
        ArgumentError: the file is there already.
        StoreError: it cannot be written.
    """
    if path.exists() and not replace_file:
        raise ArgumentError("file", str(path), "it is there already: pass --force to replace it")
    left_out = 0
    with writing(path, origin) as export:
        for entry in cache.entries():
            if namespace is not None and entry.namespace != namespace:
                continue
            if not cache.is_live(entry):
                left_out += 1
                continue
            export.add(entry)
            if on_progress is not None:
                on_progress(export.count)
    return ExportReport(written=export.count, left_out=left_out)


def import_entries(
    cache: SemanticCache,
    path: Path,
    *,
    namespace: str | None = None,
    origin: str = "",
    as_current: bool = False,
    on_progress: Progress | None = None,
) -> ImportReport:
    """Store the entries of an export. The whole file is checked before the first is stored.

    An entry that is there in the same or a newer version stays. Counters of two directories cannot
    be compared: an entry from elsewhere comes in only if nothing that it depends on has ever been
    invalidated here, or if `as_current` says that the file is newer than that.

    Args:
        cache: where to.
        path: a file that `export_entries` wrote.
        namespace: only this tenant's entries.
        origin: names this directory, as at export.
        as_current: take every entry as current, whatever has been invalidated here.
        on_progress: told after each batch.

    Raises:
        FileFormatError: the file is cut, changed or not an export; names the line.
        ValueFormError: `view` or `normalize` of the cache failed.
    """
    written_by = verify(path)
    at_home = bool(origin) and written_by == origin
    there = {entry.key: (entry.entry_id, entry.created_at) for entry in cache.entries()}
    counts = dict.fromkeys(("stored", "present", "expired", "invalidated"), 0)
    batch: list[Entry] = []
    for entry in entries(path):
        if namespace is not None and entry.namespace != namespace:
            continue
        known = there.get(entry.key)
        if known is not None and known[1] >= entry.created_at:
            counts["present"] += 1
            continue
        current = _as_of_here(cache, entry, at_home=at_home, as_current=as_current)
        if current is None:
            counts["invalidated"] += 1
        elif not current.is_live(cache.now()):
            counts["expired"] += 1
        else:
            batch.append(current)
            if len(batch) == _BATCH:
                counts["stored"] += _restore(cache, batch, counts["stored"], on_progress)
    counts["stored"] += _restore(cache, batch, counts["stored"], on_progress)
    return ImportReport(**counts)


def _restore(
    cache: SemanticCache, batch: list[Entry], before: int, on_progress: Progress | None
) -> int:
    count = cache.restore(list(batch)) if batch else 0
    batch.clear()
    if on_progress is not None:
        on_progress(before + count)
    return count


def _as_of_here(
    cache: SemanticCache, entry: Entry, *, at_home: bool, as_current: bool
) -> Entry | None:
    """Give the entry with this cache's counters, or None if it may have been invalidated here."""
    tags = user_tags(entry.epochs)
    handle = cache.open("", model=entry.model, namespace=entry.namespace, depends_on=tags)
    if isinstance(handle, Bypass):
        raise ValueFormError(handle.detail)
    here = {tag: handle.epochs.get(tag, 0) for tag in entry.epochs}
    never_moved = not any(here.values())
    unmoved = at_home and all(here[tag] in (0, count) for tag, count in entry.epochs.items())
    return replace(entry, epochs=here) if never_moved or unmoved or as_current else None
