"""The demo command: runs it and prints what is simulated, a table and a picture.

Adds no figure of its own.
"""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from semcache.cli import show
from semcache.cli.group import cli, json_option, no_model_option
from semcache.cli.progress import progress
from semcache.demo import Demo, Settings, run_demo, run_live
from semcache.demo.picture import COLOURS, LEGEND, check_png, columns, save_png
from semcache.demo.report import as_data, introduction, notes, rows
from semcache.endpoint import Endpoint

__all__ = ["demo", "print_demo"]

_LENGTH, _LIVE_LENGTH = 1000, 40
"""On two cores 1,500 requests twice, 7 s of loading included, take some 40 s."""

_WIDTH, _HEIGHT = 72, 10


@cli.command()
@click.option("--length", type=click.IntRange(1), help="Requests; else 1000, or 40 with --live.")
@click.option("--seed", type=int, default=7, show_default=True)
@click.option("--exponent", type=float, default=0.8, show_default=True, help="Zipf's exponent.")
@click.option("--price", type=float, default=0.002, show_default=True, help="Assumed, $ a call.")
@click.option("--png", type=click.Path(path_type=Path), help="Also draw into this file.")
@click.option("--live", is_flag=True, help="Ask OPENAI_MODEL at OPENAI_BASE_URL.")
@no_model_option
@json_option
def demo(
    length: int | None,
    seed: int,
    exponent: float,
    price: float,
    png: Path | None,
    *,
    live: bool,
    no_model: bool,
    as_json: bool,
) -> None:
    """Replay real customer-support questions through a decorated function."""
    if png is not None:
        check_png(png)
    settings = Settings(
        length=length or (_LIVE_LENGTH if live else _LENGTH),
        seed=seed,
        exponent=exponent,
        cost_per_call=price,
    )
    embedder = False if no_model else None
    with progress(quiet=as_json) as tell:
        shown = (
            run_live(settings, Endpoint.from_environment(), embedder=embedder, on_progress=tell)
            if live
            else run_demo(settings, embedder=embedder, on_progress=tell)
        )
    if png is not None:
        save_png(shown, png)
    if as_json:
        show.json_line(as_data(shown))
    else:
        print_demo(shown)


def print_demo(shown: Demo) -> None:
    """Print a demo, first of all what in it is simulated."""
    for line in introduction(shown):
        click.echo(line)
    show.print_table(rows(shown))
    out = show.console()
    result = next(iter(shown.results.values()))
    out.print("How requests ended, from the first to the last:", markup=False)
    for kinds in columns(result, _WIDTH, _HEIGHT):
        out.print(Text.assemble(" |", *((LEGEND[kind], COLOURS[kind]) for kind in kinds)))
    legend = [(f" {LEGEND[kind]} {kind} ", COLOURS[kind]) for kind in LEGEND]
    out.print(Text.assemble(" ", *legend))
    click.echo("")
    for line in notes(shown):
        click.echo(line)
    click.echo(f"Took {shown.real_seconds:.0f} s of real time.")
