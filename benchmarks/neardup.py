"""Choose the shingle size, the bands and the Jaccard threshold of the near-duplicate tier.

For each script it makes slips of the pen in real or made sentences and measures two things: how
many slips keep a Jaccard share over the threshold (the threshold's loss), and how many pairs over
it LSH finds (the recall, with a 95 % Wilson interval). Then what a search costs.

    python benchmarks/neardup.py --english banking77.tsv.gz --chinese zh_lcqmc_pairs.tsv.gz

Both files are tab separated with a header and a column `text` or `text_a`. Without them, made
sentences stand in for English and Chinese too. Longer than most files: it brings its sentences.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeAlias

from datasketch import MinHashLSH

from semcache.match import neardup
from semcache.match.neardup import NearDuplicates, prepare
from semcache.text.fold import canonical
from semcache.text.shingles import jaccard, shingles, signature

Row: TypeAlias = dict[str, object]


class Pair(NamedTuple):
    """A changed and a held text: their share, the bands that found it, slips (0: another text)."""

    share: float
    found_by: set[tuple[int, int]]
    slips: int


SIZES = (2, 3, 4, 5)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)
BANDS = ((16, 8), (25, 5), (32, 4))
TEXTS_PER_SCRIPT = 400
OUT = Path(__file__).parent / "results" / "neardup.json"

# Subjects, actions and conditions, combined into sentences: enough variety for letters and lengths.
PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "english": (
        ("How can I", "Where do I go to", "What must I do to", "Who helps me to"),
        ("renew my travel pass", "change the delivery address", "return a broken kettle"),
        ("after moving house last spring", "without the original receipt", "from another country"),
    ),
    "chinese": (
        (
            "请告诉我在搬家以后应该怎样",
            "如果没有原来的收据那么应当如何",
            "住在国外的顾客究竟要怎么才能",
        ),
        (
            "更换已经付款的订单的送货地址",
            "退回上个星期收到的坏掉的水壶",
            "续办去年春天购买的交通年票",
        ),
        (
            "并且不用再支付任何额外的手续费",
            "同时保留原来账户里的全部积分",
            "而不必亲自到城里的服务中心去",
        ),
    ),
    "russian": (
        ("Как мне можно", "Где сейчас можно", "Что нужно сделать, чтобы"),
        ("продлить проездной билет", "изменить адрес доставки", "вернуть сломанный чайник"),
        ("после переезда весной", "без оригинала чека", "из другой страны"),
    ),
    "arabic": (
        ("كيف يمكنني", "أين أستطيع", "ماذا يجب أن أفعل لكي"),
        ("تجديد بطاقة السفر الخاصة بي", "تغيير عنوان التسليم", "إرجاع الغلاية المكسورة"),
        ("بعد الانتقال إلى منزل جديد", "بدون الإيصال الأصلي", "من بلد آخر بعيد"),
    ),
    "korean": (
        ("이사한 뒤에 온라인으로", "원래 영수증이 없을 때", "다른 나라에 살면서 직접"),
        ("교통카드를 다시 발급받는", "배송 받을 주소를 바꾸는", "고장 난 주전자를 반품하는"),
        (
            "방법을 자세히 알고 싶어요",
            "절차가 어떻게 되는지 궁금해요",
            "데 얼마나 걸리는지 말해 주세요",
        ),
    ),
    "emoji": (
        ("🎉🎉 Party plan 🥳 for", "🚗🔧 Car trouble 😭 with", "🍕🍔 Dinner idea 😋 for"),
        (
            "ten friends 👯‍♀️👯‍♂️ and a dog 🐶",
            "my sister 👩‍🎓 and her cat 🐈",
            "a rainy ☔ weekend 🏕️",
        ),
        ("under 💶 fifty euros 🙏🙏", "near the river 🌊🚤 please", "without meat 🥦🥕🌽 today"),
    ),
    "code": (
        ("def read_rows(path: str) -> list[str]:", "for (int i = 0; i < rows.size(); ++i) {"),
        ("    return [row.strip() for row in open(path)]", "    total += rows[i].price * 2;"),
        ("# why does this fail on line 12?", "// explain the warning about sign", "print(x >= y)"),
    ),
}


def sentences(
    script: str, path: Path | None, chance: random.Random, count: int = TEXTS_PER_SCRIPT
) -> list[str]:
    """Return up to `count` distinct texts of at least 30 canonical characters in one script."""
    if path is None:
        texts = [
            f"{first} {second} {third} {chance.choice('abcdefgh')}{chance.randrange(1000)}"
            for first in PARTS[script][0]
            for second in PARTS[script][1]
            for third in PARTS[script][2]
            for _ in range(30)
        ]
    else:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [row.get("text") or row["text_a"] for row in rows]
    if script == "chinese" and path is not None:  # real questions are short: two make a long one
        texts = [a + "，" + b for a, b in zip(texts[::2], texts[1::2], strict=False)]
    texts = sorted({t for t in texts if len(canonical(t)) >= neardup.SHORTEST_LSH})
    return chance.sample(texts, min(count, len(texts)))


def slip(text: str, chance: random.Random) -> str:
    """Swap, drop, double or replace one character that is no blank."""
    spot = chance.choice([i for i in range(1, len(text) - 1) if not text[i].isspace()])
    before, here, after = text[:spot], text[spot], text[spot + 1 :]
    return chance.choice(
        (
            before + after[0] + here + after[1:],
            before + after,
            before + here + here + after,
            before + chance.choice(text) + after,
        )
    )


def wilson(found: int, total: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    if total == 0:
        return (0.0, 1.0)
    z, share = 1.96, found / total
    middle = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return (round((middle - half) / scale, 4), round((middle + half) / scale, 4))


def measure(texts: list[str], size: int, chance: random.Random) -> list[Row]:
    """Look up two slips of each text: what share of pairs over a threshold does LSH find?"""
    sets = [shingles(canonical(text), size) for text in texts]
    signatures = [signature(found, neardup.NUM_PERM) for found in sets]
    indexes = {bands: MinHashLSH(num_perm=neardup.NUM_PERM, params=bands) for bands in BANDS}
    for index in indexes.values():
        for row, held in enumerate(signatures):
            index.insert(row, held)
    pairs: list[Pair] = []
    candidates: dict[tuple[int, int], list[int]] = {bands: [] for bands in BANDS}
    for row, text in enumerate(texts):
        for slips in (1, 2):
            changed = slip(text, chance) if slips == 1 else slip(slip(text, chance), chance)
            asked = shingles(canonical(changed), size)
            sketch = signature(asked, neardup.NUM_PERM)
            proposed = {bands: set(index.query(sketch)) for bands, index in indexes.items()}
            for bands, found in proposed.items():
                candidates[bands].append(len(found))
            pairs += [
                Pair(share, {b for b in BANDS if other in proposed[b]}, slips * (other == row))
                for other, held_set in enumerate(sets)
                if (share := jaccard(asked, held_set)) >= min(THRESHOLDS) or other == row
            ]
    return [
        {"size": size, "bands_rows": bands, **_at(threshold, bands, pairs)}
        | {"candidates_per_search": round(statistics.mean(candidates[bands]), 2)}
        for bands in BANDS
        for threshold in THRESHOLDS
    ]


def _at(threshold: float, bands: tuple[int, int], pairs: list[Pair]) -> Row:
    above = [bands in pair.found_by for pair in pairs if pair.share >= threshold]
    kept = {
        slips: statistics.mean(pair.share >= threshold for pair in pairs if pair.slips == slips)
        for slips in (1, 2)
    }
    return {
        "threshold": threshold,
        "pairs_over_threshold": len(above),
        "recall": round(sum(above) / len(above), 4) if above else None,
        "recall_interval_95": wilson(sum(above), len(above)),
        "one_slip_over_threshold": round(kept[1], 4),
        "two_slips_over_threshold": round(kept[2], 4),
    }


def timed(work: Callable[[str], object], texts: list[str]) -> float:
    """Return the median milliseconds of processor time of one call: one thread, no waiting."""
    spans = []
    for text in texts:
        begin = time.process_time()
        work(text)
        spans.append((time.process_time() - begin) * 1e3)
    return round(statistics.median(spans), 4)


def costs(texts: list[str], chance: random.Random) -> dict[str, float]:
    """Time prepare and search: a scope of 10,000 entries, and a text of 10,000 characters."""
    index = NearDuplicates()
    for place in range(10_000):
        round_, text = divmod(place, len(texts))
        ending = f" case {round_}" if round_ else ""
        index.add(place.to_bytes(4, "big"), texts[text] + ending)
    asked = [text for text in texts if 55 <= len(text) <= 85][:300] or texts[:300]
    long = [" ".join(chance.choices(texts, k=400))[:10_000] for _ in range(20)]
    return {
        "prepare_70_characters_cpu_ms": timed(prepare, asked),
        "search_10k_entries_70_characters_cpu_ms": timed(index.search, asked),
        "prepare_10k_characters_cpu_ms": timed(prepare, long),
        "search_10k_characters_cpu_ms": timed(index.search, long),
    }


def main() -> None:
    """Measure, print a table and store all of it as JSON."""
    parser = argparse.ArgumentParser(description="Choose the settings of the near-duplicate tier.")
    parser.add_argument("--english", type=Path)
    parser.add_argument("--chinese", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    neardup.preload()
    paths = {"english": options.english, "chinese": options.chinese}
    results: list[Row] = []
    for script in PARTS:
        texts = sentences(script, paths.get(script), random.Random(1))
        for size in SIZES:
            results += [{"script": script, **row} for row in measure(texts, size, random.Random(2))]
    chosen = [
        row
        for row in results
        if (row["size"], row["bands_rows"], row["threshold"])
        == (neardup.SHINGLE_SIZE, (neardup.BANDS, neardup.ROWS), neardup.THRESHOLD)
    ]
    for row in chosen:
        print(
            f"{row['script']:<9} recall {row['recall']} {row['recall_interval_95']} of "
            f"{row['pairs_over_threshold']} pairs; "
            f"slips kept: one {row['one_slip_over_threshold']}, "
            f"two {row['two_slips_over_threshold']}; candidates {row['candidates_per_search']}"
        )
    cost = costs(sentences("english", options.english, random.Random(3), 10_000), random.Random(4))
    print(json.dumps(cost, indent=1))
    report = {
        "machine": {
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "datasketch": version("datasketch"),
            "numpy": version("numpy"),
        },
        "data": {name: path.name if path else "made sentences" for name, path in paths.items()},
        "chosen": {
            "shingle_size": neardup.SHINGLE_SIZE,
            "threshold": neardup.THRESHOLD,
            "bands_rows": [neardup.BANDS, neardup.ROWS],
            "num_perm": neardup.NUM_PERM,
        },
        "at_chosen": chosen,
        "cost": cost,
        "all": results,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps(report, ensure_ascii=False).replace(', {"script"', ',\n{"script"') + "\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
