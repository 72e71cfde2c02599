"""What a prompt says: its earlier turns, its text, and what else its last message holds.

Reads the shapes of all providers, as dicts and as objects. Rules:
  1. A message is known by its fields; an object whose fields name no role, by its class.
  2. Ids of messages and of tool calls count by position; every other field counts by value.
  3. What a provider reported of an earlier answer (counts, fingerprints) is no part of a message.
  4. A last message that holds anything but a user's text is compared by value only.
Nothing here makes keys, and the caller's own objects are never changed.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeGuard

from semcache.canonical_objects import attributes_of, class_name
from semcache.decision import Reason

__all__ = ["Reading", "holds_content", "read_prompt", "read_turns"]

_USER_ROLES: Final = frozenset({"user", "human"})
_ANSWER_ROLES: Final = frozenset({"assistant", "ai", "aimessagechunk"})
_INSTRUCTIONS: Final = frozenset({"system", "developer"})
_RESULT_ROLES: Final = frozenset({"tool", "function"})
_NO_QUESTION: Final = _ANSWER_ROLES | _INSTRUCTIONS | _RESULT_ROLES | {"model"}
_SPEAKERS: Final = _USER_ROLES | _NO_QUESTION
_BODIES: Final = ("messages", "contents", "input")
_CONTENT: Final = ("content", "parts")
_TEXT_TYPES: Final = frozenset({None, "text", "input_text"})
_TEXT_KEYS: Final = frozenset({"type", "text"})
_LINKS: Final = frozenset({"toolcallid", "tooluseid", "callid", "approvalrequestid"})
_CALLS: Final = ("tooluse", "toolcall", "toolresult", "functioncall", "functionresponse")
_CALL_TYPES: Final = (*_CALLS, "calloutput", "approvalrequest", "approvalresponse")
_REPORTS: Final = frozenset({"response_metadata", "usage_metadata"})
_REFERENCE: Final = frozenset({"type", "id", "status"})


class Reading(NamedTuple):
    """What a prompt says. `text` is there for the gate also where only equality counts."""

    history: list[Any]
    text: str
    rest: object = None
    exact_only: Reason | None = None

    @property
    def has_history(self) -> bool:
        """Whether there are earlier turns; a system prompt alone is none."""
        return any(_role(message) not in _INSTRUCTIONS for message in self.history)


class _Position(NamedTuple):
    """Stands for an id: which of all ids it is, by first appearance."""

    number: int


def read_prompt(prompt: object) -> Reading:
    """Read a text, a list of messages, one message, or a request body that holds messages."""
    if isinstance(prompt, str):
        return Reading([], prompt)
    body = _body(prompt)
    if body is not None:
        name, inside, others = body
        reading = read_prompt(inside)
        beside = Reason.NOT_TEXT if holds_content(others) else None
        return reading._replace(
            rest=[name, others, reading.rest], exact_only=reading.exact_only or beside
        )
    messages = _messages(prompt)
    if messages is None:
        return Reading([], _visible_text(prompt), ["value", prompt], Reason.NOT_TEXT)
    *history, last = _by_position(messages)
    texts = _texts(last)
    if not texts:
        reason = Reason.NOT_TEXT if _is_user(last) else Reason.NOT_A_QUESTION
        shown = "" if _has_role(last, _NO_QUESTION) else _visible_text(_parts(last))
        return Reading(history, shown, ["message", last], reason)
    extras = _extras(last)
    *earlier, text = texts
    rest = [extras, earlier] if earlier else extras or None
    attached = any(map(_is_attachment, extras.values()))
    return Reading(history, text, rest, Reason.NOT_TEXT if attached else None)


def read_turns(value: object) -> object:
    """Give an argument that holds earlier turns as they count; any other as it is."""
    if not _is_list(value) or not value:
        return value
    turns = _messages(value)
    spoken = turns is not None and any(_has_role(turn, _SPEAKERS) for turn in turns)
    return _by_position(turns) if turns and spoken else value


def holds_content(value: object) -> bool:
    """Say whether bytes, an array, an image or a data URL is somewhere in a value.

    >>> holds_content({"files": [b"GIF89a"]}), holds_content({"top_p": 0.5})
    (True, False)
    """
    if isinstance(value, str):
        return value.startswith("data:")
    if isinstance(value, Mapping):
        return any(map(holds_content, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_content, value))
    return isinstance(value, bytes | bytearray | memoryview) or (
        not isinstance(value, int | float) and hasattr(value, "__array_interface__")
    )


def _body(prompt: object) -> tuple[str, list[Any], dict[str, Any]] | None:
    """Give the messages of a request body, and what else it says."""
    fields = _fields(prompt)
    if fields is None or any(name in fields for name in ("role", *_CONTENT)):
        return None
    for name in _BODIES:
        if isinstance(fields.get(name), list) and _messages(fields[name]) is not None:
            inside = fields.pop(name)
            named = {} if isinstance(prompt, Mapping) else {class_name(type(prompt)): None}
            return name, inside, fields | named
    return None


def _messages(prompt: object) -> list[dict[str, Any]] | None:
    if isinstance(prompt, str | bytes | bytearray):
        return None
    items = prompt if isinstance(prompt, Sequence) else [prompt]
    found = [_message(item) for item in items]
    kept = [message for message in found if message is not None]
    return kept if kept and len(kept) == len(found) else None


def _message(item: object) -> dict[str, Any] | None:
    """Give a message as a plain dict: mappings, objects of SDKs, and (role, content) pairs."""
    match item:
        case Mapping():
            return dict(item)
        case (str() as role, str() as content):
            return {"role": role, "content": content}
    fields = _fields(item)
    if fields is None and isinstance(getattr(item, "role", None), str):
        fields = {"content": getattr(item, "content", None), **attributes_of(item)}
    if fields is None or not any(name in fields for name in ("role", *_CONTENT)):
        return None
    speaker = fields.get("role", getattr(item, "role", None))
    if speaker is None and "type" not in fields:
        speaker = getattr(item, "type", class_name(type(item)))
    return fields if speaker is None else {"role": speaker, **fields}


def _part(item: object) -> object:
    """Give a part of a message as a plain dict; one that names no type by its class."""
    if isinstance(item, Mapping):
        return item
    fields = _fields(item)
    if fields is None or "type" in fields or fields.keys() == {"text"}:
        return item if fields is None else fields
    return {"type": getattr(item, "type", class_name(type(item))), **fields}


def _fields(item: object) -> dict[str, Any] | None:
    """Give the fields of a mapping, or those that are set of a pydantic model or a dataclass."""
    if isinstance(item, Mapping):
        return dict(item)
    kind = type(item)
    if hasattr(kind, "model_fields"):
        fields = {name: getattr(item, name) for name in kind.model_fields}
        for more in ("model_extra", "__pydantic_private__"):
            fields |= getattr(item, more, None) or {}
    elif dataclasses.is_dataclass(kind):
        fields = {field.name: getattr(item, field.name) for field in dataclasses.fields(kind)}
        fields = attributes_of(item) | fields
    else:
        return None
    return {name: value for name, value in fields.items() if value is not None}


def _role(message: Mapping[str, Any]) -> Any:
    return message.get("role", message.get("type"))


def _has_role(message: Mapping[str, Any], roles: frozenset[str]) -> bool:
    role = _role(message)
    return isinstance(role, str) and role.lower() in roles


def _is_user(message: Mapping[str, Any]) -> bool:
    """Say whether a user speaks. A turn without a role is a user's."""
    unsaid = _role(message) is None and any(name in message for name in _CONTENT)
    return unsaid or _has_role(message, _USER_ROLES)


