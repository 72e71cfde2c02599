"""Reads the common result shapes: OpenAI chat and responses, Anthropic, Gemini, Bedrock, streams.

A result may be a string, a mapping or an object with attributes; nothing here imports a provider.
It only reads: what follows from what it reads is decided in `response` and `personal`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "answer_text",
    "ends_stream",
    "field_of",
    "finish_reasons",
    "has_tool_calls",
    "is_chat_chunk",
]

_MAX_DEPTH = 8
_TEXT_FIELDS = ("content", "text", "output_text", "refusal")
_CONTAINERS = ("choices", "message", "delta", "content", "parts", "candidates", "output", "results")
_REASON_FIELDS = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason")
_TOOL_FIELDS = ("tool_calls", "function_call", "functionCall", "toolUse", "tool_use")
_TOOL_TYPES = frozenset({"tool_use", "function_call", "tool_call", "custom_tool_call", "toolUse"})
_NESTS = (*_CONTAINERS, "response", "messageStop", "message_delta")


def field_of(value: object, name: str) -> object:
    """Return a mapping's entry or an object's own attribute, None where there is none.

    >>> field_of({"id": 7}, "id")
    7
    """
    if isinstance(value, Mapping):
        return value.get(name)
    if value is None or isinstance(value, str | bytes | int | float | Sequence | type):
        return None
    try:
        found: object = getattr(value, name, None)
    # A property of a foreign object may raise anything; then it has no such field for us.
    except Exception:
        return None
    return None if callable(found) else found


def _items(value: object) -> Sequence[object] | None:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return value
    return None


def answer_text(value: object) -> str:
    """Return the text that a person would read in a result, "" where there is none.

    >>> answer_text({"choices": [{"message": {"role": "assistant", "content": "Hello"}}]})
    'Hello'
    >>> answer_text([{"choices": [{"delta": {"content": "Hel"}}]}, "lo"])
    'Hello'
    """
    return "".join(_texts(value, 0))


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth <= _MAX_DEPTH and value is not None:
        items = _items(value)
        for part in _text_parts(value) if items is None else items:
            yield from _texts(part, depth + 1)


def _text_parts(value: object) -> list[object]:
    """The fields of a mapping or object in which its text lies."""
    delta = field_of(value, "delta")
    if isinstance(delta, str):
        return [delta] if str(field_of(value, "type")).endswith("text.delta") else []
    # A responses object repeats in `output_text` what its `output` holds.
    names = ("output",) if field_of(value, "output") else _TEXT_FIELDS
    parts = [part for name in names if (part := field_of(value, name))]
    if parts:
        return parts
    nested = (field_of(value, name) for name in _CONTAINERS)
    return [part for part in nested if part is not None and not isinstance(part, str)]


def finish_reasons(value: object) -> tuple[str, ...]:
    """Return every finish or stop reason found in a result or a chunk, lower case.

    >>> finish_reasons({"choices": [{"finish_reason": "length"}]})
    ('length',)
    """
    return tuple(_reasons(value, 0))


def _reasons(value: object, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH or value is None or isinstance(value, str | bytes):
        return
    if (items := _items(value)) is not None:
        for item in items:
            yield from _reasons(item, depth + 1)
        return
    for name in _REASON_FIELDS:
        found = field_of(value, name)
        if found is not None and found != "":
            # An enum of a provider's own prints its class before its name.
            yield str(getattr(found, "name", found)).rpartition(".")[2].lower()
    details = field_of(value, "incomplete_details")
    if details is not None and (reason := field_of(details, "reason")):
        yield str(reason).lower()
    for name in _NESTS:
        yield from _reasons(field_of(value, name), depth + 1)


def is_chat_chunk(value: object) -> bool:
    """Say whether a chunk of a stream has the chat shape, which ends with a finish reason.

    >>> is_chat_chunk({"choices": [{"delta": {"content": "a"}}]})
    True
    >>> is_chat_chunk("a")
    False
    """
    if any(_items(field_of(value, name)) is not None for name in ("choices", "candidates")):
        return True
    if any(field_of(value, name) is not None for name in ("contentBlockDelta", "messageStart")):
        return True
    kind = field_of(value, "type")
    return isinstance(kind, str) and kind.startswith(("response.", "content_block_", "message_"))


def ends_stream(value: object) -> bool:
    """Say whether a chunk tells that the answer came to its end.

    >>> ends_stream({"type": "response.completed"})
    True
    """
    return field_of(value, "type") == "response.completed" or bool(finish_reasons(value))


def has_tool_calls(value: object) -> bool:
    """Say whether a result, or any chunk of a stream, asks for a tool to be called.

    Such an answer belongs to the exact request: it goes by the exact tier only.

    >>> has_tool_calls({"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]})
    True
    """
    return _calls_tool(value, 0)


def _calls_tool(value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH or value is None or isinstance(value, str | bytes):
        return False
    if (items := _items(value)) is not None:
        return any(_calls_tool(item, depth + 1) for item in items)
    if field_of(value, "type") in _TOOL_TYPES or any(field_of(value, n) for n in _TOOL_FIELDS):
        return True
    nests = (*_NESTS, "content_block")
    return any(_calls_tool(field_of(value, name), depth + 1) for name in nests)
