"""EmbeddingService: an answer or a reason, in bounded time, whatever the embedder does."""

from __future__ import annotations

import gc
import logging
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache.decision import Reason
from semcache.embed.batching import Embedded, Embedding, NoEmbedding
from semcache.embed.service import EmbeddingService
from semcache.errors import ArgumentError, MissingExtraError
from semcache.protocols import Embedder


class Toy:
    """Embeds by length; notes what it was asked."""

    name = "toy"
    dimension = 4

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (1, length, 0, 0) for each text; the service brings it to unit length."""
        self.asked.append(list(texts))
        return np.array([[1, len(text), 0, 0] for text in texts], dtype=np.float32)


class Broken(Toy):
    """Raises while it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = ValueError("bad gateway")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise, or embed."""
        rows = super().embed(texts)
        if self.error is not None:
            raise self.error
        return rows


class Gated(Toy):
    """Answers only once the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.entered = threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Wait, then embed."""
        self.entered.set()
        self.gate.wait(20)
        return super().embed(texts)


class Lazy(Toy):
    """Needs loading, and loads once the gate is open."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.loads = 0
        self.error = error

    def load(self) -> None:
        """Wait, count, perhaps raise."""
        self.gate.wait(20)
        self.loads += 1
        if self.error is not None:
            raise self.error


class Seconds:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


Open = Callable[..., EmbeddingService]


@pytest.fixture
def open_service() -> Iterator[Open]:
    """Open services and close them all at the end."""
    services: list[EmbeddingService] = []

    def open_(embedder: Embedder | None, timeout: float = 10.0, **more: object) -> EmbeddingService:
        service = EmbeddingService(embedder, embed_timeout_seconds=timeout, **more)  # type: ignore[arg-type]  # tests pass a clock or a timeout
        services.append(service)
        return service

    yield open_
    for service in services:
        service.close()


def length(embedded: Embedded) -> int:
    """The length that Toy put into a vector."""
    assert isinstance(embedded, Embedding)
    return round(float(embedded.vectors[0, 1] / embedded.vectors[0, 0]))


def reason(embedded: Embedded) -> Reason:
    """Why there is no vector."""
    assert isinstance(embedded, NoEmbedding)
    return embedded.reason


def detail(embedded: Embedded) -> str:
    """Why there is no vector, in words."""
    assert isinstance(embedded, NoEmbedding)
    return embedded.detail


def test_a_text_becomes_one_unit_row(open_service: Open) -> None:
    """A short text has one window."""
    embedded = open_service(Toy()).embed("abc")

    assert isinstance(embedded, Embedding)
    assert embedded.vectors.shape == (1, 4)
    assert np.linalg.norm(embedded.vectors) == pytest.approx(1.0)


def test_many_texts_keep_their_order(open_service: Open) -> None:
    """Across batches, with unreadable ones between."""
    texts = ["x" * (1 + place % 50) for place in range(100)]
    texts[40] = "  "

    answers = open_service(Toy()).embed_many(texts)

    assert reason(answers.pop(40)) is Reason.BLANK_TEXT
    del texts[40]
    assert [length(answer) for answer in answers] == [len(text) for text in texts]


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u3000", "\u200b"])
def test_a_blank_text_never_reaches_the_embedder(open_service: Open, blank: str) -> None:
    """Blanks and zero-width characters say nothing."""
    toy = Toy()

    assert reason(open_service(toy).embed(blank)) is Reason.BLANK_TEXT
    assert toy.asked == []


def test_callers_who_come_together_share_a_forward_pass(open_service: Open) -> None:
    """While one call runs, the others gather; each gets its own row."""
    gated = Gated()
    service = open_service(gated)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(service.embed, "x")
        assert gated.entered.wait(10)
        others = [pool.submit(service.embed, "x" * size) for size in range(2, 10)]
        while service.stats()["texts"] < 9:
            threading.Event().wait(0.001)
        gated.gate.set()

        assert length(first.result()) == 1
        assert [length(other.result()) for other in others] == list(range(2, 10))
    assert len(gated.asked) < 9


class Picky(Toy):
    """Refuses a whole batch that holds one certain text, and cannot read another."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise if the text is there."""
        rows = super().embed(texts)
        if "poison" in texts:
            raise ValueError("poison")
        return rows

    def unknown(self, text: str) -> list[str]:
        """Greek letters are unknown."""
        return [char for char in text if "α" <= char <= "ω"]

    def windows(self, text: str) -> list[str]:
        """Ten characters to a window."""
        return [text[start : start + 10] for start in range(0, len(text), 10)]


def test_one_callers_text_does_not_fail_anothers(open_service: Open) -> None:
    """A batch that fails is tried again, caller by caller."""
    service = open_service(Picky())
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(service.embed, ["poison", *["fine"] * 19]))

    assert reason(answers[0]) is Reason.EMBEDDER_FAILED
    assert all(isinstance(answer, Embedding) for answer in answers[1:])


