"""Half a stream is stored as a whole one, or a hit breaks the stream's form.

Promise: a stream is stored only if it ended, whole by its own account; a hit has its chunks.
Room: `semcache/stream.py`, `semcache/admit/ending.py`
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from semcache import Refused, SemanticCache, Stored
from semcache.errors import ArgumentError
from tests.fakes import Far, Model
from tests.faults.conftest import PATIENT

PROMPT = "Explain how a kettle works"
FORMS = pytest.mark.parametrize("form", ["stream", "async stream"])
TEN = [f"{n} " for n in range(9)] + [""]


def streaming(
    form: str, cache: SemanticCache, chunks: Callable[[], Iterator[Any]], **options: Any
) -> Any:
    """Decorate a generator function, or an async one, over what `chunks` yields."""

    def stream(prompt: str, **_params: Any) -> Iterator[Any]:
        yield from chunks()

    async def astream(prompt: str, **_params: Any) -> AsyncIterator[Any]:
        for chunk in chunks():
            await asyncio.sleep(0)
            yield chunk

    return cache.cached(**options)(stream if form == "stream" else astream)


def read(ask: Any, *, most: int | None = None, close: bool = True) -> list[Any]:
    """Take the first chunks of a stream, or all; close the rest of it or let it be collected."""
    made = ask(PROMPT)
    if not hasattr(made, "__aiter__"):
        return _read(made, most, close=close)
    return asyncio.run(_aread(made, most, close=close))


def _read(made: Any, most: int | None, *, close: bool) -> list[Any]:
    found = []
    for chunk in made:
        found.append(chunk)
        if len(found) == most:
            break
    if close:
        made.close()
    return found


async def _aread(made: Any, most: int | None, *, close: bool) -> list[Any]:
    found = []
    async for chunk in made:
        found.append(chunk)
        if len(found) == most:
            break
    if close:
        await made.aclose()
        return found
    del made
    gc.collect()
    await asyncio.sleep(0)
    return found


class Source:
    """Ten chunks; the first call may break after two of them."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.calls = 0
        self.breaks = breaks

    def __call__(self) -> Iterator[str]:
        self.calls += 1
        for number, chunk in enumerate(TEN):
            if self.breaks and self.calls == 1 and number == 2:
                raise RuntimeError("torn")
            yield chunk


@FORMS
def test_b076_a_stream_that_raises_is_not_stored(form: str, far: SemanticCache) -> None:
    """The error reaches the reader, the next call runs in full."""
    source = Source(breaks=True)
    ask = streaming(form, far, source)

    with pytest.raises(RuntimeError, match="torn"):
        read(ask)

    assert len(far) == 0
    assert (read(ask), source.calls) == (TEN, 2)


@FORMS
@pytest.mark.parametrize("close", [True, False], ids=["closed", "collected"])
def test_b076_a_stream_left_after_one_chunk_is_not_stored(
    form: str, close: bool, far: SemanticCache
) -> None:
    """Whether it was closed or collected as garbage."""
    source = Source()
    ask = streaming(form, far, source)

    first = read(ask, most=1, close=close)
    gc.collect()

    assert first == TEN[:1]
    assert len(far) == 0
    assert (read(ask), source.calls) == (TEN, 2)


def test_b076_a_cancelled_reader_leaves_nothing_stored(far: SemanticCache) -> None:
    """The task ends in the middle of the stream."""
    model = Model()

    @far.cached()
    async def ask(prompt: str) -> AsyncIterator[str]:
        yield model()
        if model.calls == 1:
            await asyncio.Event().wait()
        yield "!"

    async def main() -> list[str]:
        started = asyncio.Event()

        async def consume() -> None:
            async for _chunk in ask(PROMPT):
                started.set()

        task = asyncio.create_task(consume())
        await started.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return [chunk async for chunk in ask(PROMPT)]

    assert asyncio.run(main()) == ["R2", "!"]
    assert len(far) == 1


def chat_chunk(text: str, finish_reason: str | None = None) -> dict[str, Any]:
    delta = {"delta": {"content": text}, "index": 0, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "choices": [delta]}


@FORMS
def test_b077_chat_chunks_without_a_finish_reason_are_not_stored(
    form: str, far: SemanticCache
) -> None:
    """An end marker is not the end of an answer."""
    model = Model()

    def chunks() -> Iterator[Any]:
        yield chat_chunk(model())
        yield "[DONE]"

    ask = streaming(form, far, chunks)

    assert [read(ask)[0], read(ask)[0]] == [chat_chunk("R1"), chat_chunk("R2")]


@FORMS
def test_b077_chat_chunks_with_a_finish_reason_are_stored(form: str, far: SemanticCache) -> None:
    """The usual form of a whole answer."""
    model = Model()

    def chunks() -> Iterator[Any]:
        yield chat_chunk(model())
        yield chat_chunk("", "stop")
        yield "[DONE]"

    ask = streaming(form, far, chunks)

    assert read(ask) == read(ask) == [chat_chunk("R1"), chat_chunk("", "stop"), "[DONE]"]


