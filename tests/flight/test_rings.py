"""Calls that make each other: a ring of them never waits for itself."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from semcache.flight import Flights
from semcache.flight_waits import _waits

OTHER = {b"one": b"other", b"other": b"one"}


def test_two_threads_whose_calls_make_each_other_both_end() -> None:
    """The one that would close the ring makes its own call."""
    flights, both = Flights(), threading.Barrier(2)

    def visit(key: bytes, depth: int) -> bytes:
        def upstream() -> bytes:
            if depth == 2:
                both.wait(10)
            return key if depth == 0 else visit(OTHER[key], depth - 1)

        return flights.call(key, upstream, lambda value: True).value

    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(visit, key, 2) for key in OTHER]
        answers = [end.result(10) for end in ends]

    assert set(answers) <= set(OTHER)
    assert (len(flights), _waits.of) == (0, {})


def test_two_tasks_whose_calls_make_each_other_both_end() -> None:
    """The same for coroutines."""
    flights = Flights()

    async def kept(value: bytes) -> bool:
        return True

    async def visit(key: bytes, depth: int) -> bytes:
        async def upstream() -> bytes:
            await asyncio.sleep(0)
            return key if depth == 0 else await visit(OTHER[key], depth - 1)

        return (await flights.acall(key, upstream, kept)).value

    async def main() -> list[bytes]:
        return await asyncio.wait_for(asyncio.gather(*(visit(key, 2) for key in OTHER)), 10)

    assert set(asyncio.run(main())) <= set(OTHER)
    assert (len(flights), _waits.of) == (0, {})
