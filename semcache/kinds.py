"""How each kind of function is run behind a cache: plain, coroutine, generator, async generator.

The four differ only in the loop around one miss. None of them decides anything.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from typing import Any, ParamSpec, TypeVar

from semcache.aside import run_aside
from semcache.cached_function import CachedFunction, Call
from semcache.carried import runs_as
from semcache.decision import Decision, Hit, Miss
from semcache.flight import running_loop
from semcache.stream import Raw, Recording, areplay, replay, withheld
from semcache.walk import apart

__all__ = ["kind_of"]

P = ParamSpec("P")
R = TypeVar("R")


class PlainFunction(CachedFunction[P, R]):
    """A function that returns its answer."""

    def _start(self, call: Call) -> Any:
        return self._answer(call, self._decide(call))

    def _start_deciding(self, call: Call) -> tuple[Any, Decision]:
        decision = self._decide(call)
        value = self._answer(call, decision)
        return value, apart(decision) if isinstance(decision, Hit) else decision

    def _answer(self, call: Call, decision: Decision) -> Any:
        if isinstance(decision, Hit):
            return decision.value
        if not isinstance(decision, Miss):
            return self._function(*call.args, **call.kwargs)
        if call.options.refresh:
            value = self._lead(call, decision)
            self._keep(call, decision, value)
            return value
        try:
            return self._flights.call(
                call.flight_key,
                upstream=lambda: self._lead(call, decision),
                keep=lambda value: self._keep(call, decision, value),
            ).value
        finally:
            self._count_if_joined(call)

    def _lead(self, call: Call, miss: Miss) -> Any:
        hit = self._answered(call, miss)
        if hit is not None:
            return hit.value
        try:
            self._read_again(call)
            return self._function(*call.args, **call.kwargs)
        except BaseException:
            self.cache.release(miss)
            raise


class CoroutineFunction(CachedFunction[P, R]):
    """A coroutine function."""

    async def _start(self, call: Call) -> Any:
        running_loop()
        return await self._answer(call, await run_aside(self._decide, call))

    async def _start_deciding(self, call: Call) -> tuple[Any, Decision]:
        running_loop()
        decision = await run_aside(self._decide, call)
        value = await self._answer(call, decision)
        return value, apart(decision) if isinstance(decision, Hit) else decision

    async def _answer(self, call: Call, decision: Decision) -> Any:
        if isinstance(decision, Hit):
            return decision.value
        if not isinstance(decision, Miss):
            return await self._function(*call.args, **call.kwargs)
        if call.options.refresh:
            value = await self._lead(call, decision)
            await run_aside(self._keep, call, decision, value)
            return value
        try:
            landed = await self._flights.acall(
                call.flight_key,
                upstream=lambda: self._lead(call, decision),
                keep=lambda value: run_aside(self._keep, call, decision, value),
            )
            return landed.value
        finally:
            self._count_if_joined(call)

    async def _lead(self, call: Call, miss: Miss) -> Any:
        hit = await run_aside(self._answered, call, miss)
        if hit is not None:
            return hit.value
        try:
            self._read_again(call)
            return await self._function(*call.args, **call.kwargs)
        except BaseException:
            self.cache.release(miss)
            raise


class StreamFunction(CachedFunction[P, R]):
    """A generator function. The look-up happens when the first chunk is asked for."""

    is_stream = True

    def _start(self, call: Call) -> Generator[Any, None, Any]:
        return (yield from self._chunks(call, self._decide(call)))

    def _start_deciding(self, call: Call) -> tuple[Any, Decision]:
        decision = self._decide(call)
        return self._chunks(call, decision), decision

    def _chunks(self, call: Call, decision: Decision) -> Generator[Any, None, Any]:
        if isinstance(decision, Hit):
            return (yield from replay(payload_of(decision)))
        if not isinstance(decision, Miss):
            return (yield from self._function(*call.args, **call.kwargs))
        return (yield from self._shared(call, decision))

    def _shared(self, call: Call, miss: Miss) -> Generator[Any, None, Any]:
        streams = self._streams_for(call)

        def keep(recording: Recording[Any] | Raw) -> None:
            self._keep_stream(call, miss, recording)

        try:
            return (
                yield from streams.follow(call.flight_key, lambda: self._source(call, miss), keep)
            )
        finally:
            self._count_if_joined(call)

    def _source(self, call: Call, miss: Miss) -> Generator[Any, None, Any]:
        hit = self._answered(call, miss)
        if hit is not None:
            return (yield from replay(payload_of(hit)))
        try:
            self._read_again(call)
            return (yield from self._timed(call, self._function(*call.args, **call.kwargs)))
        except BaseException as error:
            self.cache.release(miss, unread=isinstance(error, GeneratorExit))
            raise

    def _timed(self, call: Call, source: Generator[Any, None, Any]) -> Generator[Any, None, Any]:
        """Run a source; what its reader takes between two chunks is none of the call's time."""
        with closing(source):
            while True:
                try:
                    chunk = next(source)
                except StopIteration as stop:
                    return stop.value
                paused = self.cache.now()
                yield withheld(chunk) if call.changed else chunk
                call.leave_out(self.cache.now() - paused)


