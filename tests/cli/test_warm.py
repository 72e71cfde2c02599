"""Warming stores what a file approves, and running it again changes only what was edited."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache import Hit, Miss, SemanticCache
from semcache.errors import ArgumentError, FileFormatError, SemcacheError
from semcache.warm import Budget, Pace, Row, caller, warm
from tests.fakes import Clock, Model

ROWS = (
    Row(2, ("Are cards free?", "Is a card free?"), "Yes.", 3, tags=("kb:cards",)),
    Row(3, ("How do I reset my PIN?",), "In the app.", 9),
)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SemanticCache]:
    with SemanticCache(tmp_path / "cache", embedder=False) as opened:
        yield opened


def served(cache: SemanticCache, prompt: str, **identity: Any) -> object:
    decision = cache.lookup(prompt, **identity)
    return decision.value if isinstance(decision, Hit) else None


def test_every_phrasing_finds_the_approved_answer(cache: SemanticCache) -> None:
    """By `lookup`, and by a shared decorated function, which is not called."""
    model = Model()

    @cache.cached(model="m", shared=True)
    def ask(prompt: str) -> str:
        return model(prompt)

    report = warm(cache, ROWS, model="m")

    assert report.stored == 3
    assert served(cache, "Is a card free?", model="m") == "Yes."
    assert ask("Are cards free?") == "Yes."
    assert model.calls == 0
    assert all(entry.pinned and entry.expires_at is None for entry in cache.entries())


def test_a_second_run_stores_only_what_was_edited(cache: SemanticCache) -> None:
    """Same prompt, new answer: replaced in place. The others are left alone."""
    warm(cache, ROWS)
    before = {entry.text: entry.entry_id for entry in cache.entries()}
    edited = (ROWS[0], Row(3, ("How do I reset my PIN?",), "At any machine."))

    report = warm(cache, edited)

    after = {entry.text: entry.entry_id for entry in cache.entries()}
    assert (report.stored, report.unchanged) == (1, 2)
    assert served(cache, "How do I reset my PIN?") == "At any machine."
    assert {text for text in before if before[text] != after[text]} == {"How do I reset my PIN?"}


def test_a_changed_tag_is_an_edit(cache: SemanticCache) -> None:
    """An answer whose tags changed must be killed by the new tag."""
    warm(cache, ROWS)
    retagged = Row(3, ("How do I reset my PIN?",), "In the app.", tags=("kb:pin",))

    report = warm(cache, [retagged])
    cache.invalidate("kb:pin")

    assert report.stored == 1
    assert served(cache, "How do I reset my PIN?") is None


def test_what_was_invalidated_is_stored_again(cache: SemanticCache) -> None:
    """The file is approved anew each time it is run."""
    warm(cache, ROWS)
    cache.invalidate("kb:cards")

    report = warm(cache, ROWS)

    assert (report.stored, report.unchanged) == (2, 1)
    assert served(cache, "Are cards free?") == "Yes."


def test_pruning_takes_out_what_this_source_no_longer_has(cache: SemanticCache) -> None:
    """Answers of other files, and those that calls left, stay."""
    warm(cache, ROWS, source="cards.csv")
    warm(cache, [Row(1, ("Where are you?",), "In Ghent.")], source="places.csv")
    cache.put("Who are you?", "A bank.")

    report = warm(cache, ROWS[1:], source="cards.csv", prune=True, budget=Budget(max_entries=1))

    assert report.removed == 2
    assert {entry.text for entry in cache.entries()} == {
        "How do I reset my PIN?",
        "Where are you?",
        "Who are you?",
    }


def test_the_most_frequent_come_first(cache: SemanticCache) -> None:
    """With a limit only they come; counts of rows that repeat a question add up."""
    rows = [Row(1, ("a b c",), "1", 2), Row(2, ("d e f",), "2", 3), Row(3, ("a b c",), "1", 2)]

    report = warm(cache, rows, budget=Budget(max_entries=1))

    assert [entry.text for entry in cache.entries()] == ["a b c"]
    assert report.stopped == "the limit of 1 questions"


def test_contradictory_rows_are_named(cache: SemanticCache) -> None:
    """Two answers to one question: neither is stored unnoticed."""
    rows = [Row(4, ("Is it free?",), "Yes."), Row(9, ("Is it free? ",), "No.")]

    with pytest.raises(FileFormatError, match=r"line 9, .*: line 4 has another answer"):
        warm(cache, rows)
    report = warm(cache, rows, skip_bad=True)

    assert served(cache, "Is it free?") == "Yes."
    assert len(report.skipped) == 1
    with pytest.raises(FileFormatError, match="nothing is pruned while rows are bad"):
        warm(cache, rows, skip_bad=True, prune=True)


def test_a_missing_answer_needs_a_call(cache: SemanticCache) -> None:
    """Without one it is an error that names the line."""
    rows = [Row(7, ("Is it free?",))]

    with pytest.raises(FileFormatError, match=r"line 7, question 'Is it free[?]': the answer is e"):
        warm(cache, rows)


def test_calls_keep_to_the_budget(cache: SemanticCache) -> None:
    """Approved answers cost nothing and come even when the money is spent."""
    model = Model()
    rows = [
        Row(1, ("Is it free?", "Is it green?", "Is it tall?")),
        Row(2, ("Is it old?",), "No."),
    ]

    report = warm(cache, rows, call=model, budget=Budget(max_cost=0.3, cost_per_entry=0.15))

    assert model.calls == report.called == 2
    assert report.cost == pytest.approx(0.3)
    assert report.stored == 3
    assert report.stopped == "the most to be spent, 0.3"
    assert served(cache, "Is it old?") == "No."


def test_a_stopped_run_is_resumed(cache: SemanticCache) -> None:
    """What was called for is not called for again."""
    answers = iter(["one", RuntimeError("line down")])

    def call(_prompt: str) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    rows = [Row(1, ("Is it free?", "Is it green?"))]
    with pytest.raises(
        SemcacheError, match=r"line 1, .*: the call failed: RuntimeError: line down"
    ):
        warm(cache, rows, call=call)
    model = Model()

    report = warm(cache, rows, call=model)

    assert (report.unchanged, model.calls) == (1, 1)
    assert served(cache, "Is it free?") == "one"


def test_failed_calls_can_be_skipped(cache: SemanticCache) -> None:
    """They are counted, and what came is stored."""

    def call(prompt: str) -> str:
        if "green" in prompt:
            raise RuntimeError("no colours")
        return "yes"

    report = warm(cache, [Row(1, ("Is it green?", "Is it free?"))], call=call, skip_bad=True)

    assert (report.called, report.stored, len(report.skipped)) == (2, 1, 1)


def test_nobody_pays_for_an_answer_that_would_not_be_stored(cache: SemanticCache) -> None:
    """A question that the dynamic-query filter holds back is refused before the call."""
    model = Model()

    report = warm(cache, [Row(1, ("What time is it now?",))], call=model)

    assert model.calls == 0
    assert list(report.refused) == ["What time is it now?"]


def test_dynamic_questions_are_stored_when_told(cache: SemanticCache) -> None:
    """`static` overrules the filter, and the exact tier then serves them."""
    rows = [Row(1, ("What time is it now?",), "Look at the wall.")]

    refused = warm(cache, rows)
    stored = warm(cache, rows, static=True)

    assert (len(refused.refused), stored.stored) == (1, 1)


def test_an_answer_that_is_refused_takes_the_old_one_with_it(cache: SemanticCache) -> None:
    """The file no longer approves the old answer, so it must not be served."""
    rows = [Row(1, ("What time is it now?",), "Look at the wall.")]
    warm(cache, rows, static=True)

    report = warm(cache, [Row(1, rows[0].prompts, "Look at the tower.")])

    assert report.removed == 1
    assert len(cache) == 0


def test_an_answer_taken_out_of_the_file_is_asked_for(cache: SemanticCache) -> None:
    """A row whose approved answer was emptied gets one from the call."""
    warm(cache, [Row(1, ("Is it free?",), "Yes.")])

    report = warm(cache, [Row(1, ("Is it free?",))], call=lambda _: "It depends.")

    assert report.stored == 1
    assert served(cache, "Is it free?") == "It depends."


def test_the_pace_is_kept() -> None:
    """Ten a second: what was taken has its time before more is taken."""
    clock = Clock(0.0)
    pace = Pace(10.0, clock=clock, pause=clock.advance)

    for _ in range(3):
        pace.take(5)

    assert clock() == pytest.approx(1.0)
    assert pace.batch == 10


def test_others_see_entries_while_the_run_goes_on(cache: SemanticCache, tmp_path: Path) -> None:
    """Each batch is durable and found by another cache on the directory before the next begins."""
    seen: list[int] = []
    rows = [Row(i, (f"Question number {i} about cards?",), f"{i}.", 200 - i) for i in range(130)]

    with SemanticCache(tmp_path / "cache", embedder=False) as other:
        first = "Question number 0 about cards?"

        def look(done: int, _total: int) -> None:
            assert isinstance(other.lookup(first), Hit)
            seen.append(done)

        assert isinstance(other.lookup(first), Miss)
        warm(cache, rows, on_progress=look)

    assert seen == [64, 128, 130]


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"max_entries": 0}, "limit"),
        ({"max_cost": 1.0}, "cost_per_entry"),
        ({"max_cost": -1.0, "cost_per_entry": 1.0}, "max_cost"),
        ({"cost_per_entry": float("nan")}, "cost_per_entry"),
    ],
)
def test_bad_limits_are_named(settings: dict[str, Any], argument: str) -> None:
    """The error names the argument."""
    with pytest.raises(ArgumentError, match=f"^{argument}="):
        Budget(**settings)
    with pytest.raises(ArgumentError, match=r"^rate="):
        Pace(0.0)


@pytest.mark.parametrize(
    "call", ["nothing", "no.such.module:function", "json:__name__", "http://localhost:1/v1"]
)
def test_what_cannot_be_called_is_named(call: str) -> None:
    """Neither a function nor an address with a model."""
    with pytest.raises(ArgumentError, match=r"^call="):
        caller(call)


def test_callers_are_found() -> None:
    """A function by its module, and an endpoint with the model after its address."""
    function, kept = caller("json:dumps", "m")
    _ask, named = caller("http://localhost:1/v1/org/small")

    assert (function("a"), kept) == ('"a"', "m")
    assert named == "org/small"