def test_what_the_embedder_cannot_read_it_is_not_asked(open_service: Open) -> None:
    """The detail quotes what is unknown."""
    picky = Picky()

    answer = open_service(picky).embed("price of α and β")

    assert answer == NoEmbedding(Reason.UNREADABLE, "unknown to the embedder: 'α', 'β'")
    assert picky.asked == []


class Illiterate(Toy):
    """Says no to every text."""

    def readable(self, text: str) -> bool:
        """Nothing is."""
        return False


def test_an_embedder_may_simply_say_that_a_text_is_unreadable(open_service: Open) -> None:
    """By a method that answers yes or no."""
    assert reason(open_service(Illiterate()).embed("text")) is Reason.UNREADABLE


def test_a_long_text_has_one_row_a_window(open_service: Open) -> None:
    """All of it is embedded, in order."""
    embedded = open_service(Picky()).embed("x" * 25)

    assert isinstance(embedded, Embedding)
    assert embedded.vectors.shape == (3, 4)


@pytest.mark.parametrize("size", [60, 50_000])
def test_a_text_without_end_is_not_read(open_service: Open, size: int) -> None:
    """Neither many windows nor very many characters hold the others up."""
    answer = open_service(Picky()).embed("x" * size)

    assert reason(answer) is Reason.UNREADABLE
    assert "too long" in detail(answer)


class Wrong(Toy):
    """Returns what it was given."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Not what was promised."""
        return self.answer  # type: ignore[return-value]  # that is the point


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "NoneType"),
        (np.ones((2, 4)), "2 vectors for 1 texts"),
        (np.ones((1, 5)), "width 5"),
        (np.full((1, 4), np.nan), "NaN"),
    ],
)
def test_a_wrong_answer_is_a_reason_with_words(
    open_service: Open, answer: object, words: str
) -> None:
    """Never an exception for the caller, never a vector."""
    embedded = open_service(Wrong(answer)).embed("text")

    assert reason(embedded) is Reason.EMBEDDER_FAILED
    assert words in detail(embedded)


def test_a_row_of_zeros_is_no_vector(open_service: Open) -> None:
    """It would match nothing, so it says so at once."""
    assert reason(open_service(Wrong(np.zeros((1, 4)))).embed("text")) is Reason.UNREADABLE


def test_an_error_is_told_and_logged_once(
    open_service: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """The detail has its text each time."""
    service = open_service(Broken())

    with caplog.at_level(logging.WARNING, "semcache"):
        answers = [service.embed("text") for _ in range(3)]

    assert {detail(answer) for answer in answers} == {"ValueError: bad gateway"}
    assert len(caplog.records) == 1
    assert service.stats()["failures"] == 3


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), MemoryError()])
def test_no_error_ends_the_worker(open_service: Open, error: BaseException) -> None:
    """The next call is answered."""
    broken = Broken()
    broken.error = error
    service = open_service(broken)
    assert reason(service.embed("text")) is Reason.EMBEDDER_FAILED

    broken.error = None

    assert length(service.embed("text")) == 4


def test_five_failures_in_a_row_close_the_way_for_thirty_seconds(open_service: Open) -> None:
    """A dead embedder is left alone; then one call tries again."""
    broken, clock = Broken(), Seconds()
    service = open_service(broken, clock=clock)
    for _ in range(5):
        service.embed("text")

    refused = service.embed("text")
    assert reason(refused) is Reason.EMBEDDER_FAILED
    assert "not asked again for 30 s" in detail(refused)
    assert len(broken.asked) == 5

    clock.now += 30.5
    broken.error = None
    assert length(service.embed("text")) == 4


def test_a_success_between_keeps_the_way_open(open_service: Open) -> None:
    """Only failures in a row count."""
    broken = Broken()
    service = open_service(broken)
    for place in range(12):
        broken.error = None if place % 4 == 3 else ValueError("flaky")
        service.embed("text")

    assert len(broken.asked) == 12


def test_a_stuck_embedder_costs_one_deadline_and_no_second_thread(open_service: Open) -> None:
    """The first caller waits its time; until the call returns, the others do not wait at all."""
    gated = Gated()
    service = open_service(gated, timeout=0.05)
    assert reason(service.embed("text")) is Reason.EMBEDDER_TIMEOUT

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(service.embed, ["text"] * 100))

    assert {reason(answer) for answer in answers} == {Reason.EMBEDDER_TIMEOUT}
    assert service.stats() == {
        "texts": 101,
        "failures": 0,
        "timeouts": 1,
        "refused": 100,
        "batches": 1,
    }
    mine = [thread for thread in threading.enumerate() if thread.name == "semcache-embed"]
    assert sum(thread is service._worker.thread for thread in mine if service._worker) == 1
    gated.gate.set()


def test_an_embedder_that_comes_back_is_asked_again(open_service: Open) -> None:
    """The stuck call ends by itself, and the way is open."""
    gated = Gated()
    service = open_service(gated, timeout=0.05)
    service.embed("text")

    gated.gate.set()
    while service._worker is not None and service._worker.running is not None:
        threading.Event().wait(0.001)

    # The toy is quick now, but a busy machine may not be.
    service._embed_timeout = 10.0
    assert length(service.embed("text")) == 4


