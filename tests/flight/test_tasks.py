"""One call for many tasks, of one event loop or several: the mirror of the tests of threads."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import types
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from semcache.errors import SemcacheError
from semcache.flight import Flights, Landed
from tests.flight.fakes import (
    DEADLINE_SECONDS,
    AsyncUpstream,
    in_thread,
    run,
    until,
    until_async,
    wait,
)

KEY = b"key"


async def keep(value: object) -> bool:
    """Let everybody have everything."""
    return True


async def at_once() -> None:
    """Wait for nothing."""


def wait_for(flights: Flights, count: int) -> Callable[[], Awaitable[None]]:
    """Return a call's wait: it goes on once so many callers wait, the leader among them."""
    return lambda: until_async(lambda: flights.waiting(KEY) >= count)


async def joined(flights: Flights, upstream: AsyncUpstream, count: int) -> list[Any]:
    """Start so many equal calls and return their tasks once all of them wait."""
    tasks = [asyncio.create_task(flights.acall(KEY, upstream, keep)) for _ in range(count)]
    await until_async(lambda: flights.waiting(KEY) == count and upstream.calls > 0)
    return tasks


def test_twenty_tasks_make_one_call() -> None:
    """All get equal answers, each its own object, and only one led."""
    flights = Flights()
    upstream = AsyncUpstream(wait_for(flights, 20))

    async def main() -> list[Landed[Any]]:
        return await asyncio.gather(*(flights.acall(KEY, upstream, keep) for _ in range(20)))

    landed = run(main())

    assert upstream.calls == 1
    assert [one.value for one in landed] == [{"text": "R1"}] * 20
    assert len({id(one.value) for one in landed}) == 20
    assert sum(one.led for one in landed) == 1
    assert len(flights) == 0


def test_twenty_tasks_get_one_failure() -> None:
    """Every waiter gets the error itself, and the next call is made anew."""
    flights = Flights()
    upstream = AsyncUpstream(wait_for(flights, 20), error=ValueError("no"))

    async def main() -> list[Any]:
        calls = (flights.acall(KEY, upstream, keep) for _ in range(20))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert all(error is upstream.error for error in run(main()))
    assert upstream.calls == 1
    assert len(flights) == 0
    again = AsyncUpstream(at_once)
    assert run(flights.acall(KEY, again, keep)).value == {"text": "R1"}


@pytest.mark.parametrize("value", [threading.Lock(), "private"], ids=["no form", "not to share"])
def test_a_value_that_cannot_be_passed_on_is_called_for_again(value: object) -> None:
    """The leader keeps its own; each follower makes its own call."""
    flights = Flights()
    calls: list[int] = []

    async def upstream() -> object:
        calls.append(1)
        if len(calls) == 1:
            await until_async(lambda: flights.waiting(KEY) == 4)
        return value

    async def unless_private(value: object) -> bool:
        return value != "private"

    async def main() -> list[Landed[object]]:
        return await asyncio.gather(*(flights.acall(KEY, upstream, unless_private) for _ in "1234"))

    assert all(one.led and one.value is value for one in run(main()))
    assert len(calls) == 4


@pytest.mark.parametrize("leaving", [[0], [0, 1], [1, 2]])
def test_cancelled_callers_leave_the_others_alone(leaving: list[int]) -> None:
    """Whoever is cancelled, the leader too, the call goes on and the rest get its answer."""
    flights = Flights()

    async def main() -> None:
        go = asyncio.Event()
        upstream = AsyncUpstream(go.wait)
        tasks = await joined(flights, upstream, 4)

        for index in leaving:
            tasks[index].cancel()
        await asyncio.wait([tasks[index] for index in leaving])
        go.set()
        staying = [task for index, task in enumerate(tasks) if index not in leaving]

        assert [(await task).value for task in staying] == [{"text": "R1"}] * len(staying)
        assert all(tasks[index].cancelled() for index in leaving)
        assert (upstream.calls, upstream.cancelled) == (1, 0)

    run(main())


def test_the_call_is_cancelled_with_its_last_waiter() -> None:
    """When nobody waits any more the call is stopped, and done with its cleaning up by then."""
    flights = Flights()

    async def main() -> None:
        cleaned: list[str] = []

        async def go() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                cleaned.append("up")

        upstream = AsyncUpstream(go)
        tasks = await joined(flights, upstream, 3)

        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

        assert cleaned == ["up"]
        assert upstream.cancelled == 1
        assert len(flights) == 0
        assert (await flights.acall(KEY, AsyncUpstream(at_once), keep)).led

    run(main())


