"""Commands that look into a directory: lookup, stats, inspect, invalidate. They decide nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from semcache.cache import SemanticCache
from semcache.cli import show
from semcache.cli.group import (
    cli,
    directory_argument,
    embedder_option,
    json_option,
    model_option,
    namespace_option,
    no_model_option,
    open_cache,
)
from semcache.cli.progress import progress
from semcache.decision import Bypass, Decision, Hit, Miss, Reason
from semcache.entry import Entry
from semcache.epochs import user_tags
from semcache.errors import ArgumentError

__all__ = ["inspect", "invalidate", "lookup", "stats"]

_HIT, _MISS, _BYPASS = 0, 1, 3
_SHOWN_CHARACTERS = 60
_NOT_PARAMETERS = frozenset({"prompt", "model", "namespace", "dynamic", "no_cache", "refresh"})


@cli.command()
@directory_argument
@click.argument("prompt")
@model_option
@namespace_option
@click.option("--param", "params", multiple=True, metavar="K=V", help="More that must be equal.")
@click.option("--threshold", type=float, help="Lowest cosine served.")
@embedder_option
@no_model_option
@json_option
def lookup(
    directory: Path,
    prompt: str,
    model: str | None,
    namespace: str | None,
    params: tuple[str, ...],
    threshold: float | None,
    embedder: str | None,
    *,
    no_model: bool,
    as_json: bool,
) -> int:
    """Say what would be served for PROMPT, and why. Exit code 0 hit, 1 miss, 3 bypass."""
    identity = {"model": model, "namespace": namespace, **_params(params)}
    chosen = False if no_model else embedder
    with open_cache(directory, finds=True, embedder=chosen, threshold=threshold) as cache:
        decision = cache.explain(prompt, **identity)
        if _was_loading(decision):
            with progress(quiet=as_json) as tell:
                tell("loading the embedding model", 0, 0)
                cache.preload()
            decision = cache.explain(prompt, **identity)
    if as_json:
        show.json_line(show.decision_data(decision))
    else:
        click.echo(show.plain(str(decision)))
        if isinstance(decision, Hit):
            click.echo(show.plain(f"\n{decision.value}"))
    if isinstance(decision, Bypass):
        return _BYPASS
    return _HIT if isinstance(decision, Hit) else _MISS


def _was_loading(decision: Decision) -> bool:
    reason = Reason.LOADING.value
    return isinstance(decision, Miss) and any(reason in step.reason for step in decision.steps)


def _params(params: tuple[str, ...]) -> dict[str, Any]:
    """Read K=V pairs; a V that is JSON is taken as such, anything else as text."""
    found: dict[str, Any] = {}
    for param in params:
        name, equals, text = param.partition("=")
        if not name or not equals:
            raise ArgumentError("--param", param, "write NAME=VALUE")
        if name in _NOT_PARAMETERS:
            raise ArgumentError("--param", param, f"{name} has a place of its own: see --help")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


@cli.command()
@directory_argument
@json_option
def stats(directory: Path, *, as_json: bool) -> None:
    """Count what the directory holds."""
    with open_cache(directory) as cache:
        data = show.directory_data(cache)
    if as_json:
        show.json_line(data)
    else:
        click.echo("\n".join(show.directory_lines(data)))


@cli.command()
@directory_argument
@click.argument("entry_id", required=False)
@model_option
@namespace_option
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@json_option
def inspect(
    directory: Path,
    entry_id: str | None,
    model: str | None,
    namespace: str | None,
    limit: int,
    *,
    as_json: bool,
) -> None:
    """List entries, newest first, or show one in full. ENTRY_ID may be its beginning."""
    with open_cache(directory) as cache:
        if entry_id is not None:
            _show_entry(cache, _find(cache, entry_id), as_json=as_json)
            return
        found = [
            entry
            for entry in cache.entries()
            if (namespace is None or entry.namespace == namespace)
            and (model is None or entry.model == model)
        ]
        found.sort(key=lambda entry: -entry.created_at)
        if as_json:
            entries = [show.entry_data(cache, entry) for entry in found[:limit]]
            show.json_line({"entries": entries, "total": len(found)})
            return
        _list_entries(cache, found[:limit])
        if len(found) > limit:
            click.echo(f"{len(found) - limit:,} more: --limit shows them")


def _find(cache: SemanticCache, entry_id: str) -> Entry:
    found = [entry for entry in cache.entries() if entry.entry_id.startswith(entry_id.lower())]
    if len(found) != 1:
        remedy = "no entry begins so" if not found else f"{len(found)} entries begin so: give more"
        raise ArgumentError("ENTRY_ID", entry_id, remedy)
    return found[0]


def _list_entries(cache: SemanticCache, entries: list[Entry]) -> None:
    head = ["entry", "age", "expires", "namespace", "model", "tags", "text"]
    rows = [
        [
            entry.entry_id[:12],
            show.age(cache.now() - entry.created_at),
            show.expiry(cache, entry) + (", pinned" if entry.pinned else ""),
            entry.namespace,
            entry.model or "",
            ", ".join(user_tags(entry.epochs)),
            " ".join(entry.text.split())[:_SHOWN_CHARACTERS],
        ]
        for entry in entries
    ]
    show.print_table([head, *rows])


def _show_entry(cache: SemanticCache, entry: Entry, *, as_json: bool) -> None:
    data = show.entry_data(cache, entry, full=True)
    if as_json:
        show.json_line(data)
        return
    for name, value in data.items():
        click.echo(show.plain(f"{name:<15}{value}"))


@cli.command()
@directory_argument
@click.argument("tag", required=False)
@model_option
@namespace_option
@json_option
def invalidate(
    directory: Path, tag: str | None, model: str | None, namespace: str | None, *, as_json: bool
) -> None:
    """Kill every answer that depends on TAG, or on a --model, or of a --namespace."""
    with open_cache(directory) as cache:
        before = sum(cache.is_live(entry) for entry in cache.entries())
        count = cache.invalidate(tag, model=model, namespace=namespace)
        killed = before - sum(cache.is_live(entry) for entry in cache.entries())
    if as_json:
        show.json_line({"invalidated": killed, "counter": count})
    else:
        click.echo(f"{killed:,} entries invalidated (the counter stands at {count})")
