"""Draws how a stream's requests ended: in characters, or as a PNG where matplotlib is installed."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from semcache.decision import Tier
from semcache.demo.replay import BYPASS, CALLED, KINDS, ReplayResult
from semcache.demo.show import Demo
from semcache.errors import ArgumentError, MissingExtraError, StoreError

__all__ = ["COLOURS", "LEGEND", "check_png", "columns", "save_png"]

LEGEND = {
    Tier.EXACT.value: "█",
    Tier.NEAR_DUPLICATE.value: "▓",
    Tier.SEMANTIC.value: "▒",
    CALLED: "·",
    BYPASS: "-",
}
"""One character a kind of end, so that the picture needs no colour."""

COLOURS = {
    Tier.EXACT.value: "green",
    Tier.NEAR_DUPLICATE.value: "cyan",
    Tier.SEMANTIC.value: "magenta",
    CALLED: "bright_black",
    BYPASS: "default",
}
_PNG_COLOURS = ("#2a9d4a", "#2aa5b8", "#a855c7", "#c9c9c9", "#efefef")


def columns(result: ReplayResult, width: int, height: int) -> list[list[str]]:
    """Give `height` lines of `width` kinds: each column is a slice of the stream, stacked.

    The lowest kind of a column is the exact hits. A stream shorter than `width` is drawn narrower.
    """
    stacks = [_stack(part, height) for part in _slices(result.ends, width)]
    return [[stack[height - 1 - line] for stack in stacks] for line in range(height)]


def _slices(ends: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    count = min(width, len(ends))
    for i in range(count):
        yield ends[len(ends) * i // count : len(ends) * (i + 1) // count]


def _stack(part: Sequence[str], height: int) -> list[str]:
    """Share a column's cells among the kinds, so that the cells add up."""
    found = Counter(part)
    cells: list[str] = []
    seen = 0
    for kind in KINDS:
        seen += found[kind]
        cells += [kind] * (round(height * seen / len(part)) - len(cells))
    return cells


def check_png(path: Path) -> None:
    """Say now, not after a minute of work, that a PNG cannot be drawn there.

    Raises:
        ArgumentError: the path does not end in .png, or its folder is not there.
        MissingExtraError: matplotlib is not installed.
    """
    if path.suffix.lower() != ".png":
        raise ArgumentError("png", str(path), "pass a file name that ends in .png")
    if not path.absolute().parent.is_dir():
        raise ArgumentError("png", str(path), "its folder is not there")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "pip install matplotlib")


def save_png(demo: Demo, path: Path) -> None:
    """Draw the cumulative share of each kind over the stream, one panel a stream.

    Raises what `check_png` raises, and StoreError when the file cannot be written.
    """
    check_png(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * len(demo.results), 4), layout="constrained")
    panels = figure.subplots(1, len(demo.results), squeeze=False)[0]
    for axes, (name, result) in zip(panels, demo.results.items(), strict=True):
        shares = _cumulative(result.ends)
        axes.stackplot(range(1, result.requests + 1), shares, labels=KINDS, colors=_PNG_COLOURS)
        axes.set(title=f"{name}: {result.hit_share:.1%} from the cache", xlabel="requests")
        axes.set(ylim=(0, 1), ylabel="share of requests so far", xlim=(1, result.requests))
        axes.legend(loc="lower right")
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def _cumulative(ends: Sequence[str]) -> list[list[float]]:
    shares: list[list[float]] = [[] for _ in KINDS]
    found: Counter[str] = Counter()
    for done, end in enumerate(ends, start=1):
        found[end] += 1
        for line, kind in zip(shares, KINDS, strict=True):
            line.append(found[kind] / done)
    return shares