def _parts(message: Mapping[str, Any]) -> Any:
    return message.get("content", message.get("parts"))


def _texts(message: Mapping[str, Any]) -> list[str]:
    """Give the texts of a user message; none if it holds anything else."""
    parts = _parts(message)
    if not _is_user(message):
        return []
    if isinstance(parts, str):
        return [parts]
    if not isinstance(parts, Sequence):
        return []
    texts = [_part_text(part) for part in parts]
    known = [text for text in texts if text is not None]
    return known if len(known) == len(texts) else []


def _extras(message: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a user's plain text has beside role and content; most often nothing."""
    said = {"role", "content" if "content" in message else "parts"}
    if "role" not in message or message.get("type") == "message":
        said.add("type")
    return {name: value for name, value in message.items() if name not in said}


def _is_attachment(value: object) -> bool:
    """Say whether a field beside the text holds files, where some providers put them."""
    return (_is_list(value) and bool(value)) or holds_content(value)


def _visible_text(parts: object) -> str:
    """Give the texts among parts that are not all text, for the gate to read."""
    if isinstance(parts, str):
        return parts
    return "\n".join(filter(None, map(_part_text, parts))) if _is_list(parts) else ""


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") in _TEXT_TYPES and set(part) <= _TEXT_KEYS:
        text = part.get("text")
        return text if isinstance(text, str) else None
    return None


def _by_position(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replace ids of messages and of tool calls by the order of their first appearance."""
    seen: dict[Any, _Position] = {}
    return [_without_ids(message, seen, is_call=False) for message in messages]


def _without_ids(item: Mapping[str, Any], seen: dict[Any, _Position], *, is_call: bool) -> Any:
    """Copy a message, part or call; only ids that link or name it are replaced, never content.

    Names are read in one order, so that the order of a dict's keys gives no id its number.
    """
    is_message = "role" in item or "content" in item
    links = is_call or _is_call_type(item.get("type")) or _has_role(item, _RESULT_ROLES)
    is_call = is_call or (links and not is_message and not item.keys() <= _REFERENCE)
    is_linked = any(_flat(name) in _LINKS for name in item)
    reports = _REPORTS if _has_role(item, _ANSWER_ROLES) else frozenset()
    out: dict[str, Any] = {}
    for name, value in sorted(item.items(), key=lambda pair: str(pair[0])):
        if name in reports or (name == "id" and (is_message or (is_call and is_linked))):
            continue
        if (links and _flat(name) in _LINKS) or (name == "id" and is_call):
            out[name] = _position(value, seen)
        elif name in ("tool_calls", *_CONTENT) and _is_list(value):
            out[name] = [_inner(part, seen, is_call=name == "tool_calls") for part in value]
        elif isinstance(value, Mapping) and _flat(name) in (*_CALLS, "additionalkwargs"):
            out[name] = _without_ids(value, seen, is_call=_flat(name) in _CALLS)
        else:
            out[name] = value
    return out


def _inner(part: object, seen: dict[Any, _Position], *, is_call: bool) -> object:
    part = _part(part)
    if not isinstance(part, Mapping):
        return part
    nested = any(_flat(name) in _CALLS for name in part)
    if is_call or nested or _is_call_type(part.get("type")):
        return _without_ids(part, seen, is_call=is_call)
    return part


def _is_call_type(kind: object) -> bool:
    if not isinstance(kind, str):
        return False
    named = kind.endswith("_call") or kind.startswith("tool-")
    return named or _flat(kind).endswith(_CALL_TYPES)


@lru_cache(maxsize=1024)
def _flat(name: object) -> str:
    """Level the ways of writing one name: tool_call_id, toolCallId, tool-call-id."""
    return str(name).replace("_", "").replace("-", "").lower()


def _position(value: object, seen: dict[Any, _Position]) -> object:
    if not isinstance(value, str | int | uuid.UUID):
        return value
    return seen.setdefault((type(value), value), _Position(len(seen)))


def _is_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)
