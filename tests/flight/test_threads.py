"""One call for many threads: who makes it, who gets what, and what is left behind."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from semcache.flight import Flights, Landed
from tests.flight.fakes import (
    DEADLINE_SECONDS,
    Upstream,
    exit_code,
    hold,
    in_thread,
    run,
    until,
    wait,
)

KEY = b"key"


def keep(value: object) -> bool:
    """Let everybody have everything."""
    return True


def wait_for_followers(flights: Flights, count: int) -> Callable[[], None]:
    """Return a call's wait: it goes on once so many followers have joined it."""
    return lambda: until(lambda: flights.waiting(KEY) >= count)


def after(event: threading.Event, value: str) -> str:
    """Return the value once the event has come."""
    wait(event)
    return value


def test_twenty_threads_make_one_call() -> None:
    """All get equal answers, each its own object, and only one led."""
    flights = Flights()
    upstream = Upstream(wait_for_followers(flights, 19))

    futures = [in_thread(lambda: flights.call(KEY, upstream, keep)) for _ in range(20)]
    landed = [future.result(DEADLINE_SECONDS) for future in futures]

    assert upstream.calls == 1
    assert [one.value for one in landed] == [{"text": "R1"}] * 20
    assert len({id(one.value) for one in landed}) == 20
    assert sum(one.led for one in landed) == 1
    assert len(flights) == 0


def test_twenty_threads_get_one_failure() -> None:
    """Every waiter gets the error itself, once, and the next call is made anew."""
    flights = Flights()
    upstream = Upstream(wait_for_followers(flights, 19), error=ValueError("no"))
    kept: list[Any] = []

    def keep_in_list(value: object) -> bool:
        kept.append(value)
        return True

    def call() -> Landed[Any]:
        return flights.call(KEY, upstream, keep_in_list)

    futures = [in_thread(call) for _ in range(20)]
    errors = [future.exception(DEADLINE_SECONDS) for future in futures]

    assert upstream.calls == 1
    assert all(error is upstream.error for error in errors)
    assert kept == []
    assert len(traceback.extract_tb(upstream.error.__traceback__)) < 10  # type: ignore[union-attr]
    upstream.error, upstream.go = None, lambda: None
    assert call().value == {"text": "R2"}


def test_calls_of_different_keys_do_not_wait() -> None:
    """A call in flight holds up no other."""
    flights, release = Flights(), threading.Event()
    slow = in_thread(lambda: flights.call(b"slow", lambda: after(release, "b"), keep))
    until(lambda: len(flights) == 1)

    assert flights.call(b"quick", lambda: "a", keep).value == "a"

    release.set()
    slow.result(DEADLINE_SECONDS)


@pytest.mark.parametrize("value", [threading.Lock(), "private"], ids=["no form", "not to share"])
def test_a_value_that_cannot_be_passed_on_is_called_for_again(value: object) -> None:
    """The leader keeps its own; each follower makes its own call."""
    flights = Flights()
    upstream = Upstream(wait_for_followers(flights, 3))

    def call() -> Landed[Any]:
        def answer() -> object:
            upstream.go = upstream.go if upstream.calls == 0 else lambda: None
            upstream()
            return value

        return flights.call(KEY, answer, lambda value: value != "private")

    landed = [f.result(DEADLINE_SECONDS) for f in [in_thread(call) for _ in range(4)]]

    assert upstream.calls == 4
    assert all(one.led and one.value is value for one in landed)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
def test_a_leader_torn_away_hands_over(error: BaseException) -> None:
    """The leader alone sees what tore it away; one follower makes the call for the others."""
    flights = Flights()
    upstream = Upstream(wait_for_followers(flights, 4), error=error)

    def later() -> dict[str, str]:
        upstream.error, upstream.go = None, wait_for_followers(flights, 3)
        return upstream()

    leader = in_thread(lambda: flights.call(KEY, upstream, keep))
    until(lambda: len(flights) == 1)
    followers = [in_thread(lambda: flights.call(KEY, later, keep)) for _ in range(4)]

    assert leader.exception(DEADLINE_SECONDS) is error
    landed = [future.result(DEADLINE_SECONDS) for future in followers]
    assert [one.value for one in landed] == [{"text": "R2"}] * 4
    assert sum(one.led for one in landed) == 1
    assert upstream.calls == 2
    assert len(flights) == 0


def test_a_leader_torn_away_with_nobody_waiting_leaves_nothing() -> None:
    """The next call is made as if nothing had been."""
    flights = Flights()

    with pytest.raises(KeyboardInterrupt):
        flights.call(KEY, Upstream(error=KeyboardInterrupt()), keep)

    assert len(flights) == 0
    assert flights.call(KEY, Upstream(), keep).value == {"text": "R1"}


