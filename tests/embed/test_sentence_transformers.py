"""The real model: its facts, its limits, threads, forks, and that it asks nobody."""

from __future__ import annotations

import os
import select
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semcache.decision import Reason
from semcache.embed.adapt import as_embedder
from semcache.embed.batching import Embedding, NoEmbedding
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.embed.service import EmbeddingService
from semcache.errors import ArgumentError, EmbedderError
from semcache.index.scoped import ScopedIndex
from semcache.protocols import Embedder
from tests.contracts.embedder import EmbedderContract

pytestmark = pytest.mark.model

QUESTION = "How can I change the delivery address of an order that has already shipped?"


class TestSentenceTransformerEmbedder(EmbedderContract):
    """The real model keeps the contract."""

    @pytest.fixture
    def embedder(self, minilm: SentenceTransformerEmbedder) -> Embedder:
        """The default model."""
        return minilm


def test_the_default_is_minilm(minilm: SentenceTransformerEmbedder) -> None:
    """Width, threshold, and a name that holds digest, pooling, window and precision."""
    assert minilm.dimension == 384
    assert minilm.default_threshold == 0.95
    for part in ("all-MiniLM-L6-v2@53aa51172d14", "pooling=mean", "window=254", "float32"):
        assert part in minilm.name


def test_a_paraphrase_is_nearer_than_another_question(minilm: SentenceTransformerEmbedder) -> None:
    """The weights are real."""
    ghana, same, other = minilm.embed(
        [
            "What is the capital of Ghana?",
            "Can you tell me the capital city of Ghana?",
            "What is your phone number?",
        ]
    )

    assert ghana @ same == pytest.approx(0.9399, abs=1e-3)
    assert ghana @ other < 0.4


@pytest.mark.parametrize("text", ["怎么退货", "怎么换货", "I love it 🙂", "हिन्दी", "bạn"])
def test_what_it_cannot_read_is_named(minilm: SentenceTransformerEmbedder, text: str) -> None:
    """Return and exchange would be one vector."""
    assert minilm.unknown(text)


@pytest.mark.parametrize(
    "text", [QUESTION, "café déjà vu, “quotes” — and more… €5", "El año próximo", "x ≥ 3 → y ≤ 4"]
)
def test_what_it_can_read_is_let_through(minilm: SentenceTransformerEmbedder, text: str) -> None:
    """Accents and printed punctuation are no obstacle."""
    assert minilm.unknown(text) == []


def test_a_text_past_the_window_is_never_cut_short(minilm: SentenceTransformerEmbedder) -> None:
    """The embedder refuses it; its windows are all of it, and each fits."""
    text = "equal words " * 200 + "Answer with the capital of Chad."

    with pytest.raises(EmbedderError, match=r"texts\[1\].*254.*windows"):
        minilm.embed(["short", text])
    windows = minilm.windows(text)

    assert "".join(windows) == text
    assert len(windows) == 2
    assert minilm.embed(windows).shape == (2, 384)


def test_long_prompts_that_differ_at_the_end_do_not_match(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Every window has to agree, the last one too."""
    service = EmbeddingService(minilm, embed_timeout_seconds=60)
    chad, cuba = (
        service.embed("equal words " * 200 + f"Answer with the capital of {place}.")
        for place in ("Chad", "Cuba")
    )
    assert isinstance(chad, Embedding)
    assert isinstance(cuba, Embedding)
    index = ScopedIndex(384)
    index.add(b"s", b"chad", chad.vectors)

    assert index.search(b"s", chad.vectors, 1)[0][1] == pytest.approx(1.0)
    assert index.search(b"s", cuba.vectors, 1)[0][1] < 0.95
    service.close()


def test_two_embedders_on_one_model_keep_their_own_limits(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """In threads, and the model's own limit stays."""
    model = minilm._ready().model
    short = SentenceTransformerEmbedder(model, max_tokens=128)
    long = as_embedder(model)
    assert isinstance(long, SentenceTransformerEmbedder)
    expected = minilm.embed([QUESTION])

    def limits_and_row(embedder: SentenceTransformerEmbedder) -> tuple[int, NDArray[np.float32]]:
        return len(embedder.windows("word " * 200)), embedder.embed([QUESTION])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(limits_and_row, [short, long] * 8))

    assert [windows for windows, _ in answers] == [2, 1] * 8
    for _, row in answers:
        np.testing.assert_allclose(row, expected, atol=1e-6)
    assert model.max_seq_length == 256
    assert short.name != long.name


