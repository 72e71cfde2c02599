"""A word that reverses the question barely moves the vector, so the old answer is served.

Promise: an answer is never served to a question that asks for the opposite, at any threshold, and
what the guards cannot read they do not wave through.
Room: `semcache/judge/guards_meaning.py`, `semcache/judge/guards.py`, `semcache/text/facts_other.py`
"""

from __future__ import annotations

import pytest

from semcache import Miss, SemanticCache, SentenceTransformerEmbedder
from tests.faults.calls import is_served, replies
from tests.faults.conftest import PATIENT

ON = "How do I switch on two-step login for my account?"
OFF = "How do I switch off two-step login for my account?"


@pytest.mark.model
def test_b001_switching_on_does_not_answer_switching_off(kind: str, real: SemanticCache) -> None:
    """The opposite question is a call of its own."""
    assert replies(kind, real, ON, OFF, ON) == ["R1", "R2", "R1"]


@pytest.mark.model
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_b001_no_threshold_lets_the_opposite_in(
    threshold: float, minilm: SentenceTransformerEmbedder
) -> None:
    """Whatever number a tuner might propose, the veto stands."""
    with SemanticCache(embedder=minilm, threshold=threshold, config=PATIENT) as cache:
        cache.preload(60)
        cache.put(ON, "under Settings", dynamic=False)

        decision = cache.lookup(OFF, dynamic=False)

    assert isinstance(decision, Miss)
    assert decision.nearest is not None


@pytest.mark.model
@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Is the warehouse door locked at night?", "Is the warehouse door unlocked at night?"),
        ("Does the coupon stack with sales?", "Does the coupon not stack with sales?"),
    ],
)
def test_b002_an_exact_reversal_is_a_miss(
    kind: str, real: SemanticCache, stored: str, asked: str
) -> None:
    """A prefix or a "not" is enough."""
    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.xfail(raises=ImportError, strict=True, reason="due with the evaluation set")
def test_b002_the_evaluation_set_reports_opposites_on_a_line_of_their_own() -> None:
    """A false-hit rate of opposites cannot hide in a total."""
    from semcache import evaluate

    assert "opposite" in str(evaluate.report())


@pytest.mark.model
def test_b004_a_negated_line_is_labelled_anew(kind: str, real: SemanticCache) -> None:
    """The label of a sentence is not the label of its negation."""
    stored = "Label this line: The parcel is a gift."
    asked = "Label this line: The parcel is not a gift."

    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]


@pytest.mark.xfail(raises=ImportError, strict=True, reason="due with the threshold tuner")
def test_b005_the_tuner_says_when_no_threshold_reaches_the_precision() -> None:
    """It proposes to switch the semantic tier off; it never returns the least bad number."""
    from semcache.evaluate import tune  # type: ignore[import-not-found]  # the room to come

    assert tune("tests/data/hard-pairs.jsonl", precision=0.99).threshold is None


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Is it legal to not vote?", "Is it not legal to vote?"),
        ("Is it possible to not pay?", "Is it impossible to pay?"),
        ("Why do not all birds fly?", "Why do all birds not fly?"),
        ("Ask him to not call me", "Do not ask him to call me"),
    ],
)
def test_what_is_negated_counts_and_not_only_how_often(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """One "not" each, but on another verb."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Why isn't the sensor working?", "Why does the sensor not work?"),
        ("How do I tell git not to track a file?", "How do I tell git to not track a file?"),
        ("Why can't I log in to my account?", "Why can I not log in to my account?"),
    ],
)
def test_one_negation_written_in_two_ways_is_one(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """The guard that looks at what is negated keeps true rewordings."""
    assert is_served(judged, stored, asked)


SWITCHES = (
    "mount unmount,bind unbind,archive unarchive,stage unstage,escape unescape,prepend append,"
    "inflate deflate,overfit underfit,hydrate dehydrate,authorize deauthorize,grant revoke,"
    "serialize deserialize,publish unpublish,widen narrow,heat cool,promote demote,rent lease,"
    "ascend descend,marshal unmarshal,populate depopulate,inherit disinherit,trust distrust"
)


@pytest.mark.parametrize("pair", SWITCHES.split(","))
def test_verbs_that_undo_each_other_are_apart_without_any_list(
    judged: SemanticCache, pair: str
) -> None:
    """Nothing rests on a table of opposites: an unknown verb is another verb."""
    one, other = pair.split()

    assert not is_served(
        judged, f"How do I {one} it in our tool?", f"How do I {other} it in our tool?"
    )


ABROAD = [
    ("Comment activer le mode nuit ?", "Comment désactiver le mode nuit ?"),
    ("Wie schalte ich den Alarm ein?", "Wie schalte ich den Alarm aus?"),
    ("¿Cómo instalo la aplicación?", "¿Cómo desinstalo la aplicación?"),
    ("Hur loggar jag in?", "Hur loggar jag ut?"),
    ("Jak włączyć powiadomienia?", "Jak wyłączyć powiadomienia?"),
    ("как включить уведомления", "как выключить уведомления"),
    ("通知をオンにする方法", "通知をオフにする方法"),
    ("알림을 켜는 방법", "알림을 끄는 방법"),
    ("วิธีเปิดการแจ้งเตือน", "วิธีปิดการแจ้งเตือน"),
    ("كيف أقوم بتفعيل الوضع الليلي", "كيف أقوم بتعطيل الوضع الليلي"),
    ("ऐप कैसे इंस्टॉल करें", "ऐप कैसे अनइंस्टॉल करें"),
    ("Πώς ενεργοποιώ τις ειδοποιήσεις;", "Πώς απενεργοποιώ τις ειδοποιήσεις;"),
    ("怎么还钱", "怎么要钱"),
]


@pytest.mark.parametrize(("stored", "asked"), ABROAD)
def test_an_opposite_is_a_miss_in_every_script(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """A language without rules is unread, and unread is not served."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Merge develop into main", "Merge main into develop"),
        ("How do I add a user to a group?", "How do I add a group to a user?"),
        ("How do I mix the flour into the milk?", "How do I mix the milk into the flour?"),
    ],
)
def test_what_goes_into_what_is_kept(
    kind: str, judged: SemanticCache, stored: str, asked: str
) -> None:
    """The sides of "with" may change places, those of "into" may not."""
    assert replies(kind, judged, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("What does apt update do?", "What does apt upgrade do?"),
        ("Which toys do cats like?", "Which toys do cats want?"),
        ("Which pills cure a cold?", "Which pills treat a cold?"),
        ("What are odd numbers?", "What are strange numbers?"),
        ("Where is the right button?", "Where is the correct button?"),
    ],
)
def test_words_alike_in_one_sense_are_no_synonyms(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """A word with two senses stands for itself alone."""
    assert not is_served(judged, stored, asked)
