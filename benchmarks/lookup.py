"""Times one look-up against the cheapest thing that could stand in its place, side by side.

    python benchmarks/lookup.py [--rounds 2000] [--json benchmarks/results/lookup.json]

Three ratios: an exact hit in memory against sha256 and a dict, an exact hit on disk against a bare
diskcache get, and what a miss adds beyond the embedding. A 70-character prompt, a 500-character
answer. Every measurement alternates between the two sides, so that noise falls on both.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import diskcache
import numpy as np
from numpy.typing import NDArray

from semcache import Hit, Miss, SemanticCache

PROMPT = "How do I reset the password of my account if I lost my phone number??!"
ANSWER = "x" * 500
FILLER_ENTRIES = 1000
WORDS = (
    "account address balance branch cancel card charge cheque close credit currency debit deposit "
    "details document exchange fee fund identity interest invoice limit loan merchant mortgage "
    "number order overdraft parcel password payment phone receipt refund renew salary savings "
    "statement transfer travel upgrade verify voucher withdraw"
).split()


class Instant:
    """An embedder that takes no time, so that what is left is the cache's own."""

    name = "instant"
    dimension = 384
    default_threshold = 0.95

    def __init__(self) -> None:
        rows = np.random.default_rng(0).standard_normal((16_384, 384)).astype(np.float32)
        self._rows: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Pick a row by the text's hash: unrelated texts are far apart, as real ones are."""
        return self._rows[[hash(text) % len(self._rows) for text in texts]]


def alternate(
    sides: dict[str, Callable[[], Any]], rounds: int, between: Callable[[], Any] = int
) -> dict[str, float]:
    """Give the median microseconds of each side, run in turns; `between` runs untimed."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, run in sides.items():
            started = time.perf_counter()
            run()
            took[name].append(time.perf_counter() - started)
            between()
    return {name: 1e6 * statistics.median(values) for name, values in took.items()}


def memory_hit(rounds: int) -> dict[str, float]:
    """Time an exact hit in memory against sha256 and a dict."""
    cache = SemanticCache(embedder=Instant())
    cache.put(PROMPT, ANSWER)
    bare = {hashlib.sha256(PROMPT.encode()).digest(): ANSWER}
    assert isinstance(cache.lookup(PROMPT), Hit)
    took = alternate(
        {
            "semcache": lambda: cache.lookup(PROMPT),
            "sha256 + dict": lambda: bare.get(hashlib.sha256(PROMPT.encode()).digest()),
        },
        rounds * 5,
    )
    cache.close()
    return took


def disk_hit(rounds: int) -> dict[str, float]:
    """Time exact hits that memory no longer holds, against a bare diskcache get."""
    prompts = [f"{PROMPT[:-6]}{n:06d}" for n in range(FILLER_ENTRIES)]
    with tempfile.TemporaryDirectory() as folder:
        cache = SemanticCache(f"{folder}/cache", max_entries=1, embedder=Instant())
        cache.put_many((prompt, ANSWER) for prompt in prompts)
        bare = diskcache.Cache(f"{folder}/bare")
        for prompt in prompts:
            bare[prompt] = ANSWER
        turn = {"semcache": 0, "diskcache": 0}

        def following(name: str) -> str:
            turn[name] = (turn[name] + 1) % FILLER_ENTRIES
            return prompts[turn[name]]

        decision = cache.lookup(prompts[0])
        assert isinstance(decision, Hit)
        took = alternate(
            {
                "semcache": lambda: cache.lookup(following("semcache")),
                "diskcache": lambda: bare.get(following("diskcache")),
            },
            rounds,
        )
        bare.close()
        cache.close()
    return took


def miss(rounds: int) -> dict[str, float]:
    """Time a miss with its store, on disk, with an embedder that takes no time."""
    with tempfile.TemporaryDirectory() as folder:
        cache = SemanticCache(f"{folder}/cache", embedder=Instant())
        words = random.Random(0)

        @cache.cached(model="m")
        def ask(prompt: str) -> str:
            return ANSWER

        def one() -> None:
            """Ask something new; what is written behind the caller's back is not timed."""
            ask(f"How do I {' '.join(words.choices(WORDS, k=8))}?")

        decision = ask.lookup(PROMPT)
        assert isinstance(decision, Miss)
        for _ in range(20):
            one()
        took = alternate({"semcache": one}, rounds, between=cache.flush)
        took["semcache, back to back"] = alternate({"": one}, rounds)[""]
        cache.close()
    return took


def report(rounds: int) -> dict[str, Any]:
    """Measure all three and put them beside their bars."""
    memory, disk, missed = memory_hit(rounds), disk_hit(rounds), miss(rounds)
    return {
        "machine": f"{platform.processor() or platform.machine()}, {_cores()} cores",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("diskcache", "numpy", "faiss-cpu")},
        "rounds": rounds,
        "median_us": {"memory hit": memory, "disk hit": disk, "miss": missed},
        "ratios": {
            "memory hit / (sha256 + dict), bar 50": memory["semcache"] / memory["sha256 + dict"],
            "disk hit / diskcache get, bar 6": disk["semcache"] / disk["diskcache"],
            "miss beyond embedding in ms, bar 1": missed["semcache"] / 1000,
        },
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def main() -> None:
    """Measure, print, and store the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = report(arguments.rounds)
    text = json.dumps(figures, indent=2)
    print(text)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