def test_a_limit_above_the_models_is_an_error(minilm: SentenceTransformerEmbedder) -> None:
    """What the model does not read cannot be promised."""
    embedder = SentenceTransformerEmbedder(minilm._ready().model, max_tokens=512)

    with pytest.raises(ArgumentError, match=r"max_tokens=512.*256"):
        embedder.load()


def test_a_prompt_changes_vectors_name_and_room(minilm: SentenceTransformerEmbedder) -> None:
    """It takes its share of the window."""
    prompted = SentenceTransformerEmbedder(minilm._ready().model, prompt="query: ")

    assert not np.allclose(prompted.embed([QUESTION]), minilm.embed([QUESTION]), atol=1e-3)
    assert "prompt='query: ' window=252" in prompted.name


def test_sixteen_first_callers_load_once(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait for the one load, and all get the same vectors."""
    embedder = SentenceTransformerEmbedder()
    loads: list[int] = []
    load = embedder._load

    def counted() -> object:
        loads.append(1)
        return load()

    monkeypatch.setattr(embedder, "_load", counted)

    with ThreadPoolExecutor(16) as pool:
        rows = list(pool.map(embedder.embed, [[QUESTION]] * 16))

    assert len(loads) == 1
    for row in rows:
        np.testing.assert_allclose(row, minilm.embed([QUESTION]), atol=1e-6)


def test_a_batch_of_mixed_lengths_gives_what_single_calls_give(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """Texts are run in groups of like length and put back in order."""
    texts = ["word " * (1 + 37 * place % 150) for place in range(6)]

    together = minilm.embed(texts)

    for text, row in zip(texts, together, strict=True):
        np.testing.assert_allclose(minilm.embed([text])[0], row, atol=1e-6)


def test_loading_and_embedding_open_no_socket(minilm: SentenceTransformerEmbedder) -> None:
    """Nor does looking for a model that is not here."""
    opened: list[str] = []
    watching = [True]

    def watch(event: str, _: Any) -> None:
        if watching and event.startswith("socket."):
            opened.append(event)

    sys.addaudithook(watch)
    SentenceTransformerEmbedder().embed([QUESTION])
    with pytest.raises(EmbedderError):
        SentenceTransformerEmbedder("nobody/no-such-model").load()
    watching.clear()

    assert opened == []


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_answer_within_a_deadline(minilm: SentenceTransformerEmbedder) -> None:
    """Two children of a process whose model is warm load their own and get the same vectors."""
    service = EmbeddingService(minilm, embed_timeout_seconds=60)
    warm = service.embed(QUESTION)
    assert isinstance(warm, Embedding)
    children = []
    for _ in range(2):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            ready = service.preload(60)
            mine = service.embed(QUESTION)
            same = isinstance(mine, Embedding) and np.allclose(
                mine.vectors, warm.vectors, atol=1e-6
            )
            direct = np.allclose(minilm.embed([QUESTION]), warm.vectors, atol=1e-6)
            os.write(writer, bytes([ready, same, direct]))
            os._exit(0)
        os.close(writer)
        children.append((child, reader))

    answers = []
    for child, reader in children:
        answered, _, _ = select.select([reader], [], [], 60)
        if not answered:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        answers.append(os.read(reader, 3) if answered else b"no answer")
        os.close(reader)
    service.close()

    assert answers == [b"\x01\x01\x01"] * 2


def test_the_service_says_what_the_model_cannot_read(minilm: SentenceTransformerEmbedder) -> None:
    """Chinese gets no semantic tier from this model."""
    service = EmbeddingService(minilm, embed_timeout_seconds=60)

    answer = service.embed("怎么退货")

    assert isinstance(answer, NoEmbedding)
    assert answer.reason is Reason.UNREADABLE
    assert "退" in answer.detail
    service.close()
