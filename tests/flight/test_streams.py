"""Generators shared by callers in threads: chunks, ends, errors, early closes."""

from __future__ import annotations

import copy
import gc
import os
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from semcache.errors import SemcacheError
from semcache.stream import Raw, Recording, Streams, areplay, replay
from semcache.value import decode, encode
from tests.flight.fakes import DEADLINE_SECONDS, exit_code, hold, in_thread, run, until

KEY = b"key"
CHUNKS = [{"text": "a"}, "", 0, None, [], {"text": "b"}]


class Source:
    """A generator function that counts its calls, the chunks it gave and its closes."""

    def __init__(self, chunks: list[Any], error: BaseException | None = None) -> None:
        self.chunks = chunks
        self.error = error
        self.calls = self.given = self.closed = 0
        self.before: Callable[[int], object] = lambda position: None

    def __call__(self) -> Generator[Any, None, str]:
        """Give the chunks, then raise the error if there is one."""
        self.calls += 1
        try:
            for position, chunk in enumerate(self.chunks):
                self.before(position)
                self.given += 1
                yield copy.copy(chunk) if isinstance(chunk, dict | list) else chunk
            self.before(len(self.chunks))
            if self.error is not None:
                raise self.error
            return f"R{self.calls}"  # the return value is what is tested
        finally:
            self.closed += 1


class Stored(list[Recording[Any]]):
    """The recordings that were handed over."""


def returned(stream: Iterator[Any]) -> tuple[list[Any], Any]:
    """Read a stream to its end; return its chunks and its return value."""
    chunks = []
    while True:
        try:
            chunks.append(next(stream))
        except StopIteration as stop:
            return chunks, stop.value


def test_a_lone_reader_gets_the_stream_as_it_is() -> None:
    """Chunks, falsy ones too, and the return value come through, and are stored once."""
    streams, source, stored = Streams(), Source(CHUNKS), Stored()

    chunks, value = returned(streams.follow(KEY, source, stored.append))

    assert (chunks, value) == (CHUNKS, "R1")
    assert [recording.chunks() for recording in stored] == [CHUNKS]
    assert decode(stored[0].payload) == CHUNKS
    assert len(streams) == 0


def test_twenty_threads_read_one_source() -> None:
    """Each gets every chunk in order, as objects of its own."""
    streams, source, stored = Streams(), Source(CHUNKS), Stored()
    source.before = lambda position: until(lambda: streams.readers(KEY) == 20)

    def read() -> tuple[list[Any], Any]:
        return returned(streams.follow(KEY, source, stored.append))

    results = [f.result(DEADLINE_SECONDS) for f in [in_thread(read) for _ in range(20)]]

    assert results == [(CHUNKS, "R1")] * 20
    assert len({id(chunks[0]) for chunks, _ in results}) == 20
    assert (source.calls, len(stored)) == (1, 1)


def test_a_late_caller_follows_from_the_first_chunk() -> None:
    """It gets at once what is there, and advances the source when it needs more."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()
    early = streams.follow(KEY, source, stored.append)
    assert [next(early), next(early)] == ["a", "b"]

    late = streams.follow(KEY, source, stored.append)

    assert [next(late), next(late)] == ["a", "b"]
    assert source.given == 2
    assert next(late) == "c"
    assert list(late) == []
    assert list(early) == ["c"]
    assert (source.calls, len(stored)) == (1, 1)


def test_the_recording_is_there_before_anyone_sees_the_end() -> None:
    """By the time the first reader is told of the end, the next call can be answered."""
    streams, source, stored = Streams(), Source(["a"]), Stored()
    reader, other = (streams.follow(KEY, source, stored.append) for _ in "12")
    assert next(reader) == next(other) == "a"

    for _ in reader:
        raise AssertionError("there is only one chunk")

    assert len(stored) == 1
    assert list(other) == []
    assert len(stored) == 1


def test_nothing_happens_before_the_first_chunk_is_asked_for() -> None:
    """A stream that is made and dropped opens no source and leaves no trace."""
    streams, source, stored = Streams(), Source(["a"]), Stored()

    stream = streams.follow(KEY, source, stored.append)
    del stream

    assert source.calls == 0
    assert len(streams) == 0


@pytest.mark.parametrize("reached", [0, 2])
def test_an_upstream_error_reaches_every_reader(reached: int) -> None:
    """After the chunks that preceded it, each gets that same error, and nothing is stored."""
    streams, stored = Streams(), Stored()
    source = Source(["a", "b"][:reached], error=ValueError("cut"))
    readers = [streams.follow(KEY, source, stored.append) for _ in "123"]
    firsts = [[next(reader) for _ in range(reached)] for reader in readers] if reached else []

    for reader in readers if reached else []:
        with pytest.raises(ValueError, match="cut") as caught:
            next(reader)
        assert caught.value is source.error

    if not reached:
        with pytest.raises(ValueError, match="cut"):
            next(readers[0])
    assert firsts == [["a", "b"]] * 3 if reached else firsts == []
    assert source.calls == 1
    assert stored == []
    assert len(streams) == 0


def test_one_reader_that_leaves_does_not_stop_the_others() -> None:
    """The source goes on for who stays, and is stored when it has ended for them."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()
    leaver, stayer = (streams.follow(KEY, source, stored.append) for _ in "12")
    assert next(leaver) == next(stayer) == "a"

    leaver.close()

    assert source.closed == 0
    assert list(stayer) == ["b", "c"]
    assert len(stored) == 1


