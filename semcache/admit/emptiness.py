"""Whether an answer holds nothing.

Decides what a reader would find: a whole web of empty fields is empty, a number never is. A result
of a provider's shape is empty if it has no text, no call of a tool and no picture or sound.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set

from semcache.admit.shape import answer_text, field_of, has_tool_calls, is_filled, layers
from semcache.text.normalize import is_blank

__all__ = ["is_empty"]

_MAX_DEPTH = 8
_TEXT_FIELDS = ("text", "content", "answer", "output", "output_text", "result", "response")
_ASSISTANTS = frozenset({"ai", "AIMessage", "AIMessageChunk", "assistant", "message"})
_MEDIA = (
    "audio",
    "image",
    "images",
    "image_url",
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "source",
    "parsed",
    "reasoning_content",
    "result",
    "b64_json",
)


def is_empty(value: object) -> bool:
    """Say whether an answer holds nothing. 0 and False hold something; so does a tool call.

    >>> [is_empty(value) for value in (None, "", "  ", [], {}, 0, False)]
    [True, True, True, True, True, False, False]
    >>> is_empty({"answer": "", "sources": []}), is_empty({"answer": "", "count": 0})
    (True, False)
    """
    return _is_empty(value, 0)


def _is_empty(value: object, depth: int) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return is_blank("".join(filter(str.isprintable, value)))
    if isinstance(value, bytes | bytearray):
        return not value.strip()
    if _is_number(value) or depth > _MAX_DEPTH:
        return False
    if _has_answer_shape(value):
        return _is_hollow(value)
    if isinstance(value, Sequence | Set):
        return all(_is_empty(item, depth + 1) for item in value)
    fields = _fields(value)
    if fields is None:
        return False
    # Beside a text that is there and says nothing, a flag says nothing either.
    mute = any(name in fields and _is_empty(fields[name], depth + 1) for name in _TEXT_FIELDS)
    return all(
        _is_empty(item, depth + 1) or (mute and isinstance(item, bool)) for item in fields.values()
    )


def _fields(value: object) -> dict[object, object] | None:
    """Give what a mapping, dataclass or model holds; None for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        names = list(getattr(type(value), "model_fields", ()))
    return {name: field_of(value, name) for name in names} if names else None


def _has_answer_shape(value: object) -> bool:
    if _is_list(value):
        parts = [part for part in _parts(value) if not isinstance(part, str)]
        return any(map(_has_answer_shape, parts)) and not any(map(_is_number, parts))
    if any(_is_list(field_of(value, name)) for name in ("choices", "candidates")):
        return True
    for name in ("message", "delta"):
        if (inner := field_of(value, name)) is not None and not isinstance(inner, str):
            return True
    if isinstance(field_of(value, "output_text"), str):
        return True
    told = field_of(value, "role") or field_of(value, "stop_reason")
    kind = field_of(value, "type")
    is_turn = told is not None or (isinstance(kind, str) and kind in _ASSISTANTS)
    return is_turn and field_of(value, "content") is not None


def _parts(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _is_hollow(value: object) -> bool:
    if not is_blank(answer_text(value)) or has_tool_calls(value):
        return False
    held = (field_of(layer.value, name) for layer in layers(value) for name in _MEDIA)
    return not any(map(is_filled, held))
