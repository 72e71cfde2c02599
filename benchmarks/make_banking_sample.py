"""Draw the sample of BANKING77 that the package ships, and say how it was drawn.

    python benchmarks/make_banking_sample.py path/to/banking77.tsv.gz

The input has a header and the columns intent, text and split, without quoting. The source is
PolyAI-LDN/task-specific-datasets, banking_data, CC BY 4.0. Every intent keeps its share of the
whole (largest remainders, at least one), its questions are drawn without replacement, and nothing
else is chosen: paraphrases stand in the sample as often as chance leaves them there.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

SEED = 77
SIZE = 2000
TARGET = Path(__file__).parent.parent / "semcache" / "data" / "banking77.tsv"


def read_questions(path: Path) -> dict[str, list[str]]:
    """Give the distinct questions of each intent, in the order of the file."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["text"] not in groups[row["intent"]]:
                groups[row["intent"]].append(row["text"])
    return dict(groups)


def allot(sizes: list[int], total: int) -> list[int]:
    """Share `total` in proportion to `sizes`, by largest remainders, at least one each."""
    exact = [total * size / sum(sizes) for size in sizes]
    shares = [max(1, int(share)) for share in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda i: int(exact[i]) - exact[i])
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares


def draw_sample(groups: dict[str, list[str]], size: int, seed: int) -> list[tuple[str, str]]:
    """Draw `size` rows of (intent, text), in the order of the source."""
    generator = np.random.default_rng(seed)
    shares = allot([len(texts) for texts in groups.values()], size)
    rows: list[tuple[str, str]] = []
    for (intent, texts), share in zip(groups.items(), shares, strict=True):
        kept = sorted(generator.choice(len(texts), size=share, replace=False).tolist())
        rows += [(intent, texts[i]) for i in kept]
    return rows


def main() -> None:
    """Read the source named on the command line and write the sample into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="banking77.tsv.gz")
    source = parser.parse_args().source
    rows = draw_sample(read_questions(source), SIZE, SEED)
    lines = ["intent\ttext", *(f"{intent}\t{text}" for intent, text in rows)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(rows)} questions of {len({intent for intent, _ in rows})} intents: {TARGET}")


if __name__ == "__main__":
    main()