def test_while_it_loads_nobody_waits(open_service: Open) -> None:
    """Sixteen first callers get a reason at once, and the model is loaded once."""
    lazy = Lazy()
    service = open_service(lazy)
    before = service.state

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(service.embed, ["text"] * 16))
    assert {reason(answer) for answer in answers} == {Reason.LOADING}
    assert (before, service.state) == ("unloaded", "loading")

    lazy.gate.set()
    assert service.preload(10)
    assert lazy.loads == 1
    assert length(service.embed("text")) == 4
    assert (service.name, service.dimension) == ("toy", 4)


def test_preload_gives_up_in_time(open_service: Open) -> None:
    """It says no, and the load goes on."""
    lazy = Lazy()
    service = open_service(lazy)

    assert not service.preload(0.01)
    lazy.gate.set()
    assert service.preload(10)


def test_a_load_without_end_is_told_from_one_under_way(open_service: Open) -> None:
    """After `load_timeout_seconds` the reason changes."""
    lazy, clock = Lazy(), Seconds()
    service = open_service(lazy, clock=clock, load_timeout_seconds=60)
    assert reason(service.embed("text")) is Reason.LOADING

    clock.now += 61

    assert service.embed("text") == NoEmbedding(Reason.EMBEDDER_TIMEOUT, "loading since 61 s")
    lazy.gate.set()


def test_a_load_that_fails_is_a_reason(
    open_service: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """The state says failed, the detail why, the log once."""
    lazy = Lazy(RuntimeError("corrupt weights"))
    lazy.gate.set()
    service = open_service(lazy)

    with caplog.at_level(logging.WARNING, "semcache"):
        assert not service.preload(10)
        answers = [service.embed("text") for _ in range(3)]

    assert service.state == "failed"
    assert set(answers) == {NoEmbedding(Reason.EMBEDDER_FAILED, "RuntimeError: corrupt weights")}
    assert len(caplog.records) == 1


def test_a_missing_model_is_absent_and_the_detail_has_the_command(open_service: Open) -> None:
    """Nothing failed: it is not installed."""
    lazy = Lazy(MissingExtraError("the model", "pip install it"))
    lazy.gate.set()
    service = open_service(lazy)
    service.preload(10)

    answer = service.embed("text")

    assert service.state == "absent"
    assert reason(answer) is Reason.NO_EMBEDDER
    assert "pip install it" in detail(answer)


def test_without_an_embedder_there_is_a_reason(open_service: Open) -> None:
    """No thread is started for it."""
    service = open_service(None)

    assert not service.preload(1)
    assert reason(service.embed("text")) is Reason.NO_EMBEDDER
    assert service.state == "absent"


def test_a_closed_service_gives_a_reason(open_service: Open) -> None:
    """Closing twice is closing once."""
    service = open_service(Toy())
    service.embed("text")

    service.close()
    service.close()

    assert service.state == "closed"
    assert service.embed("text") == NoEmbedding(Reason.NO_EMBEDDER, "closed")
    assert service.stats()["batches"] == 1


def test_a_dropped_service_takes_its_thread_with_it() -> None:
    """Nobody need call close()."""
    service = EmbeddingService(Toy())
    service.embed("text")
    assert service._worker is not None
    thread = service._worker.thread

    del service
    gc.collect()
    thread.join(10)

    assert not thread.is_alive()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_deadline_that_cannot_work_is_an_error(seconds: float) -> None:
    """The error names the argument."""
    with pytest.raises(ArgumentError, match="embed_timeout_seconds"):
        EmbeddingService(Toy(), embed_timeout_seconds=seconds)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_worker_of_its_own(open_service: Open) -> None:
    """Even when the parent's was stuck at the fork."""
    gated = Gated()
    service = open_service(gated, timeout=0.05)
    service.embed("text")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        gated.gate.set()
        service._embed_timeout = 10.0
        os.write(writer, bytes([length(service.embed("text"))]))
        os._exit(0)
    answered, _, _ = select.select([reader], [], [], 20)
    if not answered:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    gated.gate.set()

    assert answered
    assert os.read(reader, 1) == bytes([4])
    os.close(reader)
    os.close(writer)


def test_a_process_that_ends_lets_a_running_call_end() -> None:
    """Native code that is cut off at exit would abort the process."""
    code = """
import threading
from semcache.embed import EmbeddingService

class Slow:
    name, dimension, entered = "slow", 1, threading.Event()
    def embed(self, texts):
        self.entered.set()
        threading.Event().wait(0.2)
        print("ended", flush=True)
        return [[1.0]] * len(texts)

slow = Slow()
service = EmbeddingService(slow)
threading.Thread(target=service.embed, args=("text",), daemon=True).start()
slow.entered.wait()
"""

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "ended\n"
