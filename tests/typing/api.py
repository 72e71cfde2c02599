"""Never run: what users write, as type checkers must see it (mypy --strict and pyright)."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, assert_type

from semcache import Bypass, Hit, Miss, Refused, SemanticCache, Stored

cache = SemanticCache("~/.cache/myapp", threshold=0.95, ttl_seconds=3600)


@cache.cached(model="gpt-4o-mini", depends_on=["kb:pricing"])
def ask(prompt: str) -> str:
    return prompt


@cache.cached(model="m", ignore=lambda name: name == "debug")
async def ask_later(prompt: str, k: int = 5) -> list[int]:
    return [k]


@cache.cached()
def stream(prompt: str) -> Iterator[str]:
    yield prompt


@cache.cached()
async def stream_later(prompt: str) -> AsyncIterator[bytes]:
    yield prompt.encode()


class Bot:
    @cache.cached(ignore=["self"])
    def ask(self, prompt: str, k: int) -> float:
        return 1.0


assert_type(ask("hi"), str)
assert_type(ask.refresh("hi"), str)
later: Coroutine[Any, Any, list[int]] = ask_later("hi", k=3)
assert_type(stream("hi"), Iterator[str])
assert_type(stream_later("hi"), AsyncIterator[bytes])
assert_type(Bot().ask("hi", 3), float)
assert_type(Bot().ask.lookup("hi", 3), Hit[Any] | Miss | Bypass)
assert_type(cache.lookup("hi", model="m", temperature=0), Hit[Any] | Miss | Bypass)
assert_type(cache.put("hi", "there", ttl_seconds=None), Stored | Refused)

ask(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ask("hi", 3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Bot().ask("hi", "three")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