class AsyncStreamFunction(CachedFunction[P, R]):
    """An async generator function."""

    is_stream = True

    async def _start(self, call: Call) -> AsyncGenerator[Any, None]:
        running_loop()
        decision = await run_aside(self._decide, call)
        async with aclosing(self._chunks(call, decision)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _start_deciding(self, call: Call) -> tuple[Any, Decision]:
        running_loop()
        decision = await run_aside(self._decide, call)
        return self._chunks(call, decision), decision

    async def _chunks(self, call: Call, decision: Decision) -> AsyncGenerator[Any, None]:
        if isinstance(decision, Hit):
            source: AsyncGenerator[Any, None] = areplay(payload_of(decision))
        elif isinstance(decision, Miss):
            source = self._shared(call, decision)
        else:
            source = self._function(*call.args, **call.kwargs)
        try:
            async with aclosing(source) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            if isinstance(decision, Miss):
                self._count_if_joined(call)

    def _shared(self, call: Call, miss: Miss) -> AsyncGenerator[Any, None]:
        streams = self._streams_for(call)

        async def keep(recording: Recording[Any] | Raw) -> None:
            await run_aside(self._keep_stream, call, miss, recording)

        return streams.afollow(call.flight_key, lambda: self._source(call, miss), keep)

    async def _source(self, call: Call, miss: Miss) -> AsyncGenerator[Any, None]:
        hit = await run_aside(self._answered, call, miss)
        if hit is not None:
            source: AsyncGenerator[Any, None] = areplay(payload_of(hit))
        else:
            self._read_again(call)
            source = self._function(*call.args, **call.kwargs)
        try:
            async with aclosing(source) as chunks:
                async for chunk in chunks:
                    paused = self.cache.now()
                    yield withheld(chunk) if call.changed else chunk
                    call.leave_out(self.cache.now() - paused)
        except BaseException as error:
            unread = isinstance(error, GeneratorExit | asyncio.CancelledError)
            self.cache.release(miss, unread=unread)
            raise


def payload_of(hit: Hit[Any]) -> bytes:
    """Give the stored chunks behind a hit, still encoded."""
    payload: bytes = hit.handle[1].payload
    return payload


def kind_of(function: Callable[P, R]) -> type[CachedFunction[P, R]]:
    """Choose the wrapper for a function; a callable object goes by its `__call__`."""
    for is_kind, kind in _KINDS:
        if runs_as(is_kind, function):
            return kind
    return PlainFunction


_KINDS: tuple[tuple[Callable[[object], bool], type[CachedFunction[Any, Any]]], ...] = (
    (inspect.isasyncgenfunction, AsyncStreamFunction),
    (inspect.isgeneratorfunction, StreamFunction),
    (inspect.iscoroutinefunction, CoroutineFunction),
)