def test_an_interrupted_follower_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that is interrupted while it waits is forgotten; the call goes on."""
    from semcache.flight_seats import ThreadSeat

    flights, release = Flights(), threading.Event()
    leader = in_thread(lambda: flights.call(KEY, lambda: after(release, "a"), keep))
    until(lambda: len(flights) == 1)

    def interrupted(self: ThreadSeat) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ThreadSeat, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            flights.call(KEY, lambda: "b", keep)

    assert flights.waiting(KEY) == 0
    release.set()
    assert leader.result(DEADLINE_SECONDS).value == "a"


def test_an_heir_interrupted_before_it_leads_hands_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next follower in line makes the call."""
    from semcache.flight_seats import ThreadSeat

    flights = Flights()
    real, order = ThreadSeat.wait, threading.Lock()
    woken: list[str] = []

    def first_interrupted(self: ThreadSeat) -> None:
        real(self)
        with order:
            woken.append("x")
            if len(woken) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(ThreadSeat, "wait", first_interrupted)
    torn = Upstream(wait_for_followers(flights, 2), error=KeyboardInterrupt())
    leader = in_thread(lambda: flights.call(KEY, torn, keep))
    until(lambda: len(flights) == 1)
    followers = [in_thread(lambda: flights.call(KEY, lambda: "b", keep)) for _ in range(2)]

    errors = [future.exception(DEADLINE_SECONDS) for future in followers]

    assert isinstance(leader.exception(DEADLINE_SECONDS), KeyboardInterrupt)
    assert sorted(type(error).__name__ for error in errors) == ["KeyboardInterrupt", "NoneType"]
    assert len(flights) == 0


def test_a_call_that_makes_an_equal_call_runs_it() -> None:
    """A function that calls itself with equal arguments does not wait for itself."""
    flights = Flights()
    depth: list[int] = []

    def upstream() -> str:
        depth.append(1)
        return "leaf" if len(depth) == 3 else flights.call(KEY, upstream, keep).value + "!"

    assert flights.call(KEY, upstream, keep).value == "leaf!!"


def test_an_equal_call_in_a_thread_with_the_context_runs() -> None:
    """A helper thread that has a copy of the context counts as part of the call."""
    flights = Flights()

    def upstream() -> Any:
        context = contextvars.copy_context()
        inner = in_thread(lambda: context.run(flights.call, KEY, lambda: "inner", keep))
        return inner.result(DEADLINE_SECONDS).value

    assert flights.call(KEY, upstream, keep).value == "inner"


def test_a_call_inside_a_running_loop_runs() -> None:
    """A plain cached function called by a coroutine blocks as the function itself would."""
    flights = Flights()
    upstream = Upstream()

    async def main() -> Any:
        return flights.call(KEY, upstream, keep).value

    assert run(main()) == {"text": "R1"}


def test_a_plain_call_never_waits_for_a_task() -> None:
    """Plain and coroutine calls of one key are two flights: no loop is blocked by its own task."""
    flights = Flights()
    upstream = Upstream()

    async def outer() -> Any:
        return flights.call(KEY, upstream, keep).value

    async def akeep(value: object) -> bool:
        return True

    assert run(flights.acall(KEY, outer, akeep)).value == {"text": "R1"}


def test_no_lock_is_held_while_the_function_runs() -> None:
    """Another key is led, followed and landed from inside a call."""
    flights = Flights()

    def upstream() -> Any:
        return in_thread(lambda: flights.call(b"other", lambda: "b", keep)).result(DEADLINE_SECONDS)

    assert flights.call(KEY, upstream, lambda value: False).value == Landed("b", led=True)


def test_what_keep_raises_reaches_everybody() -> None:
    """A failure to keep a value never leaves a waiter behind."""
    flights = Flights()
    upstream = Upstream(wait_for_followers(flights, 2))

    def broken(value: object) -> bool:
        raise RuntimeError("full")

    futures = [in_thread(lambda: flights.call(KEY, upstream, broken)) for _ in range(3)]

    assert {str(future.exception(DEADLINE_SECONDS)) for future in futures} == {"full"}
    assert len(flights) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forgets_the_calls_of_its_parent() -> None:
    """A forked child makes the call itself, even if it was forked in the middle of everything."""
    flights, release = Flights(), threading.Event()
    leader = in_thread(lambda: flights.call(KEY, lambda: after(release, "parent"), keep))
    until(lambda: len(flights) == 1)
    holder = hold(flights._threads._lock, release)

    child = os.fork()
    if child == 0:
        value = flights.call(KEY, lambda: "child", keep).value
        os._exit(0 if value == "child" and len(flights) == 0 else 1)

    assert exit_code(child) == 0
    release.set()
    holder.result(DEADLINE_SECONDS)
    assert leader.result(DEADLINE_SECONDS).value == "parent"
