"""Async generators shared by tasks: the mirror of the tests of streams in threads."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from semcache.errors import SemcacheError
from semcache.stream import Raw, Recording, Streams
from semcache.value import decode
from tests.flight.fakes import DEADLINE_SECONDS, in_thread, run, until, until_async, wait

KEY = b"key"
CHUNKS = [{"text": "a"}, "", 0, None, [], {"text": "b"}]


class Source:
    """An async generator function that counts calls, chunks and closes, and who ran it."""

    def __init__(self, chunks: list[Any], error: BaseException | None = None) -> None:
        self.chunks = chunks
        self.error = error
        self.calls = self.given = self.closed = 0
        self.tasks: set[Any] = set()
        self.before: Callable[[int], Awaitable[object]] | None = None

    async def __call__(self) -> AsyncIterator[Any]:
        """Give the chunks, then raise the error if there is one."""
        self.calls += 1
        try:
            for position, chunk in enumerate(self.chunks):
                self.tasks.add(asyncio.current_task())
                if self.before is not None:
                    await self.before(position)
                self.given += 1
                yield chunk
            if self.before is not None:
                await self.before(len(self.chunks))
            if self.error is not None:
                raise self.error
        finally:
            self.tasks.add(asyncio.current_task())
            await asyncio.sleep(0)
            self.closed += 1


class Stored(list[Recording[Any]]):
    """The recordings that were handed over."""

    async def keep(self, recording: Recording[Any]) -> None:
        """Keep one, after other tasks had their turn."""
        await asyncio.sleep(0)
        self.append(recording)


async def collect(stream: Any) -> list[Any]:
    """Read an async stream to its end."""
    return [chunk async for chunk in stream]


def test_a_lone_reader_gets_the_stream_as_it_is() -> None:
    """Chunks, falsy ones too, come through, and are stored once."""
    streams, source, stored = Streams(), Source(CHUNKS), Stored()

    assert run(collect(streams.afollow(KEY, source, stored.keep))) == CHUNKS

    assert [recording.chunks() for recording in stored] == [CHUNKS]
    assert decode(stored[0].payload) == CHUNKS
    assert (source.closed, len(source.tasks), len(streams)) == (1, 1, 0)


def test_twenty_tasks_read_one_source() -> None:
    """Each gets every chunk in order, as objects of its own; one task owns the source."""
    streams, source, stored = Streams(), Source(CHUNKS), Stored()

    async def all_there(position: int) -> None:
        await until_async(lambda: streams.readers(KEY) == 20)

    async def main() -> list[list[Any]]:
        source.before = all_there
        reads = (collect(streams.afollow(KEY, source, stored.keep)) for _ in range(20))
        return await asyncio.gather(*reads)

    results = run(main())

    assert results == [CHUNKS] * 20
    assert len({id(chunks[0]) for chunks in results}) == 20
    assert (source.calls, len(stored), len(source.tasks)) == (1, 1, 1)


def test_a_late_caller_follows_from_the_first_chunk() -> None:
    """It gets at once what is there; the source goes no further than the furthest reader."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()

    async def main() -> None:
        early = streams.afollow(KEY, source, stored.keep)
        assert [await anext(early), await anext(early)] == ["a", "b"]

        late = streams.afollow(KEY, source, stored.keep)

        assert [await anext(late), await anext(late)] == ["a", "b"]
        assert source.given == 2
        assert await anext(late) == "c"
        assert await collect(late) == []
        assert await collect(early) == ["c"]

    run(main())
    assert (source.calls, len(stored)) == (1, 1)


def test_the_recording_is_there_before_anyone_sees_the_end() -> None:
    """A caller that comes while it is being stored still follows the stream."""
    streams, source, stored = Streams(), Source(["a"]), Stored()

    async def main() -> None:
        storing = asyncio.Event()
        go = asyncio.Event()

        async def keep(recording: Recording[Any]) -> None:
            storing.set()
            await go.wait()
            stored.append(recording)

        reader = asyncio.create_task(collect(streams.afollow(KEY, source, keep)))
        await storing.wait()
        late = asyncio.create_task(collect(streams.afollow(KEY, source, keep)))
        await until_async(lambda: streams.readers(KEY) == 2)
        assert not reader.done()
        go.set()

        assert await reader == await late == ["a"]

    run(main())
    assert (source.calls, len(stored)) == (1, 1)


