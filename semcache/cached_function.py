"""One function with a cache in front: reads the call, asks, stores. Says nothing of how it is run.

It decides nothing: the cache does. What differs between functions, coroutines and streams is in
`kinds`. A failure here never reaches the caller; a wrong argument raises what the function would.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from semcache.binding import Binding
from semcache.canonical import canonical_bytes, digest
from semcache.config import USE_DEFAULT, UseDefault
from semcache.decision import Bypass, Decision, Hit, Miss, Reason, Refused, Stored
from semcache.draft import Draft
from semcache.errors import ArgumentError, ValueFormError
from semcache.flight import Flights
from semcache.stream import Raw, Recording, Streams
from semcache.walk import Handle, Options

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["CachedFunction", "Call", "Rules"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
Q = ParamSpec("Q")

_CALLED_ANYWAY = frozenset({Reason.REFRESH, Reason.CANARY})
"""Misses that a stored answer does not end: the call is made whatever the cache holds."""

_CHANGED = (
    "the arguments of a call were changed after it was made and before it ran, so its answer is "
    "not stored: pass each call objects of its own",
    "the arguments changed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What `cached` was told about one function, beyond its arguments."""

    ttl_seconds: float | UseDefault | None = USE_DEFAULT
    renew_up_to_seconds: float | UseDefault | None = USE_DEFAULT
    cache_if: Callable[[Any], bool] | None = None
    is_complete: Callable[[list[Any]], bool] | None = None
    cost: float | Callable[[Any], float] = 0.0
    dynamic: bool | None = None


@dataclass(slots=True)
class Call:
    """One call on its way: what to pass on, and what the cache knows it by."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    handle: Handle | Bypass
    options: Options
    started: float = 0.0
    led: bool = False
    """It was this call's turn to ask: no equal one was under way."""
    answered: bool = False
    """Another caller had stored the answer by the time this one led."""
    changed: bool = False
    """Its arguments were other ones by the time the function ran: the answer is to those."""

    def leave_out(self, seconds: float) -> None:
        """Leave out of the call's time what its reader took between two chunks."""
        self.started += seconds

    @property
    def flight_key(self) -> bytes:
        """Equal calls under equal epochs fly together; none joins a call that began before an
        invalidation or a removal."""
        assert isinstance(self.handle, Handle)
        began_under = canonical_bytes([self.handle.epochs, self.handle.removals])
        return digest(self.handle.request.key, began_under)


