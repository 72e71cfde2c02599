"""Signatures are empty, forget counts and order, only approximate, or can't be changed in place."""

from __future__ import annotations

import random
from typing import Any

import pytest

from semcache import Hit, Miss, SemanticCache, Tier
from semcache.match.neardup import SHINGLE_SIZE, THRESHOLD, NearDuplicates, prepare
from semcache.text.misspelling import correct
from semcache.text.shingles import jaccard, shingles
from tests.fakes import Far
from tests.faults.calls import replies
from tests.faults.conftest import PATIENT


def test_b058_two_chinese_questions_are_not_two_empty_sets(kind: str, far: SemanticCache) -> None:
    """A text of any script has shingles, and others than another text."""
    stored, asked = "机器学习是什么", "神经网络是什么意思"

    answers = replies(kind, far, stored, asked, stored)

    assert answers == ["R1", "R2", "R1"]
    assert shingles(prepare(stored).canonical, SHINGLE_SIZE)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("buy buy sell", "sell buy"),
        ("very very very hot", "very hot"),
        ("buy sell " * 10, "sell buy " * 10),
        (
            "press the red button then press the blue button",
            "press the blue button then press the red button",
        ),
    ],
)
def test_b059_counts_and_order_of_words_count(
    kind: str, far: SemanticCache, stored: str, asked: str
) -> None:
    """The texts themselves are compared before a hit."""
    assert replies(kind, far, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


WORDS = (
    "please explain customers parcel harbour business tomorrow garden between necessary separate "
    "beginning department government environment definitely immediately temperature beautiful"
).split()


def misspell(word: str, chance: random.Random) -> str:
    """Swap two neighbouring letters inside a word."""
    places = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    at = chance.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def pair(chance: random.Random) -> tuple[str, str, float]:
    """Give two texts with 1 to 8 slips between them, and their true overlap."""
    words = [chance.choice(WORDS) for _ in range(12)]
    slips = chance.sample(range(12), chance.randint(1, 8))
    other = [misspell(w, chance) if i in slips else w for i, w in enumerate(words)]
    texts = " ".join(words), " ".join(other)
    sets = [shingles(prepare(text).canonical, SHINGLE_SIZE) for text in texts]
    return *texts, jaccard(*sets)


def test_b061_candidates_are_checked_exactly(record_property: Any) -> None:
    """200 pairs about the threshold: no hit below it; the recall above it is measured."""
    chance = random.Random(61)
    pairs = [p for p in (pair(chance) for _ in range(2000)) if abs(p[2] - THRESHOLD) < 0.1][:200]
    above = [p for p in pairs if p[2] >= THRESHOLD]
    wrong, proposed = [], 0
    for stored, asked, overlap in pairs:
        index = NearDuplicates()
        index.add(b"k", stored)
        found = index.search(asked)
        wrong += [found for _key, score, _why in found if score < THRESHOLD]
        wrong += [found for _key, score, _why in found if score != pytest.approx(overlap)]
        proposed += bool(overlap >= THRESHOLD and _lsh_proposes(index, asked))

    recall = proposed / len(above)
    record_property("recall_of_lsh_just_over_the_threshold", recall)

    assert len(pairs) == 200
    assert 50 < len(above) < 150
    assert wrong == []
    assert recall > 0.8, f"LSH proposed {recall:.1%} of the pairs just over the threshold"


def _lsh_proposes(index: NearDuplicates, text: str) -> bool:
    signature = prepare(text).signature
    return index._lsh is not None and bool(index._lsh.query(signature))


def test_b061_no_hit_of_the_cache_is_below_the_threshold(far: SemanticCache) -> None:
    """Each hit shows its true overlap."""
    chance = random.Random(62)
    for number in range(100):
        stored, asked, overlap = pair(chance)
        far.put(stored, "A", scope=number)

        decision = far.lookup(asked, scope=number)

        if isinstance(decision, Hit):
            if decision.tier is Tier.SEMANTIC:  # equal once their slips are mended
                assert correct(stored) == correct(asked)
                continue
            assert decision.score == pytest.approx(overlap)
            assert overlap >= THRESHOLD


def test_b062_put_overwrite_evict_and_put_again() -> None:
    """A hundred times: one signature per live key, no duplicate-key error, no ghost."""
    p = "Which tax form do I file in spring for my garden shed?"
    near_p = p.lower().rstrip("?")
    with SemanticCache(embedder=Far(), max_entries=1, config=PATIENT) as cache:
        for turn in range(100):
            cache.put(p, turn, dynamic=False)
            cache.put(p, -turn, dynamic=False)
            found = cache.lookup(near_p, dynamic=False)
            cache.put(f"Describe the green tent number {turn} on the hill", "Q", dynamic=False)
            gone = cache.lookup(near_p, dynamic=False)

            assert isinstance(found, Hit)
            assert (found.value, found.tier) == (-turn, Tier.NEAR_DUPLICATE)
            assert isinstance(gone, Miss)
            assert len(cache._rooms.projections) == len(cache) == 1