@pytest.mark.parametrize("how", ["close", "throw", "garbage", "cycle"])
def test_the_last_reader_that_leaves_closes_the_source(how: str) -> None:
    """Closed, broken off or dropped without a word: the source is closed and nothing stored."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()
    readers = [streams.follow(KEY, source, stored.append) for _ in "12"]
    assert [next(reader) for reader in readers] == ["a", "a"]

    if how == "close":
        for reader in readers:
            reader.close()
    elif how == "throw":
        for reader in readers:
            with pytest.raises(KeyError):
                reader.throw(KeyError("x"))
    elif how == "cycle":
        readers.append(readers)  # type: ignore[arg-type]
    del readers
    reader = None  # type: ignore[assignment]
    gc.collect()

    assert source.closed == 1
    assert stored == []
    assert len(streams) == 0
    assert list(streams.follow(KEY, source, stored.append)) == ["a", "b", "c"]


def test_a_consumer_that_reads_all_chunks_but_not_the_end_stores_nothing() -> None:
    """Only a source that said it was done is a whole answer."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()
    reader = streams.follow(KEY, source, stored.append)

    assert [next(reader), next(reader)] == ["a", "b"]
    reader.close()

    assert stored == []
    assert source.closed == 1


def test_what_the_source_raises_while_it_is_closed_reaches_the_one_who_closed() -> None:
    """A failing clean-up is not hidden."""
    streams, stored = Streams(), Stored()

    def source() -> Iterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            raise OSError("cannot close")

    reader = streams.follow(KEY, source, stored.append)
    next(reader)

    with pytest.raises(OSError, match="cannot close"):
        reader.close()


def test_a_first_chunk_without_a_form_is_passed_through() -> None:
    """Readers that have had nothing make their own call; nothing is stored."""
    lock = threading.Lock()
    streams, source, stored = Streams(), Source([lock, "b"]), Stored()
    leader = streams.follow(KEY, source, stored.append)
    source.before = lambda position: None
    assert next(leader) is lock

    again = streams.follow(KEY, source, stored.append)

    assert list(again) == [lock, "b"]
    assert list(leader) == ["b"]
    assert source.calls == 2
    assert [type(item) for item in stored] == [Raw, Raw]


def test_a_follower_that_waited_for_a_chunk_without_a_form_calls_itself() -> None:
    """It had joined before anybody knew, and gets a whole stream of its own."""
    streams, source, stored = Streams(), Source([threading.Lock(), "b"]), Stored()

    def both_wait(position: int) -> None:
        if source.calls == 1 and position == 0:
            until(lambda: streams.readers(KEY) == 2)

    source.before = both_wait

    futures = [in_thread(lambda: list(streams.follow(KEY, source, stored.append))) for _ in "12"]

    assert [len(future.result(DEADLINE_SECONDS)) for future in futures] == [2, 2]
    assert source.calls == 2
    assert [type(item) for item in stored] == [Raw, Raw]


def test_readers_half_way_get_copies_of_a_chunk_without_a_form() -> None:
    """Nobody is left with half a stream, and nobody joins it any more."""

    class Odd:
        pass

    odd = Odd()
    streams, source, stored = Streams(), Source(["a", odd, "c"]), Stored()
    leader, follower = (streams.follow(KEY, source, stored.append) for _ in "12")
    assert next(leader) == next(follower) == "a"

    mine, yours = next(leader), next(follower)

    assert mine is odd
    assert type(yours) is Odd
    assert yours is not odd
    assert len(streams) == 0
    assert (list(leader), list(follower)) == (["c"], ["c"])
    assert [type(item) for item in stored] == [Raw]


