"""What identifies a call: its scope digest, its text, and the exact key made of both.

Scope is all that must be identical: namespace, model, parameters, tools, system prompt, every
earlier turn, extras. Text is the last user message. Rules:
  1. A plain string, one user message and one text part with that string are the same request.
  2. Ids of messages and tool calls count by position; every other field counts by value.
  3. A request whose last message is not a user's plain text, or is blank or longer than
     LONGEST_COMPARED, goes by the exact tier only.
  4. What has no stable form raises ValueFormError; the caller turns it into a Bypass.
Nothing here looks anything up, and the caller's own objects are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from semcache.canonical import canonical_bytes, digest, plain_text
from semcache.decision import Reason
from semcache.errors import ValueFormError
from semcache.sampling import has_sample_number, temperature_of
from semcache.text.normalize import Form, is_blank, normalize, normalizer_name

__all__ = ["LONGEST_COMPARED", "Identity", "Messages", "Request", "ask_rule"]

Messages = str | Sequence[Any] | Mapping[str, Any]
"""A prompt, a list of chat messages of any provider's shape, or one message."""

LONGEST_COMPARED: Final = 20_000
"""Characters of a text that is still compared with others. To level, shingle and judge a text costs
12 us a character, all of it being read: a quarter of a second here, 12 s for a megabyte."""

