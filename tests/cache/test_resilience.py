"""The cache never breaks the call: what fails inside is a Miss with a reason, in bounded time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from semcache import Bypass, Config, Decision, Hit, Miss, Reason, SemanticCache
from tests.fakes import Far, Model, Same

QUESTION = "Which tax form do I file in spring?"
OTHER_WORDS = "In spring, which form is it that one files for taxes?"


class Broken(Same):
    """An embedder that always raises."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise RuntimeError("no route to host")


class Stuck(Same):
    """An embedder that answers when told."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        self.release.wait(30)
        return super().embed(texts)


class Loading(Same):
    """An embedder that takes its time to load."""

    def __init__(self) -> None:
        self.loaded = False
        self.may_load = threading.Event()

    def load(self) -> None:
        self.may_load.wait(30)
        self.loaded = True


def test_a_broken_embedder_is_a_miss_with_a_reason() -> None:
    """The call goes through, the exact tier works, the failure is counted."""
    with SemanticCache(embedder=Broken()) as cache:
        model = Model()

        @cache.cached()
        def ask(prompt: str) -> str:
            return model()

        _value, first = ask.decide(QUESTION)
        again = ask(QUESTION)

    assert isinstance(first, Miss)
    assert first.reason is Reason.EMBEDDER_FAILED
    assert "no route to host" in str(first)
    assert again == "R1"


def test_a_stuck_embedder_costs_its_deadline_once() -> None:
    """Then nothing, while it stays stuck; at most one thread is given up."""
    stuck = Stuck()
    config = Config(embed_timeout_seconds=0.5)
    threads = threading.active_count()
    with SemanticCache(embedder=stuck, config=config) as cache:
        started = time.perf_counter()
        decisions = [cache.lookup(f"{QUESTION} {n}") for n in range(50)]
        took = time.perf_counter() - started
        running = threading.active_count() - threads
        stuck.release.set()

    assert {d.reason for d in decisions if isinstance(d, Miss)} == {Reason.EMBEDDER_TIMEOUT}
    assert took < 12.5  # half of what fifty deadlines cost
    assert running <= 3


def test_a_model_that_loads_stalls_nobody() -> None:
    """Until it is ready, the other tiers answer and the semantic one says "loading"."""
    embedder = Loading()
    with SemanticCache(embedder=embedder, guards=()) as cache:
        cache.put(QUESTION, "A")
        early = cache.lookup(OTHER_WORDS)
        exact = cache.lookup(QUESTION)
        embedder.may_load.set()
        assert cache.preload(10)
        late = cache.lookup(OTHER_WORDS)

    assert isinstance(early, Miss)
    assert early.reason is Reason.LOADING
    assert isinstance(exact, Hit)
    assert isinstance(late, Hit)


def test_an_unwritable_disk_does_not_break_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is given and kept in memory; the failure is counted."""
    with SemanticCache(tmp_path / "c", embedder=Far()) as cache:
        disk = cache._rooms.disk
        assert disk is not None
        with monkeypatch.context() as patch:

            def full(*_args: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(disk, "put", full)

            @cache.cached()
            def ask(prompt: str) -> str:
                return "answer"

            assert ask(QUESTION) == "answer"
            assert isinstance(ask.lookup(QUESTION), Hit)


def test_a_failing_room_is_a_miss_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a defect of our own goes no further than the decision."""
    with SemanticCache(embedder=Far()) as cache:

        def defect(*_args: object) -> None:
            raise ZeroDivisionError("ours")

        monkeypatch.setattr(cache._rooms.projections, "near", defect)

        @cache.cached()
        def ask(prompt: str) -> str:
            return "answer"

        value, decision = ask.decide(QUESTION)

    assert value == "answer"
    assert isinstance(decision, Miss)
    assert decision.reason is Reason.CACHE_FAILED
    assert "ZeroDivisionError" in decision.detail


def test_a_failing_listener_changes_nothing() -> None:
    """`on_decision` is told after the decision stands."""

    def listener(_decision: Decision) -> None:
        raise ValueError("listener")

    with SemanticCache(embedder=Far(), on_decision=listener) as cache:
        cache.put(QUESTION, "A")

        assert isinstance(cache.lookup(QUESTION), Hit)
        assert cache.stats().errors == {"on_decision": 1}


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000", "\u200b"])
def test_a_blank_text_reaches_no_embedder_and_matches_nothing(text: str) -> None:
    """The function still runs."""
    embedder = Broken()
    with SemanticCache(embedder=embedder) as cache:
        cache.put(QUESTION, "A")
        decision = cache.lookup(text)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.BLANK_TEXT


@pytest.fixture
def served() -> Iterator[SemanticCache]:
    with SemanticCache(embedder=Far(), seed=7) as cache:
        cache.put(QUESTION, "A")
        yield cache


def test_a_namespace_is_switched_off_and_on_while_running(served: SemanticCache) -> None:
    """The kill switch stores nothing either."""
    served.set_serving(enabled=False)
    off = served.lookup(QUESTION)
    served.set_serving(enabled=True)

    assert isinstance(off, Bypass)
    assert off.reason is Reason.SWITCHED_OFF
    assert isinstance(served.lookup(QUESTION), Hit)


def test_a_canary_serves_some_and_counts_all(served: SemanticCache) -> None:
    """The rest are decided, reported and called."""
    served.set_serving(serve_share=0.5)

    decisions = [served.lookup(QUESTION) for _ in range(200)]

    hits = sum(isinstance(decision, Hit) for decision in decisions)
    held = [d for d in decisions if isinstance(d, Miss) and d.reason is Reason.CANARY]
    assert 60 < hits < 140
    assert hits + len(held) == 200
    assert all(miss.nearest is not None for miss in held)


def test_a_canary_calls_the_function_although_an_answer_is_stored() -> None:
    """What is decided but not served must not come back through the queue of equal calls."""
    with SemanticCache(embedder=False) as cache:
        model = Model()

        @cache.cached()
        def ask(prompt: str) -> str:
            return model()

        ask(QUESTION)
        cache.set_serving(serve_share=0.0)
        value, decision = ask.decide(QUESTION)

        assert isinstance(decision, Miss)
        assert (value, decision.reason) == ("R2", Reason.CANARY)


def raises(_: Any) -> Any:
    """A rule of the user's with a fault in it."""
    raise KeyError("no such part")


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("view", "Bypass: an argument has no stable form (view: KeyError: 'no such part')"),
        ("normalize", "Bypass: an argument has no stable form (normalize: KeyError: "),
        ("core", "Miss: the cache itself failed (KeyError: 'no such part')"),
    ],
)
def test_a_failing_rule_of_the_users_does_not_break_the_call(option: str, says: str) -> None:
    """The call goes through, and the decision names what failed."""
    rule: dict[str, Any] = {option: raises}
    with SemanticCache(embedder=Same(), threshold=0.95, **rule) as cache:
        model = Model()

        @cache.cached()
        def ask(prompt: str) -> str:
            return model()

        value, decision = ask.decide(QUESTION)
        cache.flush()

        assert value == "R1"
        assert str(decision).startswith(says)


