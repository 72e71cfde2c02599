"""cached(): puts one cache in front of functions, coroutines, generators and async generators.

It reads the options once, when the function is defined, and chooses the kind of wrapper. Nothing
here is asked at call time.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from semcache.arguments import check_callable, check_flag
from semcache.binding import Binding, Names, Scope, Tags
from semcache.cached_function import CachedFunction, Rules
from semcache.config import USE_DEFAULT, UseDefault, check_lifetime, check_renewal
from semcache.errors import ArgumentError
from semcache.kinds import kind_of

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["OPTIONS", "CachedFunction", "Decorate"]

P = ParamSpec("P")
R = TypeVar("R")


class Decorate:
    """The decorator that `SemanticCache.cached` returns.

    Args:
        cache: where answers are looked up and stored.
        model: the model, unless the call has an argument `model`.
        namespace: the tenant, or a callable that takes the call's arguments and returns it. A call
            for which it returns None or an empty text goes past the cache: it has no tenant.
        text: the name of the argument that holds the prompt or the messages; left out, the one
            named `prompt` or `messages`, else the first.
        scope: names of arguments that count even if ignored, dotted paths allowed, or a callable
            that takes the call's arguments and returns what else must be identical.
        ignore: names of arguments that do not count, or a callable from a name to True.
        depends_on: tags whose `invalidate` kills the answers, or a callable that returns them.
        ttl_seconds: lifetime; left out, the cache's; None is for ever.
        renew_up_to_seconds: how old an answer may become by being asked for; left out, the cache's;
            None: a hit renews nothing.
        cache_if: says of a value (of the list of chunks, for a stream) whether it may be stored.
        is_complete: says of a stream's chunks whether they are the whole answer.
        cost: what a call costs, or a callable from its value to that, for `stats().saved_cost`.
        dynamic: True or False overrule the dynamic-query filter for this function.
        shared: leave the function's name out of the scope, so that answers stored by `put`, by
            `semcache warm` or by other shared functions with equal arguments are served too.

    A function is known by its name and its code; in a script also by the script's path, or by the
    name given to `python -m`. What is bound into it (a partial's arguments, a method's object)
    counts in the scope, read at each call. So does what it closes over, read when it is decorated:
    an object without a stable form, such as a client, by its class and its settings. Globals do not
    count. `shared` leaves name, code and what is closed over out.

    Raises:
        ArgumentError: a name that the function does not have, or a value that cannot work.
    """

    def __init__(
        self,
        cache: SemanticCache,
        *,
        model: Any = None,
        namespace: str | Callable[..., str] | None = None,
        text: str | None = None,
        scope: Scope | None = None,
        ignore: Names = (),
        depends_on: Tags = (),
        ttl_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        renew_up_to_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        cache_if: Callable[[Any], bool] | None = None,
        is_complete: Callable[[list[Any]], bool] | None = None,
        cost: float | Callable[[Any], float] = 0.0,
        dynamic: bool | None = None,
        shared: bool = False,
    ) -> None:
        check_callable("cache_if", cache_if)
        check_callable("is_complete", is_complete)
        check_flag("dynamic", dynamic, or_none=True)
        check_flag("shared", shared)
        if not callable(cost) and not isinstance(cost, int | float):
            raise ArgumentError("cost", cost, "pass a number, or a callable from value to number")
        self._cache = cache
        self._bind = functools.partial(
            Binding,
            model=model,
            namespace=namespace,
            text=text,
            scope=scope,
            ignore=ignore,
            depends_on=depends_on,
            shared=shared,
        )
        self._rules = Rules(
            ttl_seconds=check_lifetime(ttl_seconds),
            renew_up_to_seconds=check_renewal(renew_up_to_seconds),
            cache_if=cache_if,
            is_complete=is_complete,
            cost=cost,
            dynamic=dynamic,
        )

    def __call__(self, function: Callable[P, R]) -> CachedFunction[P, R]:
        """Wrap a function. Its signature and its kind stay what they are."""
        is_static = isinstance(function, staticmethod)
        if isinstance(function, staticmethod):
            function = function.__func__
        if not callable(function) or isinstance(function, classmethod):
            raise ArgumentError("function", function, "put @classmethod above @cache.cached(...)")
        kind = kind_of(function)
        made = kind(self._cache, function, self._bind(function), self._rules)
        made.is_static = is_static
        return made


OPTIONS = frozenset(inspect.signature(Decorate).parameters) - {"cache"}
"""The names of what `SemanticCache.cached` takes."""