@pytest.mark.parametrize("reached", [0, 2])
def test_an_upstream_error_reaches_every_reader(reached: int) -> None:
    """After the chunks that preceded it, each gets that same error, and nothing is stored."""
    streams, stored = Streams(), Stored()
    source = Source(["a", "b"][:reached], error=ValueError("cut"))

    async def read() -> tuple[list[Any], Exception | None]:
        chunks: list[Any] = []
        try:
            async for chunk in streams.afollow(KEY, source, stored.keep):
                chunks.append(chunk)  # noqa: PERF401  # what came before the error is kept
        except ValueError as error:
            return chunks, error
        return chunks, None

    async def all_there(position: int) -> None:
        await until_async(lambda: streams.readers(KEY) == 3)

    async def main() -> Any:
        source.before = all_there
        return await asyncio.gather(read(), read(), read())

    assert run(main()) == [(["a", "b"][:reached], source.error)] * 3
    assert (source.calls, stored, len(streams)) == (1, [], 0)


def test_one_reader_that_leaves_does_not_stop_the_others() -> None:
    """The source goes on for who stays, and is stored when it has ended for them."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()

    async def main() -> None:
        leaver, stayer = (streams.afollow(KEY, source, stored.keep) for _ in "12")
        assert [await anext(leaver), await anext(stayer)] == ["a", "a"]

        await leaver.aclose()

        assert source.closed == 0
        assert await collect(stayer) == ["b", "c"]

    run(main())
    assert len(stored) == 1


async def close_all(readers: list[Any]) -> None:
    """Close every reader."""
    for reader in readers:
        await reader.aclose()


async def throw_into_all(readers: list[Any]) -> None:
    """Raise an error inside every reader."""
    for reader in readers:
        with pytest.raises(KeyError):
            await reader.athrow(KeyError("x"))


async def cancel_all(readers: list[Any]) -> None:
    """Cancel the task of every reader while it waits for its next chunk."""
    tasks = [asyncio.create_task(anext(reader)) for reader in readers]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)


async def drop_all(readers: list[Any]) -> None:
    """Forget every reader without closing it."""
    readers.clear()
    gc.collect()


@pytest.mark.parametrize("leave", [close_all, throw_into_all, cancel_all, drop_all])
def test_the_last_reader_that_leaves_closes_the_source(
    leave: Callable[[list[Any]], Awaitable[None]],
) -> None:
    """However they leave, the owner closes the source in its own task and nothing is stored."""
    streams, source, stored = Streams(), Source(["a", "b", "c"]), Stored()

    async def second_never_comes(position: int) -> None:
        if position == 1:
            await asyncio.Event().wait()

    async def main() -> None:
        source.before = second_never_comes
        readers = [streams.afollow(KEY, source, stored.keep) for _ in "12"]
        for reader in readers:
            assert await anext(reader) == "a"
        del reader

        await leave(readers)

        await until_async(lambda: source.closed == 1)
        assert (stored, len(streams), len(source.tasks)) == ([], 0, 1)
        source.before = None
        assert await collect(streams.afollow(KEY, source, stored.keep)) == ["a", "b", "c"]

    run(main())


def test_a_consumer_that_breaks_off_stores_nothing() -> None:
    """A source that could have run ahead has not, and by the end of the block it is closed."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()

    async def main() -> None:
        async with aclosing(streams.afollow(KEY, source, stored.keep)) as stream:
            async for chunk in stream:
                assert chunk == "a"
                break
        assert (source.given, source.closed) == (1, 1)

    run(main())
    assert stored == []