@FORMS
def test_b077_is_complete_says_what_a_whole_stream_is(form: str, far: SemanticCache) -> None:
    """For shapes of one's own, and against the default."""
    model = Model()

    def chunks() -> Iterator[Any]:
        yield model()
        yield "END" if model.calls > 1 else "..."

    ask = streaming(form, far, chunks, is_complete=lambda parts: parts[-1] == "END")

    assert [read(ask)[0] for _ in range(3)] == ["R1", "R2", "R2"]


@FORMS
def test_b079_ten_chunks_are_replayed_as_ten(form: str, far: SemanticCache) -> None:
    """Equal chunks, empty ones included, from one real call."""
    source = Source()
    ask = streaming(form, far, source)

    assert read(ask) == read(ask) == TEN
    assert source.calls == 1


@FORMS
def test_b079_a_hit_is_advanced_chunk_by_chunk(form: str, far: SemanticCache) -> None:
    """A reader of a hit may stop after any chunk."""
    ask = streaming(form, far, Source())
    read(ask)

    assert [read(ask, most=n) for n in (1, 3)] == [TEN[:1], TEN[:3]]


@FORMS
@pytest.mark.parametrize("first", [True, False])
def test_b080_stream_and_no_stream_are_two_entries(
    form: str, first: bool, far: SemanticCache
) -> None:
    """The flag counts; each caller gets the form that was asked for."""

    def whole(prompt: str, *, stream: bool) -> str:
        return "whole"

    ask_whole = far.cached(shared=True)(whole)
    ask_parts = streaming(form, far, lambda: iter(TEN), shared=True)
    order = [first, not first] * 2

    def ask(stream: bool) -> Any:
        if not stream:
            return ask_whole(PROMPT, stream=False)
        return read(lambda prompt: ask_parts(prompt, stream=True))

    assert [ask(stream) for stream in order] == [TEN if stream else "whole" for stream in order]


@FORMS
@pytest.mark.parametrize("first", ["whole", "parts"])
def test_b080_one_request_warmed_in_one_form_and_read_in_the_other(
    form: str, first: str, far: SemanticCache
) -> None:
    """Shared functions with equal arguments: a correct conversion or a call, never a broken mix."""
    whole = "".join(TEN)

    @far.cached(shared=True)
    def ask_whole(prompt: str) -> str:
        return whole

    ask_parts = streaming(form, far, lambda: iter(TEN), shared=True)
    for turn in (first, "whole", "parts", "whole"):
        if turn == "whole":
            assert ask_whole(PROMPT) == whole
        else:
            parts = read(ask_parts)
            assert "".join(parts) == whole
            assert parts in (TEN, [whole])


@FORMS
@pytest.mark.parametrize(
    "value", [5, {"text": "tent"}, None, {"a", "b"}], ids=lambda v: type(v).__name__
)
def test_put_refuses_what_a_stream_cannot_replay(form: str, value: Any, far: SemanticCache) -> None:
    """At put, with the remedy, not at the hit that would break."""
    ask = streaming(form, far, lambda: iter(TEN))

    with pytest.raises(ArgumentError, match="list of chunks"):
        ask.put(value, PROMPT)

    assert read(ask) == TEN


@FORMS
@pytest.mark.parametrize("value", [TEN, tuple(TEN), "".join(TEN), b"0 1 2"])
def test_put_takes_chunks_or_a_text_as_the_only_one(
    form: str, value: Any, far: SemanticCache
) -> None:
    """A text is not torn into letters."""
    source = Source()
    ask = streaming(form, far, source)

    assert isinstance(ask.put(value, PROMPT), Stored)

    assert read(ask) == ([value] if isinstance(value, str | bytes) else TEN)
    assert source.calls == 0


@FORMS
def test_put_of_half_a_stream_is_refused(form: str, far: SemanticCache) -> None:
    """What is put by hand is asked the same as what was read."""
    ask = streaming(form, far, lambda: iter(TEN))

    refused = ask.put([chat_chunk("Half a")], PROMPT)

    assert isinstance(refused, Refused)
    assert "finish reason" in refused.reason


def ask_whole(prompt: str) -> dict[str, str]:
    return {"text": "tent"}


def ask_stream(prompt: str) -> Iterator[dict[str, str]]:
    yield {"text": "tent"}


async def ask_astream(prompt: str) -> AsyncIterator[dict[str, str]]:
    yield {"text": "tent"}


