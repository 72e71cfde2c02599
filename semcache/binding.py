"""How a decorated function's own arguments become a request.

Every argument counts, defaults filled in, read at call time before the function runs; leaving one
out needs `ignore=`. The text is the argument named `prompt` or `messages`, else the first one.
Nothing here looks anything up or calls the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from semcache.arguments import check_items, check_kind
from semcache.carried import bound_in, closed_over, is_stream, name_of
from semcache.errors import ArgumentError
from semcache.request import ask_rule
from semcache.tenant import check_tenant, tenant_name

__all__ = ["Binding", "Bound", "Switches"]

RESERVED: Final = ("no_cache", "refresh")
_TEXT_NAMES: Final = ("prompt", "messages")
_RECEIVERS: Final = ("self", "cls")
_OPEN_ENDED: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

Names = Iterable[str] | Callable[[str], bool]
Tags = Iterable[str] | Callable[..., Iterable[str]]
Scope = Iterable[str] | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Switches:
    """The reserved keywords of one call."""

    no_cache: bool = False
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """What identifies one call."""

    prompt: Any
    model: Any
    namespace: str | None
    scope: object
    params: dict[str, Any]
    tags: tuple[str, ...]

    @property
    def identity(self) -> dict[str, Any]:
        """What identifies the call beside its prompt, as `SemanticCache.identify` takes it."""
        return {
            "model": self.model,
            "namespace": self.namespace,
            "scope": self.scope,
            "params": self.params,
        }


class Binding:
    """Reads the arguments of one function.

    Args:
        function: the function that was decorated.
        text: the name of the argument that holds the prompt or the messages.
        scope: names of arguments that count even if ignored, dotted paths allowed ("ctx.user"),
            or a callable that takes the call's arguments and returns what else must be identical.
        ignore: names of arguments that do not count, or a callable from a name to True.
        depends_on: tags, or a callable that takes the call's arguments and returns tags.
        model: the model, unless the call names one.
        namespace: the tenant, or a callable that takes the call's arguments and returns it: a text
            that is not empty, a whole number or a UUID. A call without one goes past the cache.
        shared: leave the function's own name out of the scope. Streams and whole answers still
            never meet.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        text: str | None = None,
        scope: Scope | None = None,
        ignore: Names = (),
        depends_on: Tags = (),
        model: Any = None,
        namespace: str | Callable[..., str] | None = None,
        shared: bool = False,
    ) -> None:
        self._signature = inspect.signature(function)
        self._text = _choose_text(self._signature, text)
        self._scope = scope if scope is None or callable(scope) else _names("scope", scope)
        self._ignore = ignore if callable(ignore) else frozenset(_names("ignore", ignore))
        self._depends_on = depends_on if callable(depends_on) else _names("depends_on", depends_on)
        self._model = model
        self._namespace = check_tenant(namespace)
        self._carrier = function
        # A stream and a whole answer never meet, be it one name's earlier and later form.
        name = None if shared else name_of(function)
        self._function = [name, "stream"] if is_stream(function) else name
        self._closed_over = b"" if shared else closed_over(function)
        self._declared = frozenset(self._signature.parameters)
        self._open = _open_name(self._signature)
        self._check_names()

    def read(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """Read one call; `kwargs` are those that `switches` lets through.

        Raises:
            TypeError: the arguments do not fit the function, as it would say itself.
            ValueFormError: a rule of the user's failed on this call.
        """
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        if self._open is not None:
            # A keyword may bear the name of a positional-only argument: both count.
            extra = arguments.pop(self._open)
            arguments |= {f"**{k}" if k in arguments else k: v for k, v in extra.items()}
        prompt = arguments.pop(self._text)
        model = arguments.pop("model", None)
        return Bound(
            prompt=prompt,
            model=self._model if model is None else model,
            namespace=self._tenant(bound),
            scope=self._whole_scope(bound, {self._text: prompt, **arguments}),
            params={k: v for k, v in arguments.items() if not self._is_left_out(k)},
            tags=self._tags(bound),
        )

    def switches(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Switches]:
        """Give the keywords to pass on, and the reserved ones."""
        switches = Switches(*(bool(kwargs.get(name, False)) for name in RESERVED))
        passed = {k: v for k, v in kwargs.items() if k not in RESERVED or k in self._declared}
        return passed, switches

    def _is_left_out(self, name: str) -> bool:
        if name in RESERVED:
            return True
        if callable(self._ignore):
            is_ignored: bool = ask_rule("ignore", _asked, self._ignore, name)
            return is_ignored
        return name in self._ignore

    def _whole_scope(self, bound: inspect.BoundArguments, arguments: dict[str, Any]) -> object:
        extra = self._extra_scope(bound, arguments)
        carried = [bound_in(self._carrier), self._closed_over]
        if carried == [None, b""]:
            return extra if self._function is None else [self._function, extra]
        return [self._function, extra, carried]

    def _extra_scope(self, bound: inspect.BoundArguments, arguments: dict[str, Any]) -> object:
        if self._scope is None:
            return None
        if callable(self._scope):
            return ask_rule("scope", self._scope, *bound.args, **bound.kwargs)
        return {path: ask_rule(path, _follow, path, arguments) for path in self._scope}

    def _tenant(self, bound: inspect.BoundArguments) -> str | None:
        if not callable(self._namespace):
            return self._namespace
        return tenant_name(ask_rule("namespace", self._namespace, *bound.args, **bound.kwargs))

    def _tags(self, bound: inspect.BoundArguments) -> tuple[str, ...]:
        if not callable(self._depends_on):
            return self._depends_on
        rule = self._depends_on
        tags: tuple[str, ...] = ask_rule(
            "depends_on", lambda: _names("depends_on", rule(*bound.args, **bound.kwargs))
        )
        return tags

    def _check_names(self) -> None:
        if self._open is not None:
            return
        named = {"ignore": self._ignore, "scope": self._scope}
        for option, names in named.items():
            if names is None or callable(names):
                continue
            for name in names:
                if name.partition(".")[0] not in self._declared:
                    known = sorted(self._declared)
                    raise ArgumentError(option, name, f"the function has no such argument: {known}")


def _asked(rule: Callable[[str], object], name: str) -> bool:
    return bool(rule(name))


def _follow(path: str, arguments: Mapping[str, Any]) -> object:
    name, _, rest = path.partition(".")
    value = arguments.get(name)
    return attrgetter(rest)(value) if rest else value


def _names(option: str, names: Iterable[str]) -> tuple[str, ...]:
    found = check_items(option, names, "pass a list of names")
    for name in found:
        check_kind(option, name, str, "pass a list of names")
    return found


def _open_name(signature: inspect.Signature) -> str | None:
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            return name
    return None


def _choose_text(signature: inspect.Signature, text: str | None) -> str:
    """Choose the argument that holds the text. Raises ArgumentError when there is none."""
    names = [name for name, p in signature.parameters.items() if p.kind not in _OPEN_ENDED]
    if text is not None:
        if text not in names:
            raise ArgumentError("text", text, f"the function has no such argument: {names}")
        return text
    for name in _TEXT_NAMES:
        if name in names:
            return name
    candidates = [name for name in names if name not in _RECEIVERS]
    if not candidates:
        raise ArgumentError("text", text, "the function takes no argument that could be the text")
    return candidates[0]