def test_a_program_that_ends_in_the_middle_closes_the_source() -> None:
    """A reader left open when its event loop ends leaves nothing behind for the next."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()
    kept: list[Any] = []

    async def main() -> None:
        reader = streams.afollow(KEY, source, stored.keep)
        kept.append(reader)
        await anext(reader)

    run(main())

    assert (source.closed, stored, len(streams)) == (1, [], 0)
    assert run(collect(streams.afollow(KEY, source, stored.keep))) == ["a", "b"]


def test_what_the_source_raises_while_it_is_closed_reaches_the_one_who_closed() -> None:
    """A failing clean-up is not hidden."""
    streams, stored = Streams(), Stored()

    async def source() -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            raise OSError("cannot close")

    async def main() -> None:
        reader = streams.afollow(KEY, source, stored.keep)
        await anext(reader)
        with pytest.raises(OSError, match="cannot close"):
            await reader.aclose()

    run(main())


def test_chunks_without_a_form_are_passed_through() -> None:
    """Followers that had nothing yet make their own call; nothing is stored."""
    lock = threading.Lock()
    streams, source, stored = Streams(), Source([lock, "b"]), Stored()

    async def both_there(position: int) -> None:
        if source.calls == 1 and position == 0:
            await until_async(lambda: streams.readers(KEY) == 2)

    async def main() -> Any:
        source.before = both_there
        reads = (collect(streams.afollow(KEY, source, stored.keep)) for _ in "12")
        return await asyncio.gather(*reads)

    assert run(main()) == [[lock, "b"]] * 2
    assert (source.calls, [type(item) for item in stored]) == (2, [Raw, Raw])


def test_readers_half_way_get_copies_of_a_chunk_without_a_form() -> None:
    """Nobody is left with half a stream, and nobody joins it any more."""

    class Odd:
        pass

    odd = Odd()
    streams, source, stored = Streams(), Source(["a", odd, "c"]), Stored()

    async def main() -> None:
        leader, follower = (streams.afollow(KEY, source, stored.keep) for _ in "12")
        assert [await anext(leader), await anext(follower)] == ["a", "a"]

        mine, yours = await anext(leader), await anext(follower)

        assert mine is odd
        assert type(yours) is Odd
        assert yours is not odd
        assert len(streams) == 0
        assert [await collect(leader), await collect(follower)] == [["c"], ["c"]]

    run(main())
    assert [type(item) for item in stored] == [Raw]


def test_a_source_that_is_cancelled_from_within_ends_for_its_leader() -> None:
    """Who has some chunks gets an error, who has none begins again."""
    streams, stored = Streams(), Stored()
    source = Source(["a"], error=asyncio.CancelledError())

    async def main() -> None:
        leader, half_way, fresh = (streams.afollow(KEY, source, stored.keep) for _ in "123")
        assert [await anext(leader), await anext(half_way)] == ["a", "a"]

        with pytest.raises(asyncio.CancelledError):
            await anext(leader)
        source.error = None

        with pytest.raises(SemcacheError, match="after 1 chunks"):
            await anext(half_way)
        assert await collect(fresh) == ["a"]

    run(main())
    assert (source.calls, len(stored)) == (2, 1)


def test_a_reader_in_another_loop_makes_its_own_call() -> None:
    """Two event loops read two sources at once, and both are stored."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()
    both = threading.Event()

    async def read() -> list[Any]:
        chunks = []
        async for chunk in streams.afollow(KEY, source, stored.keep):
            chunks.append(chunk)
            if source.calls == 2:
                both.set()
            await asyncio.to_thread(wait, both)
        return chunks

    first = in_thread(lambda: run(read()))
    until(lambda: source.given == 1)
    second = in_thread(lambda: run(read()))

    assert first.result(DEADLINE_SECONDS) == second.result(DEADLINE_SECONDS) == ["a", "b"]
    assert (source.calls, len(stored)) == (2, 2)


def test_a_stream_of_a_stopped_loop_is_not_joined() -> None:
    """A source whose loop no longer runs is left alone; a new one is opened."""
    streams, source, stored = Streams(), Source(["a", "b"]), Stored()
    loop = asyncio.new_event_loop()
    stuck = streams.afollow(KEY, source, stored.keep)
    assert loop.run_until_complete(anext(stuck)) == "a"

    assert run(collect(streams.afollow(KEY, source, stored.keep))) == ["a", "b"]

    loop.run_until_complete(stuck.aclose())
    loop.close()
    assert source.closed == 2


def test_the_source_sees_its_leaders_context() -> None:
    """Context variables that the first reader set are there in the source."""
    streams, stored = Streams(), Stored()
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def source() -> AsyncIterator[str]:
        yield name.get()

    async def main() -> list[str]:
        name.set("leader")
        return await collect(streams.afollow(KEY, source, stored.keep))

    assert run(main()) == ["leader"]


def test_a_source_that_reads_an_equal_stream_opens_its_own() -> None:
    """An async generator that calls itself with equal arguments does not wait for itself."""
    streams, stored = Streams(), Stored()
    depth: list[int] = []

    async def source() -> AsyncIterator[str]:
        depth.append(1)
        if len(depth) < 3:
            async with aclosing(streams.afollow(KEY, source, stored.keep)) as inner:
                async for chunk in inner:
                    yield chunk
        yield str(len(depth))

    assert run(collect(streams.afollow(KEY, source, stored.keep))) == ["3", "3", "3"]


def test_what_storing_raises_reaches_the_readers() -> None:
    """A failure to store is seen, and leaves nobody waiting."""
    streams, source = Streams(), Source(["a"])

    async def full(recording: Recording[Any]) -> None:
        raise RuntimeError("full")

    async def main() -> None:
        reader = streams.afollow(KEY, source, full)
        assert await anext(reader) == "a"
        with pytest.raises(RuntimeError, match="full"):
            await anext(reader)

    run(main())
    assert len(streams) == 0
