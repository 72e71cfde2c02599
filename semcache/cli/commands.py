"""All commands, gathered: importing this registers them with the group."""

from __future__ import annotations

from semcache.cli.fill import warm
from semcache.cli.group import cli
from semcache.cli.look import inspect, invalidate, lookup, stats
from semcache.cli.move import export_, import_
from semcache.cli.showcase import demo

__all__ = [
    "cli",
    "demo",
    "export_",
    "import_",
    "inspect",
    "invalidate",
    "lookup",
    "stats",
    "warm",
]