class CachedFunction(Generic[P, R]):
    """A function with a cache in front. Call it as before.

    `decide` gives (value, decision); `lookup` and `explain` give the decision alone and call
    nothing; `refresh` calls anew and replaces the stored answer; `bypass` leaves the cache out;
    `put` stores an answer for given arguments; `remove` takes it out.
    """

    is_stream = False
    """A generator of either kind: its answer is a list of chunks."""

    is_static = False
    """A static method: it is not bound to the object it is looked up on."""

    def __init__(
        self,
        cache: SemanticCache,
        function: Callable[P, R],
        binding: Binding,
        rules: Rules,
        receiver: tuple[Any, ...] = (),
        flights: tuple[Flights, Streams] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        if receiver:  # so that a bound method's signature has no `self`, and it can be wrapped anew
            self.__wrapped__ = types.MethodType(function, receiver[0])
        self.cache = cache
        self._function: Callable[..., Any] = function
        self._binding = binding
        self._rules = rules
        self._receiver = receiver
        self._flights, self._streams = flights or (Flights(), Streams())
        self._look_like(function)

    def _look_like(self, function: Callable[..., Any]) -> None:
        """Answer `inspect`'s questions about the kind of function as the wrapped one would."""
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> CachedFunction[P, R]: ...

    @overload
    def __get__(
        self: CachedFunction[Concatenate[S, Q], R], instance: S, owner: type | None = None
    ) -> CachedFunction[Q, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> CachedFunction[Any, Any]:
        """Bind to an object, as a function in a class does."""
        if instance is None or self.is_static:
            return self
        return type(self)(
            self.cache,
            self._function,
            self._binding,
            self._rules,
            (instance,),
            (self._flights, self._streams),
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Go by name to another process, as a function does; a copy is the function itself."""
        name: str = self.__dict__["__qualname__"]
        if self._receiver:
            return getattr, (self._receiver[0], name.rpartition(".")[2])
        return name

    def __repr__(self) -> str:
        return f"<cached {self._function!r}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Answer from the cache, or call the function."""
        value: R = self._start(self._open(args, kwargs))
        return value

    def decide(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Call, and give (value, decision); a coroutine of it for a coroutine function."""
        return self._start_deciding(self._open(args, kwargs))

    def refresh(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and let its answer take the stored one's place."""
        value: R = self._start(self._open(args, {**kwargs, "refresh": True}))
        return value

    def bypass(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function with the cache out of the way."""
        value: R = self._start(self._open(args, {**kwargs, "no_cache": True}))
        return value

    def lookup(self, *args: P.args, **kwargs: P.kwargs) -> Decision:
        """Decide on this call without making it."""
        return self._decide(self._open(args, kwargs))

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Decision:
        """Decide on this call without making or counting it. Print the result."""
        call = self._open(args, kwargs)
        if isinstance(call.handle, Bypass):
            return call.handle
        return self.cache.preview(call.handle, call.options)

    def put(self, value: Any, *args: P.args, **kwargs: P.kwargs) -> Stored | Refused:
        """Store a value as the answer for these arguments, durably on return.

        For a stream the value is the list of its chunks; a text, or bytes, is its only chunk.

        Raises:
            ArgumentError: the function is a stream, and the value is no list of chunks.
            ValueFormError: the arguments or the value have no stable form.
        """
        draft = self._draft(value)
        if self.is_stream:
            draft = replace(draft, chunks=_chunks_of(value))
        return self.cache.store(self._handle(args, kwargs), draft)

    def remove(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Take out the answer stored for exactly these arguments."""
        return self.cache.discard(self._handle(args, kwargs))

    def _handle(self, args: Any, kwargs: Any) -> Handle:
        handle = self._open(args, kwargs).handle
        if isinstance(handle, Bypass):
            raise ValueFormError(handle.detail)
        return handle

    def _open(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """Read the call before the function can change anything."""
        args = (*self._receiver, *args)
        passed, switches = self._binding.switches(kwargs)
        options = Options(switches.no_cache, switches.refresh, self._rules.dynamic)
        try:
            bound = self._binding.read(args, passed)
            handle = self.cache.open(bound.prompt, **bound.identity, depends_on=bound.tags)
        except (ValueFormError, ArgumentError) as error:
            handle = Bypass(Reason.OPAQUE, str(error))
        return Call(args, passed, handle, options)

    def _read_again(self, call: Call) -> None:
        """See, as the function begins, whether its arguments are still those that were looked up.

        They are the caller's own, who may have changed them while the call waited for its turn.
        """
        assert isinstance(call.handle, Handle)
        try:
            bound = self._binding.read(call.args, call.kwargs)
            found = self.cache.identify(bound.prompt, **bound.identity)
        except (ValueFormError, ArgumentError):
            call.changed = True
        else:
            call.changed = isinstance(found, Bypass) or found.key != call.handle.request.key

    def _decide(self, call: Call) -> Decision:
        if isinstance(call.handle, Bypass):
            return self.cache.count(call.handle)
        return self.cache.decide(call.handle, call.options)

    def _draft(
        self, value: Any, seconds: float = 0.0, recording: Recording[Any] | None = None
    ) -> Draft:
        rules = self._rules
        return Draft(
            value=value,
            chunks=None if recording is None else recording.chunks(),
            payload=None if recording is None else recording.payload,
            ttl_seconds=rules.ttl_seconds,
            renew_up_to_seconds=rules.renew_up_to_seconds,
            cache_if=rules.cache_if,
            is_complete=rules.is_complete,
            saved_seconds=max(0.0, seconds),
            cost=rules.cost,
        )

    def _keep(
        self, call: Call, miss: Miss, value: Any, recording: Recording[Any] | None = None
    ) -> bool:
        """Store what a call gave; says whether callers that wait may have it too."""
        if call.answered:
            return True
        if call.changed:
            self.cache.give_up(miss, *_CHANGED)
            return False
        seconds = self.cache.now() - call.started
        stored = self.cache.commit(miss, lambda: self._draft(value, seconds, recording))
        return isinstance(stored, Stored) or not stored.private

    def _keep_stream(self, call: Call, miss: Miss, recording: Recording[Any] | Raw) -> None:
        """Store what a stream gave; count it if it cannot be stored."""
        if call.changed:
            self.cache.give_up(miss, *_CHANGED)
        elif isinstance(recording, Raw):
            self.cache.give_up(miss, recording.why)
        else:
            self._keep(call, miss, None, recording)

    def _streams_for(self, call: Call) -> Streams:
        """Give the streams to join: none for a refresh, nor where an answer may prove private."""
        alone = call.options.refresh or not self.cache.config.share_personal
        return Streams() if alone else self._streams

    def _answered(self, call: Call, miss: Miss) -> Hit[Any] | None:
        """Look once more before leading: the answer may have come while this caller queued."""
        hit = None if miss.reason in _CALLED_ANYWAY else self.cache.recheck(miss)
        call.led, call.answered = True, hit is not None
        call.started = self.cache.now()
        return hit

    def _count_if_joined(self, call: Call) -> None:
        """Count a miss that needed no call of its own."""
        if call.answered or not call.led:
            self.cache.join()

    def _start(self, call: Call) -> Any:
        raise AssertionError("a kind of function says how it is run")

    def _start_deciding(self, call: Call) -> Any:
        raise AssertionError("a kind of function says how it is run")


def _chunks_of(value: object) -> list[object]:
    """Give the chunks that a hit will replay. A dict or a number has none that could be meant."""
    if isinstance(value, str | bytes):
        return [value]
    if isinstance(value, list | tuple):
        return list(value)
    raise ArgumentError(
        "value", value, "pass the list of chunks to replay, as in put([chunk], ...)"
    )