def test_nobody_joins_a_call_that_is_being_cancelled() -> None:
    """A caller that comes while a deserted call still cleans up makes its own."""
    flights = Flights()

    async def main() -> None:
        cleaning, cleaned = asyncio.Event(), asyncio.Event()

        async def go() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cleaning.set()
                await cleaned.wait()

        (deserter,) = await joined(flights, AsyncUpstream(go), 1)
        deserter.cancel()
        await cleaning.wait()

        landed = await flights.acall(KEY, AsyncUpstream(at_once), keep)

        assert landed == Landed({"text": "R1"}, led=True)
        cleaned.set()
        await asyncio.wait([deserter])

    run(main())


def test_a_deadline_around_a_call_ends_it() -> None:
    """A timeout reaches a lone caller's call and turns into TimeoutError as without a cache."""
    flights = Flights()
    upstream = AsyncUpstream(lambda: asyncio.Event().wait())

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await flights.acall(KEY, upstream, keep)
        assert len(flights) == 0
        assert len(asyncio.all_tasks()) == 1

    run(main())


def test_a_call_that_cancels_itself_ends_for_its_leader_and_is_made_anew() -> None:
    """The leader sees the cancellation; a follower makes the call."""
    flights = Flights()

    async def main() -> None:
        go = asyncio.Event()
        upstream = AsyncUpstream(go.wait, error=asyncio.CancelledError())
        tasks = await joined(flights, upstream, 3)
        go.set()

        await until_async(tasks[0].done)
        upstream.error = None

        assert tasks[0].cancelled()
        assert [(await task).value["text"] for task in tasks[1:]] == ["R2", "R2"]
        assert upstream.calls == 2

    run(main())


def test_an_heir_cancelled_before_it_leads_hands_on() -> None:
    """A follower that is cancelled just as it is named passes the call to the next."""
    flights = Flights()

    async def main() -> None:
        go = asyncio.Event()
        upstream = AsyncUpstream(go.wait, error=asyncio.CancelledError())
        tasks = await joined(flights, upstream, 4)
        go.set()
        await until_async(lambda: flights.waiting(KEY) == 3)

        tasks[1].cancel()
        upstream.error = None

        assert [(await task).value["text"] for task in tasks[2:]] == ["R2", "R2"]
        assert tasks[0].cancelled()
        assert tasks[1].cancelled()

    run(main())


def test_two_runs_one_after_another() -> None:
    """Nothing of the first event loop is needed or waited for in the second."""
    flights = Flights()
    upstream = AsyncUpstream(at_once)

    texts = [run(flights.acall(KEY, upstream, keep)).value["text"] for _ in range(3)]

    assert texts == ["R1", "R2", "R3"]


def test_callers_in_two_loops_share_a_call() -> None:
    """A task of another event loop waits for the call and gets its own copy."""
    flights = Flights()
    upstream = AsyncUpstream(wait_for(flights, 4))

    async def pair() -> list[Landed[Any]]:
        return await asyncio.gather(*(flights.acall(KEY, upstream, keep) for _ in "12"))

    futures = [in_thread(lambda: run(pair())) for _ in "12"]
    landed = [one for future in futures for one in future.result(DEADLINE_SECONDS)]

    assert upstream.calls == 1
    assert [one.value for one in landed] == [{"text": "R1"}] * 4
    assert len({id(one.value) for one in landed}) == 4
    assert sum(one.led for one in landed) == 1


def test_a_loop_that_ends_hands_its_call_to_another() -> None:
    """When the loop that makes the call is shut down, a waiter elsewhere makes it anew."""
    flights, stop = Flights(), threading.Event()
    first = AsyncUpstream(lambda: asyncio.Event().wait())
    second = AsyncUpstream(at_once)

    async def leaves_early() -> None:
        task = asyncio.create_task(flights.acall(KEY, first, keep))
        await asyncio.to_thread(wait, stop)
        del task

    leader = in_thread(lambda: run(leaves_early()))
    until(lambda: first.calls == 1)
    follower = in_thread(lambda: run(flights.acall(KEY, second, keep)))
    until(lambda: flights.waiting(KEY) == 2)
    stop.set()

    assert follower.result(DEADLINE_SECONDS) == Landed({"text": "R1"}, led=True)
    leader.result(DEADLINE_SECONDS)
    assert (first.calls, first.cancelled, second.calls) == (1, 1, 1)
    assert len(flights) == 0