_USER_ROLES: Final = frozenset({"user", "human"})
_INSTRUCTIONS: Final = frozenset({"system", "developer"})
_TEXT_PARTS: Final = frozenset({None, "text", "input_text"})
_CALL_IDS: Final = frozenset({"tool_call_id", "tool_use_id", "call_id", "toolUseId"})
_NESTED_CALLS: Final = frozenset(
    {"toolUse", "toolResult", "function_call", "functionCall", "function_response"}
)


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
        if isinstance(prompt, str):
            history: list[Any] = []
            text, rest, exact_only = prompt, None, None
        else:
            history, text, rest, exact_only = _split(prompt)
        text = plain_text(text)
        if not isinstance(self._normalize, str):
            text = ask_rule("normalize", normalize, text, self._normalize)
        else:
            text = normalize(text, self._normalize)
        if exact_only is None:
            exact_only = _why_exact_only(text)
        scope_digest = self._scope(namespace, model, history, rest, scope, params or {})
        return Request(
            key=digest(scope_digest, text.encode("utf-8", "surrogatepass")),
            scope=scope_digest,
            namespace=namespace,
            model=model if model is None or isinstance(model, str) else type(model).__name__,
            text=text,
            exact_only=exact_only,
            turns=len(history) + 1,
            temperature=temperature_of(params or {}),
            sample=has_sample_number(params or {}),
            has_history=any(_role(message) not in _INSTRUCTIONS for message in history),
        )

    def _scope(
        self,
        namespace: str,
        model: Any,
        history: list[Any],
        rest: Any,
        scope: object,
        params: Mapping[str, Any],
    ) -> bytes:
        plain = not history and rest is None and scope is None and not params
        if plain and (model is None or type(model) is str):
            known = self._plain_scopes.get((namespace, model))
            if known is not None:
                return known
        made = digest(
            self._names,
            canonical_bytes(namespace),
            canonical_bytes(model),
            canonical_bytes(history),
            canonical_bytes(rest),
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


def _split(prompt: object) -> tuple[list[Any], str, Any, Reason | None]:
    """Split a prompt into history, text, what else the last message holds, and the exact-only mark.

    For a plain user text the last message leaves no rest, so that it equals the bare string.
    """
    messages = _messages(prompt)
    if messages is None:
        return [], "", ["value", prompt], Reason.NOT_TEXT
    *history, last = _by_position(messages)
    text, rest = _last_text(last)
    if text is None:
        reason = Reason.NOT_TEXT if _is_user(last) else Reason.NOT_A_QUESTION
        return history, _visible_text(last), ["message", last], reason
    return history, text, rest, None


def _messages(prompt: object) -> list[dict[str, Any]] | None:
    if isinstance(prompt, Mapping):
        prompt = [prompt]
    if not isinstance(prompt, Sequence) or isinstance(prompt, str | bytes | bytearray):
        return None
    found = [_message(item) for item in prompt]
    kept = [message for message in found if message is not None]
    return kept if kept and len(kept) == len(found) else None


def _message(item: object) -> dict[str, Any] | None:
    """Give a message as a plain dict: mappings, models of SDKs, and (role, content) pairs."""
    if isinstance(item, Mapping):
        return dict(item)
    dump = getattr(item, "model_dump", None)
    if callable(dump):
        message = dict(dump(exclude_none=True))
        # Without a role it is the class that says who speaks, so it counts as the object it is.
        return message if _role(message) is not None else None
    match item:
        case (str() as role, str() as content):
            return {"role": role, "content": content}
    return None


def _role(message: Mapping[str, Any]) -> Any:
    return message.get("role", message.get("type"))


def _is_user(message: Mapping[str, Any]) -> bool:
    role = _role(message)
    return isinstance(role, str) and role.lower() in _USER_ROLES


def _last_text(message: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Give the text of a user message and what else it holds; (None, None) if it is not text."""
    field = "content" if "content" in message else "parts"
    parts = message.get(field)
    extras = {k: v for k, v in message.items() if k not in ("role", field)}
    if extras.get("type") == "message" or "role" not in message:
        extras.pop("type", None)
    if not _is_user(message) or parts is None:
        return None, None
    if isinstance(parts, str):
        return parts, extras or None
    if not isinstance(parts, Sequence) or not parts:
        return None, None
    texts = [_part_text(part) for part in parts]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None, None
    if len(known) == 1:
        return known[0], extras or None
    return known[-1], [extras, known[:-1]]


def _visible_text(message: Mapping[str, Any]) -> str:
    """Give the text parts of a user message that also holds other parts, for the gate to read."""
    parts = message.get("content", message.get("parts"))
    if not _is_user(message) or not _is_list(parts):
        return ""
    return "\n".join(filter(None, map(_part_text, parts or ())))


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS and set(part) <= _TEXT_KEYS:
        text = part.get("text")
        return text if isinstance(text, str) else None
    return None


_TEXT_KEYS: Final = frozenset({"type", "text"})


def _by_position(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replace ids of messages and of tool calls by the order of their first appearance."""
    seen: dict[Any, int] = {}
    return [_without_ids(message, seen, is_message=True) for message in messages]


def _without_ids(item: Mapping[str, Any], seen: dict[Any, int], *, is_message: bool) -> Any:
    """Copy a message, part or call; only ids that link or name it are replaced, never content."""
    is_call = _is_call(item.get("type"))
    links = is_call or not is_message or _is_call(_role(item))
    out: dict[str, Any] = {}
    for name, value in item.items():
        if (name in _CALL_IDS and links) or (name == "id" and not is_message):
            out[name] = _ordinal(value, seen)
        elif name == "id" and ("role" in item or "content" in item or is_call):
            continue
        elif name in ("tool_calls", "content", "parts") and _is_list(value):
            out[name] = [_inner(part, seen, call=name == "tool_calls") for part in value]
        elif name in _NESTED_CALLS and isinstance(value, Mapping):
            out[name] = _without_ids(value, seen, is_message=False)
        else:
            out[name] = value
    return out


def _is_call(kind: object) -> bool:
    """Say whether a role or a type is that of a call of a tool, or of its result."""
    return "tool" in str(kind) or "function" in str(kind) or "_call" in str(kind)


def _inner(part: object, seen: dict[Any, int], *, call: bool) -> object:
    dump = getattr(part, "model_dump", None)
    if callable(dump):
        part = dump(exclude_none=True)
    if not isinstance(part, Mapping):
        return part
    kind = str(part.get("type"))
    if call or "tool" in kind or _NESTED_CALLS & part.keys():
        return _without_ids(part, seen, is_message=False)
    return part


def _ordinal(value: object, seen: dict[Any, int]) -> object:
    if not isinstance(value, str | int):
        return ["value", value]
    return ["call", seen.setdefault(value, len(seen))]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