def test_an_embedders_threshold_that_cannot_be_is_told_of_and_not_used() -> None:
    """An embedder that loads late is asked for its threshold inside a call, which goes through."""

    class Odd(Loading):
        default_threshold = 7.0

    embedder = Odd()
    embedder.may_load.set()
    with SemanticCache(embedder=embedder) as cache:
        cache.preload()

        decision = cache.lookup(QUESTION)

        assert isinstance(decision, Miss)
        assert decision.reason is Reason.NO_THRESHOLD


def test_a_batch_gives_each_prompt_its_own_answer() -> None:
    """Whatever is cached and in whatever order."""
    with SemanticCache(embedder=Far()) as cache:
        prompts = [f"question about subject number {n}?" for n in range(20)]
        cache.put_many((prompt, prompt.upper()) for prompt in prompts[::2])

        decisions = cache.lookup_many(reversed(prompts))

    answers = [d.value if isinstance(d, Hit) else None for d in decisions][::-1]
    assert answers == [p.upper() if n % 2 == 0 else None for n, p in enumerate(prompts)]


def test_the_statistics_hint_at_a_clock_in_the_scope() -> None:
    """The same text under ever new scopes is a key that never hits."""
    with SemanticCache(embedder=Far()) as cache:
        for second in range(30):
            system = {"role": "system", "content": f"It is 10:00:{second:02d}."}
            cache.lookup([system, {"role": "user", "content": QUESTION}])

        assert "another scope" in cache.stats().hints[0]