@FORMS
@pytest.mark.parametrize("was_stream", [True, False])
def test_a_function_that_changes_its_form_does_not_meet_its_old_answers(
    form: str, was_stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One name, first whole and then a stream, or the other way round, over one directory."""
    parts = ask_stream if form == "stream" else ask_astream
    for function in (ask_whole, parts):
        monkeypatch.setattr(function, "__qualname__", "ask")

    for function in (parts, ask_whole) if was_stream else (ask_whole, parts):
        with SemanticCache(tmp_path / "c", embedder=Far(), config=PATIENT) as cache:
            ask = cache.cached()(function)
            if function is ask_whole:
                assert ask(PROMPT) == {"text": "tent"}
            else:
                assert read(ask) == [{"text": "tent"}]


CUT_STREAMS: dict[str, list[Any]] = {
    "ollama": [{"message": {"role": "assistant", "content": "A"}, "done": False}],
    "completions": [
        {"object": "text_completion", "choices": [{"text": "A", "finish_reason": None}]}
    ],
    "a second choice": [
        {"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}]},
        {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": None}]},
    ],
    "a reason called null": [{"output": {"text": "A", "finish_reason": "null"}}],
    "langchain": [{"type": "AIMessageChunk", "content": "A", "response_metadata": {}}],
    "usage is no end": [chat_chunk("A"), {"choices": [], "usage": {"total_tokens": 3}}],
    "bedrock": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "A"}}},
    ],
    "bedrock throttled": [
        {"contentBlockDelta": {"delta": {"text": "A"}}},
        {"throttlingException": {"message": "slow down"}},
    ],
    "anthropic without a delta of the message": [
        {"type": "message_start", "message": {"role": "assistant", "stop_reason": None}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "A"}},
        {"type": "message_stop"},
    ],
    "responses": [{"type": "response.output_text.delta", "delta": "A"}],
    "raw events": ['data: {"choices": [{"delta": {"content": "A"}}]}\n\n', "data: [DONE]\n\n"],
    "raw events, torn": [b'data: {"choices": [{"del', b'ta": {"content": "A"}}]}\n\ndata: {"cho'],
    "raw lines": ['{"response": "A", "done": false}\n', '{"response": "B", "done": false}\n'],
}


@FORMS
@pytest.mark.parametrize("shape", CUT_STREAMS)
def test_a_stream_that_does_not_say_it_ended_is_not_stored(
    form: str, shape: str, far: SemanticCache
) -> None:
    """In no provider's shape, parsed or as it came from the wire."""
    ask = streaming(form, far, lambda: iter(CUT_STREAMS[shape]))

    assert read(ask) == CUT_STREAMS[shape]

    assert len(far) == 0
    assert sum(far.stats().refused.values()) == 1


WHOLE_STREAMS: dict[str, list[Any]] = {
    "ollama": [
        {"message": {"content": "A"}, "done": False},
        {"message": {"content": ""}, "done": True, "done_reason": "stop"},
    ],
    "two choices": [
        {"choices": [{"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"}]},
        {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}]},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "A"}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}]},
    ],
    "responses": [
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.output_text.delta", "delta": "A"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ],
    "raw events": [
        'data: {"choices": [{"delta": {"content": "A"}, "finish_reason": null}]}\n\n',
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n',
        "data: [DONE]\n\n",
    ],
    "null until it ends": [
        {"output": {"text": "A", "finish_reason": "null"}},
        {"output": {"text": "B", "finish_reason": "stop"}},
    ],
    "texts that look like data": ["data: the new oil", ": a saying"],
}


@FORMS
@pytest.mark.parametrize("shape", WHOLE_STREAMS)
def test_a_stream_that_says_it_ended_is_stored(form: str, shape: str, far: SemanticCache) -> None:
    """The other side of the same rule, and texts are held to none."""
    ask = streaming(form, far, lambda: iter(WHOLE_STREAMS[shape]))

    assert read(ask) == read(ask) == WHOLE_STREAMS[shape]

    assert far.stats().hits == {"exact": 1}


@FORMS
def test_a_stream_that_fails_after_its_finish_reason_is_not_stored(
    form: str, far: SemanticCache
) -> None:
    """A reason in a chunk is not the end of the source."""
    calls: list[int] = []

    def chunks() -> Iterator[Any]:
        calls.append(1)
        yield chat_chunk("A", "stop")
        if len(calls) == 1:
            raise ConnectionError("reset")

    ask = streaming(form, far, chunks, shared=True)

    with pytest.raises(ConnectionError):
        read(ask)

    assert len(far) == 0
    assert read(ask) == [chat_chunk("A", "stop")]


@FORMS
def test_one_dict_that_is_filled_up_and_yielded_again_is_many_chunks(
    form: str, far: SemanticCache
) -> None:
    """Each chunk is what it was when it was yielded, on the miss and on the hit."""

    def chunks() -> Iterator[Any]:
        growing = {"text": ""}
        for letter in "abc":
            growing["text"] += letter
            yield growing

    ask = streaming(form, far, chunks)

    assert read(ask) == read(ask) == [{"text": text} for text in ("a", "ab", "abc")]
