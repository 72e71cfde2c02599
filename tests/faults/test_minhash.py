"""Signatures are empty, forget counts and order, only approximate, or can't be changed in place.

Promise: a signature only proposes; a hit needs the true share and a harmless difference.
Room: `semcache/match/neardup.py`, `semcache/text/shingles.py`
"""

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


@pytest.mark.parametrize(
    "texts",
    [
        ("ทะเลเค็มเพราะอะไร", "ฟ้าเป็นสีฟ้าเพราะอะไร"),
        ("समुद्र खारा क्यों है", "आकाश नीला क्यों है"),
        ("لماذا البحر مالح", "لماذا السماء زرقاء"),
        ("바다는 왜 짠가요", "하늘은 왜 파란가요"),
        ("なぜ海は塩辛いのですか", "なぜ空は青いのですか"),
        ("🌊🧂❓", "🌌🔵❓"),
        ("∀x∃y x<y", "∃x∀y x<y"),
    ],
)
def test_no_script_has_an_empty_signature(far: SemanticCache, texts: tuple[str, str]) -> None:
    """Long enough for LSH or not: each text is found again, and not for the other."""
    pairs = [texts, (f"{texts[0]} " * 6, f"{texts[1]} " * 6)]
    for stored, other in pairs:
        far.put(stored, stored, dynamic=False)

        again = far.lookup(f" {stored}\u200b", dynamic=False)
        miss = far.lookup(other, dynamic=False)

        assert isinstance(again, Hit)
        assert again.value == stored
        assert isinstance(miss, Miss)
        assert shingles(prepare(stored).canonical, SHINGLE_SIZE)


TEMPLATE = (
    "You are given the delivery note below. Check it against our rules for parcels and say in one "
    "short sentence whether the parcel may leave the harbour today. The note: {} crates of {}."
)


def test_a_shared_template_fills_one_bucket_and_serves_none_of_it(far: SemanticCache) -> None:
    """Each pair has a share of over 0.9; what differs is what is asked."""
    texts = [TEMPLATE.format(n, goods) for n in (2, 12, 20) for goods in ("tea", "tar", "teak")]
    for text in texts:
        far.put(text, text, dynamic=False)

    found = [far.lookup(text.removesuffix("."), dynamic=False) for text in texts]

    sets = [shingles(prepare(text).canonical, SHINGLE_SIZE) for text in texts]
    assert min(jaccard(sets[0], other) for other in sets) > 0.9
    assert [d.value if isinstance(d, Hit) else None for d in found] == texts


def test_equal_signatures_are_not_equal_texts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if every text had one and the same signature, and no guard, nothing wrong is served."""
    one = prepare("Which tax form do I file in spring for my garden shed?").signature
    monkeypatch.setattr("semcache.match.neardup.signature", lambda *_: one)
    texts = [
        "Which tax form do I file in spring for my garden shed?",
        "Which tax form do I file in autumn for my garden shed?",
        "which tax form do i file in sprign for my garden shed",
        "Describe the green tent that stands on the hill behind the harbour",
    ]
    with SemanticCache(embedder=Far(), guards=(), config=PATIENT) as cache:
        answers = replies(kind, cache, *texts, dynamic=False)

    assert answers == ["R1", "R2", "R1", "R3"]


def test_a_key_that_changes_its_text_is_found_by_the_new_one_only() -> None:
    """In the buckets as in the forms, however long the two texts are."""
    texts = [
        "Which tax form do I file in spring for my garden shed?",
        "Describe the green tent that stands on the hill behind the harbour",
        "How tall is it?",
        "Which tax form do I file in spring for my garden shed?",
    ]
    index = NearDuplicates()
    for text, before in zip(texts, [None, *texts], strict=False):
        index.add(b"key", text)

        assert [key for key, _score, _why in index.search(text.upper())] == [b"key"]
        assert before is None or not index.search(before)
        assert len(index) == 1


def test_of_two_keys_with_one_text_each_is_its_own() -> None:
    """Taking one out leaves the other in the bucket that they shared."""
    text = "Which tax form do I file in spring for my garden shed?"
    slip = text.replace("garden", "gardne")
    index = NearDuplicates()
    index.add(b"one", text)
    index.add(b"two", text)

    index.remove(b"one")
    index.remove(b"one")

    assert [key for key, _score, _why in index.search(slip)] == [b"two"]


def test_an_empty_index_takes_no_room_after_many_turns() -> None:
    """Buckets of keys that are gone are gone as well."""
    index = NearDuplicates()
    for turn in range(50):
        index.add(b"%d" % turn, f"Describe the green tent number {turn} on the hill by the sea")
    for turn in range(50):
        index.remove(b"%d" % turn)

    assert index._lsh is not None
    assert index._lsh.is_empty()
    assert (len(index), index._by_form, index._lsh.get_counts()) == (0, {}, [{}] * 25)


def test_without_a_shared_word_two_near_duplicates_are_none(judged: SemanticCache) -> None:
    """A text of one repeated shingle is no more than itself: counts are part of the set."""
    judged.put("no " * 30, "thirty", dynamic=False)
    found = [judged.lookup("no " * count, dynamic=False) for count in (30, 29, 31, 60)]

    assert [isinstance(decision, Hit) for decision in found] == [True, False, False, False]


def test_taking_out_one_of_two_spellings_leaves_the_other(far: SemanticCache) -> None:
    """Texts of one levelled form share a place; each is in it by its own key."""
    first, second, asked = "How is rice cooked?", "how is rice cooked", "How is rice cooked"
    far.put(first, "A", dynamic=False)
    far.put(second, "B", dynamic=False)

    far.remove(first)
    found = far.lookup(asked, dynamic=False)
    far.remove(second)

    assert isinstance(found, Hit)
    assert (found.value, found.tier) == ("B", Tier.NEAR_DUPLICATE)
    assert isinstance(far.lookup(asked, dynamic=False), Miss)
