"""The command group, what its commands have in common, and how they open a directory.

Only what was asked for is opened: no embedding model unless named, no directory that was not there,
and no bound that would evict: a directory's own bound is left to the process that serves from it.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click

from semcache.cache import SemanticCache
from semcache.cli import __version__
from semcache.config import Config
from semcache.errors import ArgumentError
from semcache.store.folder import DATABASE_NAME

__all__ = [
    "cli",
    "directory_argument",
    "embedder_option",
    "file_argument",
    "json_option",
    "model_option",
    "namespace_option",
    "no_model_option",
    "open_cache",
]

_UNBOUNDED_BYTES = 2**62

json_option = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
namespace_option = click.option("--namespace", help="The tenant.")
model_option = click.option("--model", help="The model.")
embedder_option = click.option(
    "--embedder", help="Name or folder of the embedding model the directory was filled with."
)
no_model_option = click.option("--no-model", is_flag=True, help="Leave the semantic tier out.")
directory_argument = click.argument("directory", type=click.Path(path_type=Path))
file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="semcache")
@click.option("-v", "--verbose", is_flag=True, help="Write the library's log to stderr.")
def cli(*, verbose: bool) -> None:
    """Look into, fill and try out a semantic prompt cache."""
    logging.basicConfig(level=logging.DEBUG if verbose else logging.ERROR)
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("semcache").setLevel(logging.DEBUG if verbose else logging.ERROR)


def open_cache(
    directory: Path, *, make: bool = False, finds: bool = False, **options: Any
) -> SemanticCache:
    """Open a directory; only `make` creates it.

    Without `finds` nothing is looked for by likeness: no embedding model and no indexes are needed.
    """
    directory = directory.expanduser()
    if not make and not (directory / DATABASE_NAME).exists():
        raise ArgumentError("DIR", str(directory), "there is no cache: check the path")
    config = Config(
        max_disk_bytes=_UNBOUNDED_BYTES,
        store_timeout_seconds=10.0,
        embed_timeout_seconds=60.0,
        near_duplicates=finds,
        semantic=finds,
    )
    return SemanticCache(directory, config=config, **{"embedder": False, **options})