def without_clock(messages: Any) -> Any:
    return [m for m in messages if m["role"] != "system"]


def test_a_view_drops_what_should_not_count() -> None:
    """The key function of the user's: times are never dropped by default."""
    with SemanticCache(embedder=Far(), view=without_clock) as cache:
        for second in (1, 2):
            system = {"role": "system", "content": f"It is 10:00:{second:02d}."}
            messages = [system, {"role": "user", "content": QUESTION}]
            if second == 1:
                cache.put(messages, "A")

        assert isinstance(cache.lookup(messages), Hit)


def test_explain_shows_tiers_scores_and_the_nearest_miss() -> None:
    """One look at the print tells why."""
    with SemanticCache(embedder=Same()) as cache:
        cache.put("Turn on the light", "A")

        shown = str(cache.explain("Turn off the light"))

    assert shown.startswith("Miss: a guard vetoed")
    for word in ("exact", "near-duplicate", "semantic", "score 1.0000", "nearest", "Turn on"):
        assert word in shown
    assert cache.stats().lookups == 0


@pytest.mark.parametrize("threshold", [1.2, -0.1, float("nan"), "0.9", True])
def test_a_threshold_out_of_range_is_an_error_that_names_it(threshold: Any) -> None:
    """Higher is closer, from 0 to 1."""
    with pytest.raises(ValueError, match="threshold"):
        SemanticCache(threshold=threshold)


def test_temperature_policies() -> None:
    """Always; only at 0; at most 0.3. A call that names none is not known to be deterministic."""

    def cached_at(config: Config) -> list[bool]:
        with SemanticCache(embedder=Far(), config=config) as cache:
            calls: list[dict[str, Any]] = [{"temperature": t} for t in (0, 0.3, 0.31)]
            return [
                not isinstance(cache.lookup(QUESTION, **params), Bypass) for params in [*calls, {}]
            ]

    assert cached_at(Config()) == [True, True, True, True]
    assert cached_at(Config(cache_sampled=False)) == [True, False, False, False]
    assert cached_at(Config(max_temperature=0.3)) == [True, True, False, False]


def test_thirty_samples_of_one_prompt_are_thirty_entries() -> None:
    """A sample number makes each a request of its own, whatever the policy."""
    with SemanticCache(embedder=Same(), config=Config(cache_sampled=False)) as cache:
        model = Model()

        @cache.cached()
        def ask(prompt: str, temperature: float, sample: int) -> str:
            return model()

        first = [ask(QUESTION, 1.0, n) for n in range(30)]
        second = [ask(QUESTION, 1.0, n) for n in range(30)]

    assert first == second
    assert len(set(first)) == 30


class Unborn(Same):
    """An embedder that cannot even be made."""

    def __init__(self) -> None:
        raise OSError("no such device")


def test_an_embedder_that_cannot_be_made_leaves_the_other_tiers() -> None:
    """The cache opens; the exact and near-duplicate tiers go on."""
    with SemanticCache(embedder=Unborn) as cache:
        cache.put(QUESTION, "A")
        cache.preload(10)

        assert isinstance(cache.lookup(QUESTION), Hit)
        assert isinstance(cache.lookup(QUESTION.upper()), Hit)
        decision = cache.lookup(OTHER_WORDS)

    assert isinstance(decision, Miss)
    assert decision.reason is Reason.EMBEDDER_FAILED


def test_a_class_of_embedder_is_made_when_needed() -> None:
    """A factory is loaded like a model."""
    with SemanticCache(embedder=Same, guards=()) as cache:
        assert cache.preload(10)
        cache.put(QUESTION, "A")

        assert isinstance(cache.lookup(OTHER_WORDS), Hit)


def test_a_system_prompt_is_no_conversation_that_continue_could_point_at() -> None:
    """With earlier turns in the scope the word is well defined, with a system prompt it is not."""
    system = {"role": "system", "content": "You are a poet."}
    turn = {"role": "assistant", "content": "Roses are red."}
    ask = {"role": "user", "content": "Continue."}
    with SemanticCache(embedder=Far()) as cache:
        alone = cache.lookup([system, ask])
        after = cache.lookup([system, turn, ask])

    assert isinstance(alone, Bypass)
    assert isinstance(after, Miss)
