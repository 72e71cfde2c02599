"""Four ways of calling one cached function, so that a case is asked of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from semcache import Hit, SemanticCache
from tests.fakes import Model

__all__ = ["KINDS", "call", "decide", "decorate", "is_served", "replies", "replies_to", "user"]

KINDS = ("plain", "coroutine", "stream", "async stream")


def decorate(kind: str, cache: SemanticCache, body: Callable[..., Any], **options: Any) -> Any:
    """Decorate one function of a kind; its answer, or its only chunk, is what `body` gives."""

    def plain(prompt: Any, **kwargs: Any) -> Any:
        return body(prompt, **kwargs)

    async def coroutine(prompt: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return body(prompt, **kwargs)

    def stream(prompt: Any, **kwargs: Any) -> Iterator[Any]:
        yield body(prompt, **kwargs)

    async def astream(prompt: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(0)
        yield body(prompt, **kwargs)

    functions = dict(zip(KINDS, (plain, coroutine, stream, astream), strict=True))
    return cache.cached(**options)(functions[kind])


def call(kind: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call it and take its answer, or its only chunk."""
    return _take(kind, function(*args, **kwargs))


def decide(kind: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call it and give its decision, once the answer has been taken."""
    made = function.decide(*args, **kwargs)
    if kind in ("plain", "stream"):
        answer, decision = made
        _take(kind, answer)
        return decision

    async def run() -> Any:
        answer, decision = await made
        if kind == "async stream":
            await _collect(answer)
        return decision

    return asyncio.run(run())


def replies(kind: str, cache: SemanticCache, *prompts: Any, **options: Any) -> list[Any]:
    """Ask a stub model each prompt in turn: R1, R2, ... for real calls, an old one for a hit."""
    ask = decorate(kind, cache, Model(), **options)
    return [call(kind, ask, prompt) for prompt in prompts]


def replies_to(
    kind: str, cache: SemanticCache, prompt: Any, *params: dict[str, Any], **options: Any
) -> list[Any]:
    """Ask a stub model one prompt with each set of keywords in turn."""
    ask = decorate(kind, cache, Model(), **options)
    return [call(kind, ask, prompt, **named) for named in params]


def is_served(cache: SemanticCache, stored: str, asked: str) -> bool:
    """Whether the answer to one text is served to another, in either direction."""
    both = []
    for one, other in ((stored, asked), (asked, stored)):
        cache.clear()
        cache.put(one, "A", dynamic=False)
        both.append(isinstance(cache.lookup(other, dynamic=False), Hit))
    return any(both)


def user(content: Any, **extra: Any) -> dict[str, Any]:
    """Give one user message."""
    return {"role": "user", "content": content, **extra}


def _take(kind: str, made: Any) -> Any:
    if kind == "plain":
        return made
    if kind == "coroutine":
        return asyncio.run(_await(made))
    chunks = list(made) if kind == "stream" else asyncio.run(_collect(made))
    (answer,) = chunks
    return answer


async def _await(coroutine: Any) -> Any:
    return await coroutine


async def _collect(stream: AsyncIterator[Any]) -> list[Any]:
    return [chunk async for chunk in stream]