def test_an_interrupt_tears_the_source_from_readers_half_way() -> None:
    """Chunks of two answers do not make one: who has some gets an error, who has none restarts."""
    streams, stored = Streams(), Stored()
    source = Source(["a"], error=KeyboardInterrupt())
    leader, half_way, fresh = (streams.follow(KEY, source, stored.append) for _ in "123")
    assert next(leader) == next(half_way) == "a"

    with pytest.raises(KeyboardInterrupt):
        next(leader)
    source.error = None

    with pytest.raises(SemcacheError, match="after 1 chunks"):
        next(half_way)
    assert list(fresh) == ["a"]
    assert source.calls == 2
    assert len(stored) == 1


def test_a_reader_that_waits_for_an_interrupted_source_begins_again() -> None:
    """A follower that had nothing yet takes over when the thread that advanced is torn away."""
    streams, stored = Streams(), Stored()
    torn, whole = Source([], error=KeyboardInterrupt()), Source(["a"])
    torn.before = lambda position: until(lambda: streams.readers(KEY) == 2)
    leader = in_thread(lambda: list(streams.follow(KEY, torn, stored.append)))
    until(lambda: torn.calls == 1)

    follower = in_thread(lambda: list(streams.follow(KEY, whole, stored.append)))

    assert follower.result(DEADLINE_SECONDS) == ["a"]
    assert isinstance(leader.exception(DEADLINE_SECONDS), KeyboardInterrupt)


def test_a_source_that_reads_an_equal_stream_opens_its_own() -> None:
    """A generator that calls itself with equal arguments does not wait for itself."""
    streams, stored = Streams(), Stored()
    depth: list[int] = []

    def source() -> Iterator[str]:
        depth.append(1)
        if len(depth) < 3:
            yield from streams.follow(KEY, source, stored.append)
        yield str(len(depth))

    assert list(streams.follow(KEY, source, stored.append)) == ["3", "3", "3"]


def test_what_storing_raises_reaches_the_readers() -> None:
    """A failure to store is seen, and leaves nobody waiting."""
    streams, source = Streams(), Source(["a"])

    def full(recording: Recording[Any]) -> None:
        raise RuntimeError("full")

    reader = streams.follow(KEY, source, full)

    assert next(reader) == "a"
    with pytest.raises(RuntimeError, match="full"):
        next(reader)
    assert len(streams) == 0


def test_an_iterator_that_is_no_generator_is_a_source() -> None:
    """It needs neither close nor a return value."""
    streams, stored = Streams(), Stored()

    assert list(streams.follow(KEY, lambda: iter("abc"), stored.append)) == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forgets_the_streams_of_its_parent() -> None:
    """A forked child opens its own source, even if the lock was held at that moment."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()
    reader = streams.follow(KEY, source, stored.append)
    next(reader)
    release = threading.Event()
    holder = hold(streams._lock, release)

    child = os.fork()
    if child == 0:
        chunks = list(streams.follow(KEY, Source(["c"]), stored.append))
        os._exit(0 if chunks == ["c"] else 1)
    release.set()

    assert exit_code(child) == 0
    holder.result(DEADLINE_SECONDS)
    assert list(reader) == ["b"]


async def collect(stream: Any) -> list[Any]:
    """Read an async stream to its end."""
    return [chunk async for chunk in stream]


@pytest.mark.parametrize("form", ["recording", "encoded list", "list"])
def test_stored_chunks_are_played_one_by_one(form: str) -> None:
    """A replay has the chunks of the stream, falsy ones too, and copies of its own."""
    streams, stored = Streams(), Stored()
    list(streams.follow(KEY, Source(CHUNKS), stored.append))

    def kept() -> Any:
        payload = stored[0].payload
        return {"recording": payload, "encoded list": encode(CHUNKS), "list": decode(payload)}[form]

    chunks, value = returned(replay(kept()))

    assert chunks == CHUNKS
    assert value == ("R1" if form == "recording" else None)
    assert run(collect(areplay(kept()))) == CHUNKS
    chunks[0]["text"] = "changed"
    assert list(replay(kept())) == CHUNKS
