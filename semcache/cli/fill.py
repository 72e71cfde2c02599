"""The warm command: reads a file, fills the directory from it and says what became of each row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from semcache.cli import show
from semcache.cli.group import (
    cli,
    directory_argument,
    embedder_option,
    file_argument,
    json_option,
    model_option,
    namespace_option,
    no_model_option,
    open_cache,
)
from semcache.cli.progress import progress
from semcache.errors import ArgumentError, FileFormatError
from semcache.warm import Budget, Columns, Pace, caller, read_rows
from semcache.warm import warm as fill

__all__ = ["warm"]

_SHOWN_LINES = 20
_PER = {"s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*(s|sec|m|min|h))?")


@cli.command()
@directory_argument
@file_argument
@model_option
@namespace_option
@click.option("--prompt-column", help="Name of the column with the questions.")
@click.option("--answer-column", help="Name of the column with the answers.")
@click.option("--separator", help="Splits one cell into several phrasings.")
@click.option("--encoding", help="Of a text file; else UTF-8 if it is that, else GB18030.")
@click.option("--source", help="Name for these entries, for --prune; else the file's name.")
@click.option("--ttl", type=float, help="Lifetime of the answers in seconds; else for ever.")
@click.option("--limit", type=int, help="At most so many questions, the most frequent.")
@click.option("--rate", help="At most so many a second, minute or hour: 5/s, 100/min.")
@click.option("--call", help="Asks for missing answers: module:function, or http://host/v1/MODEL.")
@click.option("--max-cost", type=float, help="Spend at most so much on calls.")
@click.option("--cost-per-entry", type=float, default=0.0, help="What one call costs.")
@click.option("--prune", is_flag=True, help="Take out what this file no longer has.")
@click.option("--static", is_flag=True, help="Also store what the dynamic-query filter holds back.")
@click.option("--skip-bad", is_flag=True, help="Count bad rows and failed calls, and go on.")
@embedder_option
@no_model_option
@json_option
def warm(directory: Path, file: Path, *, as_json: bool, **options: Any) -> None:
    """Store questions and approved answers from FILE: JSONL, CSV, TSV or XLSX.

    Columns: prompt (or question, 问题), answer (or 回答, 答案), and if there count, model,
    namespace, tags. In JSONL `prompts` may be a list. Run it again after editing the file.
    """
    budget = Budget(options["limit"], options["max_cost"], options["cost_per_entry"])
    pace = Pace(_per_second(options["rate"]))
    columns = Columns(
        prompt=options["prompt_column"],
        answer=options["answer_column"],
        separator=options["separator"],
        encoding=options["encoding"],
    )
    skip_bad, model = options["skip_bad"], options["model"]
    sheet = read_rows(file, columns, skip_bad=skip_bad)
    if options["prune"] and sheet.skipped:
        raise FileFormatError(f"nothing is pruned while rows are bad: {sheet.skipped[0]}")
    call = None
    if options["call"] is not None:
        call, model = caller(options["call"], model)
    embedder = False if options["no_model"] else options["embedder"]
    with (
        progress(quiet=as_json) as tell,
        open_cache(directory, make=True, finds=True, embedder=embedder) as cache,
    ):
        if embedder is not False:
            tell("loading the embedding model", 0, 0)
            cache.preload()
        report = fill(
            cache,
            sheet.rows,
            source=options["source"] or f"warm:{file.name}",
            model=model,
            namespace=options["namespace"],
            ttl_seconds=options["ttl"],
            static=options["static"],
            call=call,
            budget=budget,
            pace=pace,
            prune=options["prune"],
            skip_bad=skip_bad,
            on_progress=lambda done, total: tell("storing", done, total),
        )
        cache.flush()
        embedded = cache.ready
    data = asdict(report)
    data |= {"skipped": [*sheet.skipped, *report.skipped], "encoding": sheet.encoding}
    data |= {"embedded": embedded}
    if as_json:
        show.json_line(data)
        return
    without_model = model is None and any(row.model is None for row in sheet.rows)
    for line in _warm_lines(data, without_model=without_model):
        click.echo(show.plain(line))


def _warm_lines(data: dict[str, Any], *, without_model: bool) -> list[str]:
    lines = [
        f"{data['questions']:,} questions: {data['stored']:,} stored, {data['unchanged']:,} "
        f"unchanged, {data['removed']:,} removed, {len(data['refused']):,} refused, "
        f"{len(data['skipped']):,} bad rows or calls; read as {data['encoding']}"
    ]
    if data["called"]:
        lines.append(f"{data['called']:,} calls, cost {data['cost']:g}")
    if data["stopped"]:
        lines.append(f"stopped at {data['stopped']}")
    if not data["embedded"]:
        lines.append("no embedding model: found by the exact and near-duplicate tiers for now")
    if without_model:
        lines.append("stored without a model: only look-ups that name none find them; see --model")
    lines += _first(f"refused: {prompt!r}: {why}" for prompt, why in data["refused"].items())
    return lines + _first(f"bad: {problem}" for problem in data["skipped"])


def _first(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    more = len(found) - _SHOWN_LINES
    return found if more <= 0 else [*found[:_SHOWN_LINES], f"and {more:,} more: --json has all"]


def _per_second(rate: str | None) -> float | None:
    if rate is None:
        return None
    match = _RATE.fullmatch(rate.strip())
    if match is None:
        raise ArgumentError("--rate", rate, "write 5/s, 100/min or 1000/h")
    return float(match[1]) / _PER[match[2] or "s"]