def test_the_last_waiter_of_another_loop_cancels_the_call() -> None:
    """A waiter elsewhere keeps the call alive after its leader left, and stops it by leaving."""
    flights = Flights()
    gone, left = threading.Event(), threading.Event()
    upstream = AsyncUpstream(lambda: asyncio.Event().wait())

    async def leads() -> None:
        task = asyncio.create_task(flights.acall(KEY, upstream, keep))
        await until_async(lambda: flights.waiting(KEY) == 2)
        task.cancel()
        await asyncio.wait([task])
        gone.set()
        await asyncio.to_thread(wait, left)
        await until_async(lambda: upstream.cancelled == 1)

    async def follows() -> None:
        await until_async(lambda: upstream.calls == 1)
        task = asyncio.create_task(flights.acall(KEY, upstream, keep))
        await asyncio.to_thread(wait, gone)
        assert upstream.cancelled == 0
        task.cancel()
        await asyncio.wait([task])
        left.set()

    futures = [in_thread(lambda: run(leads())), in_thread(lambda: run(follows()))]

    for future in futures:
        future.result(DEADLINE_SECONDS)
    assert len(flights) == 0


def test_a_stopped_loop_keeps_nobody_waiting() -> None:
    """A call whose loop no longer runs is not joined; a new one is made in its place."""
    flights = Flights()
    loop = asyncio.new_event_loop()
    upstream = AsyncUpstream(lambda: asyncio.Event().wait())
    stuck = loop.create_task(flights.acall(KEY, upstream, keep))
    loop.run_until_complete(until_async(lambda: upstream.calls == 1))

    value = run(flights.acall(KEY, AsyncUpstream(at_once), keep)).value

    assert value == {"text": "R1"}
    stuck.cancel()
    loop.run_until_complete(asyncio.wait([stuck]))
    loop.close()


def test_a_call_that_awaits_an_equal_call_runs_it() -> None:
    """A coroutine that calls itself with equal arguments, in a task or not, does not hang."""
    flights = Flights()
    depth: list[int] = []

    async def upstream() -> str:
        depth.append(1)
        if len(depth) == 3:
            return "leaf"
        inner = asyncio.create_task(flights.acall(KEY, upstream, keep))
        return (await inner).value + "!"

    assert run(flights.acall(KEY, upstream, keep)).value == "leaf!!"


def test_the_call_sees_its_leaders_context() -> None:
    """Context variables that the leader set are there in the call."""
    flights = Flights()
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name")

    async def upstream() -> str:
        return name.get()

    async def main() -> str:
        name.set("leader")
        return (await flights.acall(KEY, upstream, keep)).value

    assert run(main()) == "leader"


def test_ctrl_c_in_a_call_is_not_kept(capfd: pytest.CaptureFixture[str]) -> None:
    """An interrupt reaches the program once, and the next run is as new."""
    flights = Flights()
    upstream = AsyncUpstream(at_once, error=KeyboardInterrupt())

    with pytest.raises(KeyboardInterrupt):
        run(flights.acall(KEY, upstream, keep))

    assert len(flights) == 0
    assert run(flights.acall(KEY, AsyncUpstream(at_once), keep)).led
    assert "never retrieved" not in capfd.readouterr().err


def test_what_keep_raises_reaches_everybody() -> None:
    """A failure to keep a value never leaves a waiter behind."""
    flights = Flights()
    upstream = AsyncUpstream(wait_for(flights, 3))

    async def broken(value: object) -> bool:
        raise RuntimeError("full")

    async def main() -> list[Any]:
        calls = (flights.acall(KEY, upstream, broken) for _ in "123")
        return await asyncio.gather(*calls, return_exceptions=True)

    assert [str(error) for error in run(main())] == ["full"] * 3
    assert len(flights) == 0


def drive(coroutine: Any) -> None:
    """Run a coroutine without an event loop, as a foreign one would."""
    try:
        coroutine.send(None)
    finally:
        coroutine.close()


def test_trio_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under trio the error says so; without any loop it says that."""
    flights = Flights()
    trio = types.ModuleType("trio")
    trio.lowlevel = types.SimpleNamespace(current_trio_token=object)  # type: ignore[attr-defined]

    with pytest.raises(SemcacheError, match="no asyncio event loop"):
        drive(flights.acall(KEY, AsyncUpstream(at_once), keep))
    monkeypatch.setitem(sys.modules, "trio", trio)
    with pytest.raises(SemcacheError, match="trio"):
        drive(flights.acall(KEY, AsyncUpstream(at_once), keep))
