"""Turns a demo's results into sentences, a table and plain data. Computes no result of its own,
but the interval around the share of wrong hits.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from semcache.decision import Tier
from semcache.demo.replay import BYPASS, CALLED, KINDS, ReplayResult
from semcache.demo.show import Demo

__all__ = ["as_data", "introduction", "notes", "rows", "share_interval"]

_TITLES = {
    Tier.EXACT.value: "exact",
    Tier.NEAR_DUPLICATE.value: "near-duplicate",
    Tier.SEMANTIC.value: "semantic",
    CALLED: "model called after a miss",
    BYPASS: "held back by the dynamic-query filter",
}
_ENDS = {"repeated": "with repetition", "once": "each question once"}


def share_interval(count: int, total: int) -> tuple[float, float]:
    """Give the 95 % Clopper-Pearson interval of a share; (0, 1) when nothing was counted.

    >>> low, high = share_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    if total == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # scipy ships no types

    interval = binomtest(count, total).proportion_ci(0.95, "exact")
    return float(interval.low), float(interval.high)


def introduction(demo: Demo) -> list[str]:
    """Say what is simulated and what is real, before any figure."""
    s = demo.settings
    repeats = (
        f"how often questions repeat (drawn by Zipf's law, exponent {s.exponent:g}, seed {s.seed})"
    )
    price = f"its price (${s.cost_per_call:g} a call, an assumption)"
    real = f"{demo.questions:,} questions of a bank's customers (BANKING77)"
    if demo.live:
        return [
            f"Simulated: {repeats} and the model's price (${s.cost_per_call:g} a call).",
            f"Real: the model ({demo.live}) and its time, {real}, embeddings, the cache and its "
            "milliseconds.",
        ]
    return [
        f"Simulated: the model (a stand-in that takes {1000 * s.model_seconds:g} ms on a simulated "
        f"clock), {price}, and {repeats}.",
        f"Real: {real}, their embeddings, the cache and its milliseconds.",
    ]


def rows(demo: Demo) -> list[list[str]]:
    """Give the table: a header row, then one row a figure, one column a stream."""
    results = list(demo.results.values())
    table = [["", *(_ENDS[name] for name in demo.results)]]

    def add(title: str, cell: Any) -> None:
        table.append([title, *(cell(result) for result in results)])

    add("requests", lambda r: f"{r.requests:,}")
    add("answered from the cache", lambda r: _share(r.hits, r.requests))
    for kind in KINDS:
        indent = "  " if kind in _HITS else ""
        add(indent + _TITLES[kind], lambda r, k=kind: _share(r.counts[k], r.requests))
    add("wrong hits, of hits (95 % interval)", _wrong)
    for kind in (k for k in _HITS if any(r.wrong.get(k) for r in results)):
        add("  " + _TITLES[kind], lambda r, k=kind: _share(r.wrong.get(k, 0), r.counts[k]))
    add("cache's own time, real, p50 / p95", lambda _: "")
    for kind in KINDS:
        add("  " + _TITLES[kind], lambda r, k=kind: _times(r, k))
    model = "model's time, real" if demo.live else "model's time, simulated"
    add(f"{model}: spent / saved", lambda r: f"{r.model_seconds:.1f} s / {r.saved_seconds:.1f} s")
    add("money, assumed price: spent / saved", lambda r: f"${r.cost:.2f} / ${r.saved_cost:.2f}")
    add("  share saved", _share_of_money)
    return table


_HITS = tuple(tier.value for tier in Tier)


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.1%})" if total else "0"


def _wrong(result: ReplayResult) -> str:
    if not result.hits:
        return "no hits"
    low, high = share_interval(result.wrong_hits, result.hits)
    share = result.wrong_hits / result.hits
    return f"{result.wrong_hits} of {result.hits:,} = {share:.2%} ({low:.2%} to {high:.2%})"


def _times(result: ReplayResult, kind: str) -> str:
    middle, late = result.percentile_ms(kind, 0.5), result.percentile_ms(kind, 0.95)
    return "" if middle is None or late is None else f"{middle:.2f} / {late:.2f} ms"


def _share_of_money(result: ReplayResult) -> str:
    total = result.cost + result.saved_cost
    return f"{result.saved_cost / total:.1%}" if total else "0"


def notes(demo: Demo) -> list[str]:
    """Say what a reader of the table should know."""
    said = [
        "A hit is wrong when its answer was given to a question with another label; the labels "
        "have errors of their own.",
    ]
    if "once" in demo.results:
        said.append(
            "Repeats are identical texts, so exact hits grow with the exponent; the column "
            "without repetition shows what meaning alone finds."
        )
    if demo.missing:
        said.append(f"No semantic tier: {demo.missing}")
    return said


def as_data(demo: Demo) -> dict[str, Any]:
    """Give everything as plain data, for machines."""
    return {
        "settings": asdict(demo.settings),
        "simulated": introduction(demo)[0],
        "real": introduction(demo)[1],
        "semantic_tier_missing": demo.missing or None,
        "real_seconds": demo.real_seconds,
        "streams": {name: _result_data(result) for name, result in demo.results.items()},
    }


def _result_data(result: ReplayResult) -> dict[str, Any]:
    return {
        "requests": result.requests,
        "hits": result.hits,
        "hit_share": result.hit_share,
        "counts": result.counts,
        "reasons": dict(result.reasons),
        "wrong_hits": result.wrong_hits,
        "wrong_by_tier": dict(result.wrong),
        "wrong_share_of_hits": result.wrong_hits / result.hits if result.hits else None,
        "wrong_share_interval_95": list(share_interval(result.wrong_hits, result.hits)),
        "wrong_examples": [asdict(example) for example in result.examples],
        "cache_ms": {
            kind: {
                "p50": result.percentile_ms(kind, 0.5),
                "p95": result.percentile_ms(kind, 0.95),
            }
            for kind in result.milliseconds
        },
        "model_seconds": result.model_seconds,
        "saved_seconds": result.saved_seconds,
        "cost": result.cost,
        "saved_cost": result.saved_cost,
    }
