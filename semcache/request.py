"""What identifies a call: its scope digest, its text, and the exact key made of both.

Scope is all that must be identical: namespace, model, parameters, tools, system prompt, every
earlier turn, extras. Text is the last user message, as `messages` reads it. Rules:
  1. A plain string, one user message and one text part with that string are the same request.
  2. A request whose last message is not a user's plain text, or is blank or longer than
     LONGEST_COMPARED, or that comes with bytes, an array or an image, goes by the exact tier only.
  3. What has no stable form raises ValueFormError; the caller turns it into a Bypass.
Nothing here looks anything up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from semcache.canonical import canonical_bytes, digest, plain_text
from semcache.decision import Reason
from semcache.errors import ValueFormError
from semcache.messages import Reading, holds_content, read_prompt, read_turns
from semcache.sampling import has_sample_number, temperature_of
from semcache.text.normalize import Form, is_blank, normalize, normalizer_name

__all__ = ["LONGEST_COMPARED", "Identity", "Messages", "Request", "ask_rule"]

Messages = str | Sequence[Any] | Mapping[str, Any]
"""A prompt, a list of chat messages of any provider's shape, or one message."""

LONGEST_COMPARED: Final = 20_000
"""Characters of a text that is still compared with others. To level, shingle and judge a text costs
12 us a character, all of it being read: a quarter of a second here, 12 s for a megabyte."""


@dataclass(frozen=True, slots=True)
class Request:
    """One LLM call as the cache sees it.

    `key` (16 bytes) is the digest of `scope` (16 bytes) and `text`. `exact_only` is the reason why
    only the exact tier may answer, if there is one.
    """

    key: bytes
    scope: bytes
    namespace: str
    model: str | None
    text: str
    exact_only: Reason | None = None
    turns: int = 1
    temperature: float | None = None
    sample: bool = False
    """A sample number was given: each sample is a request of its own, whatever the temperature."""
    has_history: bool = False
    """Earlier turns are part of the scope; a system prompt alone is none."""


class Identity:
    """Reads requests under one choice of normaliser and core, whose names are in every scope.

    Args:
        normalize: "safe", "loose" or a module-level callable from text to text.
        core: a module-level callable that takes the part of the text that is embedded.
        view: a module-level callable from messages to the messages that identify the call.
    """

    def __init__(
        self,
        normalize: Form = "safe",
        core: Callable[[str], str] | None = None,
        view: Callable[[Any], Any] | None = None,
    ) -> None:
        self._normalize = normalize
        self._view = view
        own = {"normalize": normalize, "core": core, "view": view}
        names = [None if f is None else normalizer_name(f, option) for option, f in own.items()]
        self._names = canonical_bytes([names, [f if callable(f) else None for f in own.values()]])
        self._plain_scopes: dict[tuple[str, str | None], bytes] = {}

    def read(
        self,
        prompt: Messages,
        *,
        model: Any = None,
        namespace: str = "default",
        scope: object = None,
        params: Mapping[str, Any] | None = None,
    ) -> Request:
        """Read one call. Raises ValueFormError when a part of it has no stable form."""
        if self._view is not None:
            prompt = ask_rule("view", self._view, prompt)
        namespace = plain_text(namespace)
        model = plain_text(model) if isinstance(model, str) else model
        reading = read_prompt(prompt)
        text = plain_text(reading.text)
        if not isinstance(self._normalize, str):
            text = ask_rule("normalize", normalize, text, self._normalize)
        else:
            text = normalize(text, self._normalize)
        exact_only = reading.exact_only or _why_exact_only(text)
        if exact_only is None and holds_content(params):
            exact_only = Reason.NOT_TEXT
        arguments = {name: read_turns(value) for name, value in (params or {}).items()}
        scope_digest = self._scope(namespace, model, reading, scope, arguments)
        return Request(
            key=digest(scope_digest, text.encode("utf-8", "surrogatepass")),
            scope=scope_digest,
            namespace=namespace,
            model=model if model is None or isinstance(model, str) else type(model).__name__,
            text=text,
            exact_only=exact_only,
            turns=len(reading.history) + 1,
            temperature=temperature_of(params or {}),
            sample=has_sample_number(params or {}),
            has_history=reading.has_history,
        )

    def _scope(
        self,
        namespace: str,
        model: Any,
        reading: Reading,
        scope: object,
        params: Mapping[str, Any],
    ) -> bytes:
        plain = not reading.history and reading.rest is None and scope is None and not params
        if plain and (model is None or type(model) is str):
            known = self._plain_scopes.get((namespace, model))
            if known is not None:
                return known
        made = digest(
            self._names,
            canonical_bytes(namespace),
            canonical_bytes(model),
            canonical_bytes(reading.history),
            canonical_bytes(reading.rest),
            canonical_bytes(scope),
            canonical_bytes(params),
        )
        if plain and type(model) in (str, type(None)) and len(self._plain_scopes) < 4096:
            self._plain_scopes[(namespace, model)] = made
        return made


def _why_exact_only(text: str) -> Reason | None:
    """Say why a text is not compared with others, if so."""
    if is_blank(text):
        return Reason.BLANK_TEXT
    return Reason.TOO_LONG if len(text) > LONGEST_COMPARED else None


def ask_rule(option: str, rule: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a rule of the user's: what it raises becomes a ValueFormError that names the option."""
    try:
        return rule(*args, **kwargs)
    except Exception as error:
        raise ValueFormError(f"{option}: {type(error).__name__}: {error}") from error
