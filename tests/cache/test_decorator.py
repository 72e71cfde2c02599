"""The decorator: four kinds of function, one behaviour."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from semcache import Bypass, Hit, Miss, Reason, SemanticCache
from tests.fakes import Far, Model

KINDS = ["plain", "coroutine", "stream", "async stream"]


@pytest.fixture
def cache() -> Iterator[SemanticCache]:
    with SemanticCache(embedder=Far(), threshold=0.95) as made:
        yield made


def make(kind: str, cache: SemanticCache, body: Callable[..., Any], **options: Any) -> Any:
    """Decorate one function of a kind, whose answer is what `body` gives."""

    def plain(prompt: str, **kwargs: Any) -> Any:
        return body(prompt, **kwargs)

    async def coroutine(prompt: str, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return body(prompt, **kwargs)

    def stream(prompt: str, **kwargs: Any) -> Iterator[Any]:
        yield body(prompt, **kwargs)
        yield ""
        yield "!"

    async def astream(prompt: str, **kwargs: Any) -> AsyncIterator[Any]:
        yield body(prompt, **kwargs)
        await asyncio.sleep(0)
        yield ""
        yield "!"

    functions = dict(zip(KINDS, (plain, coroutine, stream, astream), strict=True))
    return cache.cached(**options)(functions[kind])


def call(kind: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call it and take all of its answer, whatever its kind."""
    if kind == "plain":
        return function(*args, **kwargs)
    if kind == "coroutine":
        return asyncio.run(_await(function(*args, **kwargs)))
    if kind == "stream":
        return list(function(*args, **kwargs))
    return asyncio.run(_collect(function(*args, **kwargs)))


async def _await(coroutine: Any) -> Any:
    return await coroutine


