"""The export and import commands: they name the directory and report what `transfer` decided."""

from __future__ import annotations

import socket
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path

import click

from semcache.cli import show
from semcache.cli.group import (
    cli,
    directory_argument,
    file_argument,
    json_option,
    namespace_option,
    open_cache,
)
from semcache.cli.progress import progress
from semcache.transfer import export_entries, import_entries

__all__ = ["export_", "import_"]


@cli.command(name="export")
@directory_argument
@file_argument
@namespace_option
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
def export_(
    directory: Path, file: Path, namespace: str | None, *, force: bool, as_json: bool
) -> None:
    """Write every live entry to FILE as JSON lines; compressed if it ends in .gz."""
    with open_cache(directory) as cache, progress(quiet=as_json) as tell:
        total = len(cache)
        report = export_entries(
            cache,
            file,
            namespace=namespace,
            origin=_origin(directory),
            replace_file=force,
            on_progress=lambda done: tell("writing", done, total),
        )
    if as_json:
        show.json_line(asdict(report))
    else:
        dead = f" ({report.left_out:,} expired or invalidated left out)" if report.left_out else ""
        click.echo(f"{report.written:,} entries written to {file}{dead}")


@cli.command(name="import")
@directory_argument
@file_argument
@namespace_option
@click.option(
    "--as-current",
    is_flag=True,
    help="Take in answers even if something they depend on was invalidated here.",
)
@json_option
def import_(
    directory: Path, file: Path, namespace: str | None, *, as_current: bool, as_json: bool
) -> None:
    """Store the entries of an export, with their ids and lifetimes. Newer ones here stay."""
    with open_cache(directory, make=True) as cache, progress(quiet=as_json) as tell:
        report = import_entries(
            cache,
            file,
            namespace=namespace,
            origin=_origin(directory),
            as_current=as_current,
            on_progress=lambda done: tell("storing", done, 0),
        )
    if as_json:
        show.json_line(asdict(report))
        return
    click.echo(
        f"{report.stored:,} entries stored, {report.present:,} there already, "
        f"{report.expired:,} expired, {report.invalidated:,} invalidated here"
    )
    if report.invalidated:
        click.echo("--as-current takes the invalidated ones in, if the file is newer than that")


def _origin(directory: Path) -> str:
    """Name a directory without giving its path away."""
    name = f"{socket.gethostname()}:{directory.expanduser().resolve()}"
    return blake2b(name.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