async def _collect(stream: AsyncIterator[Any]) -> list[Any]:
    return [chunk async for chunk in stream]


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_equal_call_is_answered_from_the_cache(kind: str, cache: SemanticCache) -> None:
    """One real call; the answer has the shape that the caller expects, chunk by chunk."""
    model = Model()
    ask = make(kind, cache, model)

    first = call(kind, ask, "hello there")
    second = call(kind, ask, "hello there")

    assert first == second
    assert first in ("R1", ["R1", "", "!"])
    assert model.calls == 1
    assert cache.stats().hits == {"exact": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_the_wrapped_function_keeps_its_kind_and_signature(kind: str, cache: SemanticCache) -> None:
    """Frameworks that look at a function see the one that was decorated."""
    ask = make(kind, cache, Model())

    assert inspect.iscoroutinefunction(ask) == (kind == "coroutine")
    assert inspect.isgeneratorfunction(ask) == (kind == "stream")
    assert inspect.isasyncgenfunction(ask) == (kind == "async stream")
    assert str(inspect.signature(ask)).startswith("(prompt")


@pytest.mark.parametrize("kind", KINDS)
def test_refresh_calls_anew_and_replaces(kind: str, cache: SemanticCache) -> None:
    """Asking again because the answer was bad gives another one, for everybody."""
    model = Model()
    ask = make(kind, cache, model)

    call(kind, ask, "hello there")
    refreshed = call(kind, ask, "hello there", refresh=True)
    after = call(kind, ask, "hello there")

    assert model.calls == 2
    assert refreshed == after


@pytest.mark.parametrize("kind", KINDS)
def test_no_cache_calls_and_stores_nothing(kind: str, cache: SemanticCache) -> None:
    """The flag is not forwarded, not in the scope, and leaves no trace."""
    model = Model()
    ask = make(kind, cache, model)

    call(kind, ask, "hello there", no_cache=True)
    call(kind, ask, "hello there", no_cache=True)

    assert model.calls == 2
    assert len(cache) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_reaches_the_caller_and_nothing_is_stored(kind: str, cache: SemanticCache) -> None:
    """An outage is not remembered."""
    answers: list[Any] = [RuntimeError("down"), "up"]

    def body(_prompt: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    ask = make(kind, cache, body)

    with pytest.raises(RuntimeError, match="down"):
        call(kind, ask, "hello there")

    assert call(kind, ask, "hello there") in ("up", ["up", "", "!"])


@pytest.mark.parametrize("kind", KINDS)
def test_cache_if_says_what_may_be_stored(kind: str, cache: SemanticCache) -> None:
    """An apology is given to its caller and kept from all others."""
    answers = ["Sorry, something went wrong.", "real"]
    ask = make(kind, cache, lambda _: answers.pop(0), cache_if=lambda v: "Sorry" not in str(v))

    call(kind, ask, "hello there")

    assert call(kind, ask, "hello there") in ("real", ["real", "", "!"])
    assert call(kind, ask, "hello there") in ("real", ["real", "", "!"])


@pytest.mark.parametrize("kind", KINDS)
def test_decide_gives_the_value_and_the_decision(kind: str, cache: SemanticCache) -> None:
    """So that a wrong hit can be forgotten."""
    ask = make(kind, cache, Model())
    call(kind, ask, "hello there")

    if kind == "coroutine":
        _value, decision = asyncio.run(_await(ask.decide("hello there")))
    elif kind == "async stream":
        _stream, decision = asyncio.run(_await(ask.decide("hello there")))
    else:
        _value, decision = ask.decide("hello there")

    assert isinstance(decision, Hit)
    assert cache.forget(decision)
    assert isinstance(ask.lookup("hello there"), Miss)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dynamic_prompt_is_called_every_time(kind: str, cache: SemanticCache) -> None:
    """What needs the clock is neither stored nor served."""
    model = Model()
    ask = make(kind, cache, model)

    call(kind, ask, "What time is it?")
    call(kind, ask, "What time is it?")

    assert model.calls == 2
    assert len(cache) == 0


def test_twenty_equal_calls_in_threads_make_one_real_call(cache: SemanticCache) -> None:
    """Late callers wait for the first."""
    started, release = threading.Event(), threading.Event()
    calls: list[str] = []

    @cache.cached()
    def ask(prompt: str) -> str:
        calls.append(prompt)
        started.set()
        release.wait(10)
        return "answer"

    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(ask("hello there"))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    started.wait(10)
    release.set()
    for thread in threads:
        thread.join(10)

    assert answers == ["answer"] * 20
    assert len(calls) == 1


def test_twenty_equal_calls_in_tasks_make_one_real_call(cache: SemanticCache) -> None:
    """The same for coroutines."""
    model = Model()

    @cache.cached()
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return model()

    async def main() -> list[str]:
        return await asyncio.gather(*(ask("hello there") for _ in range(20)))

    assert asyncio.run(main()) == ["R1"] * 20


def test_the_text_is_the_argument_named_prompt_or_messages_or_the_first(
    cache: SemanticCache,
) -> None:
    """`text=` overrides."""

    @cache.cached()
    def by_name(k: int, prompt: str) -> str:
        return "a"

    @cache.cached(text="question")
    def by_option(k: int, question: str) -> str:
        return "b"

    for function in (by_name, by_option):
        function(5, "hello there")
        assert isinstance(function.lookup(5, "hello there"), Hit)
        assert isinstance(function.lookup(6, "hello there"), Miss)
    with pytest.raises(ValueError, match="text='nope'"):
        cache.cached(text="nope")(lambda prompt: prompt)


def test_defaults_are_filled_in_before_the_key_is_made(cache: SemanticCache) -> None:
    """Positional, keyword and default forms of one call are one call."""
    model = Model()

    @cache.cached()
    def ask(prompt: str, k: int = 5) -> str:
        return model()

    assert {ask("p q r"), ask("p q r", 5), ask("p q r", k=5), ask(prompt="p q r")} == {"R1"}


def test_a_model_named_at_the_call_beats_the_decorators(cache: SemanticCache) -> None:
    """Models never share answers."""
    model = Model()

    @cache.cached(model="small")
    def ask(prompt: str, model: str | None = None) -> str:
        return answers()

    answers = model

    assert ask("p q r") == "R1"
    assert ask("p q r", model="large") == "R2"
    assert ask("p q r", model="small") == "R1"


def test_two_functions_do_not_share_answers_unless_told(cache: SemanticCache) -> None:
    """Their bodies say different things to the model."""

    @cache.cached(model="m")
    def to_french(prompt: str) -> str:
        return "bonjour"

    @cache.cached(model="m")
    def to_german(prompt: str) -> str:
        return "hallo"

    @cache.cached(model="m", shared=True)
    def curated(prompt: str) -> str:
        return "called"

    cache.put("hello there", "approved", model="m")

    assert (to_french("hello there"), to_german("hello there")) == ("bonjour", "hallo")
    assert curated("hello there") == "approved"


class Assistant:
    """An object with settings."""

    def __init__(self, cache_name: str, temperature: float) -> None:
        self.cache_name = cache_name
        self.temperature = temperature


def test_methods_count_the_settings_of_their_object(cache: SemanticCache) -> None:
    """Read at call time; another object with equal settings shares."""
    model = Model()

    class Bot(Assistant):
        @cache.cached()
        def ask(self, prompt: str) -> str:
            return model()

    one, same, other = Bot("a", 0.0), Bot("a", 0.0), Bot("a", 1.0)

    assert (one.ask("p q r"), same.ask("p q r"), other.ask("p q r")) == ("R1", "R1", "R2")
    one.temperature = 0.5
    assert one.ask("p q r") == "R3"
    _value, decision = one.ask.decide("p q r")
    assert isinstance(decision, Hit)


class Factory:
    """Stands for a class whose methods call a model."""

    model = Model()


def test_static_and_class_methods(cache: SemanticCache) -> None:
    """Both orders of @staticmethod work; @classmethod goes on top."""

    def above(prompt: str) -> str:
        return Factory.model()

    def of_class(cls: type, prompt: str) -> str:
        return Factory.model()

    Factory.above = staticmethod(cache.cached()(above))  # type: ignore[attr-defined]  # made here
    Factory.below = cache.cached()(staticmethod(above))  # type: ignore[attr-defined]  # made here
    Factory.of_class = classmethod(cache.cached()(of_class))  # type: ignore[attr-defined]  # ditto
    factory: Any = Factory()
    kind: Any = Factory

    assert kind.above("p q r") == factory.above("p q r")
    assert kind.below("p q r") == factory.below("p q r")
    assert kind.of_class("p q r") == factory.of_class("p q r")
    assert isinstance(factory.of_class.lookup("p q r"), Hit)


def test_scope_names_an_attribute_of_an_ignored_argument(cache: SemanticCache) -> None:
    """Ignoring an argument does not remove the scope."""
    model = Model()

    class Context:
        def __init__(self, user: str) -> None:
            self.user = user
            self.lock = threading.Lock()

    @cache.cached(ignore=["ctx"], scope=["ctx.user"], text="prompt")
    def ask(ctx: Context, prompt: str) -> str:
        return model()

    @cache.cached(ignore=["ctx"], scope=lambda ctx, prompt: ctx.user)
    def ask_by_rule(ctx: Context, prompt: str) -> str:
        return model()

    for function in (ask, ask_by_rule):
        first = function(Context("u1"), "p q r")
        assert function(Context("u2"), "p q r") != first
        assert function(Context("u1"), "p q r") == first


def test_an_opaque_argument_makes_the_call_a_bypass_that_says_how_to_mend_it(
    cache: SemanticCache,
) -> None:
    """Never an error, never a memory address."""
    model = Model()

    @cache.cached()
    def ask(prompt: str, callback: object = None) -> str:
        return model()

    value, decision = ask.decide("p q r", callback=object())

    assert value == "R1"
    assert isinstance(decision, Bypass)
    assert decision.reason is Reason.OPAQUE
    assert "ignore=" in str(decision)


def test_tags_may_depend_on_the_call(cache: SemanticCache) -> None:
    """`depends_on` takes the call's own arguments."""
    model = Model()

    @cache.cached(depends_on=lambda prompt, kb: [f"kb:{kb}"])
    def ask(prompt: str, kb: str) -> str:
        return model()

    ask("p q r", "tax")
    ask("p q r", "law")
    cache.invalidate("kb:tax")

    assert ask("p q r", "law") == "R2"
    assert ask("p q r", "tax") == "R3"


def test_wrong_arguments_raise_what_the_function_would(cache: SemanticCache) -> None:
    """The cache does not hide a caller's mistake."""

    @cache.cached()
    def ask(prompt: str) -> str:
        return prompt

    with pytest.raises(TypeError, match="missing"):
        ask()  # type: ignore[call-arg]  # the mistake under test


def test_what_the_function_does_to_its_arguments_does_not_change_the_key(
    cache: SemanticCache,
) -> None:
    """The key is made before the function runs."""
    model = Model()

    @cache.cached()
    def ask(messages: list[dict[str, Any]]) -> str:
        messages[0].pop("name", None)
        return model()

    def request() -> list[dict[str, Any]]:
        return [{"role": "user", "content": "p q r", "name": "bob"}]

    assert ask(request()) == "R1"
    assert ask(request()) == "R1"


def test_the_returned_object_is_the_callers_own(cache: SemanticCache) -> None:
    """Changing it changes nothing in the cache."""

    @cache.cached()
    def ask(prompt: str) -> dict[str, str]:
        return {"text": "answer"}

    first = ask("p q r")
    first["text"] = "x"
    second = ask("p q r")
    second["text"] = "y"

    assert ask("p q r") == {"text": "answer"}


def test_a_result_that_cannot_be_stored_is_given_and_not_cached(cache: SemanticCache) -> None:
    """The call works, twice."""

    @cache.cached()
    def ask(prompt: str) -> Any:
        return threading.Lock()

    assert ask("p q r") is not ask("p q r")
    assert len(cache) == 0


def test_a_stream_and_a_whole_answer_never_meet_even_when_shared(cache: SemanticCache) -> None:
    """Two entries, never a broken mix."""

    @cache.cached(model="m", shared=True)
    def whole(prompt: str) -> str:
        return "ab"

    @cache.cached(model="m", shared=True)
    def stream(prompt: str) -> Iterator[str]:
        yield "a"
        yield "b"

    assert (whole("p q r"), list(stream("p q r"))) == ("ab", ["a", "b"])
    assert (whole("p q r"), list(stream("p q r"))) == ("ab", ["a", "b"])
