"""Reads the common result shapes: OpenAI chat and responses, Anthropic, Gemini, Bedrock, streams.

A result may be a string, a mapping or an object with attributes; nothing here imports a provider.
It only reads: what follows from what it reads is decided in its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Layer", "answer_text", "field_of", "has_tool_calls", "is_filled", "layers"]

_MAX_DEPTH = 8
_MOST_LAYERS = 100_000
_TEXT_FIELDS = ("content", "text", "output_text", "refusal")
_CONTAINERS = ("choices", "message", "delta", "content", "parts", "candidates", "output", "results")
_TOOL_FIELDS = ("tool_calls", "function_call", "functionCall", "toolUse", "tool_use")
_TOOL_TYPES = frozenset({"tool_use", "function_call", "tool_call", "custom_tool_call", "toolUse"})
_SEATED = ("choices", "candidates")
_NESTS = (
    *_CONTAINERS,
    "response",
    "result",
    "outputs",
    "item",
    "body",
    "messages",
    "messageStop",
    "message_delta",
    "content_block",
    "generations",
    "completions",
    "generation_info",
    "response_metadata",
    "details",
    "meta",
)


class Layer(NamedTuple):
    """One object of a result in which a provider may say something of the answer.

    `depth` is 0 for the result itself and for the items of a list; `seat` is the number of the
    choice that it belongs to, if it belongs to one.
    """

    value: object
    depth: int
    seat: int | None


def field_of(value: object, name: str) -> object:
    """Return a mapping's entry or an object's own attribute, None where there is none.

    >>> field_of({"id": 7}, "id")
    7
    """
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(name)
    if value is None or isinstance(value, str | bytes | int | float | Sequence | type):
        return None
    try:
        found: object = getattr(value, name, None)
    # A property of a foreign object may raise anything; then it has no such field for us.
    except Exception:
        return None
    return None if callable(found) else found


def is_filled(value: object) -> bool:
    """Say whether a field holds anything, for values of any library: an array has no truth."""
    if value is None or value is False:
        return False
    return not isinstance(value, str | bytes | int | float | Sequence | Mapping) or bool(value)


def layers(value: object) -> Iterator[Layer]:
    """Give a result and all that it nests, outermost first. Texts and numbers are no layers.

    >>> [seen.seat for seen in layers({"choices": [{"index": 1, "delta": {}}]})]
    [None, 1, 1]
    """
    return _layers(value, 0, None, {})


def _layers(
    value: object, depth: int, seat: int | None, seen: dict[int, object]
) -> Iterator[Layer]:
    if value is None or isinstance(value, str | bytes | int | float):
        return
    if (items := _items(value)) is not None:
        for item in items:
            yield from _layers(item, depth, seat, seen)
        return
    # Some objects have any field they are asked for: themselves, or one more of their kind.
    if depth > _MAX_DEPTH or id(value) in seen or (depth and len(seen) > _MOST_LAYERS):
        return
    seen[id(value)] = value
    yield Layer(value, depth, seat)
    for name in filter(value.__contains__, _NESTS) if type(value) is dict else _NESTS:
        found = field_of(value, name)
        if name not in _SEATED or (items := _items(found)) is None:
            yield from _layers(found, depth + 1, seat, seen)
            continue
        for place, item in enumerate(items):
            index = field_of(item, "index")
            seated = index if isinstance(index, int) else place
            yield from _layers(item, depth + 1, seated, seen)


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
    names = ("output",) if is_filled(field_of(value, "output")) else _TEXT_FIELDS
    parts = [part for name in names if is_filled(part := field_of(value, name))]
    if parts:
        return parts
    nested = (field_of(value, name) for name in _CONTAINERS)
    return [part for part in nested if part is not None and not isinstance(part, str)]


def has_tool_calls(value: object) -> bool:
    """Say whether a result, or any chunk of a stream, asks for a tool to be called.

    Such an answer belongs to the exact request: it goes by the exact tier only.

    >>> has_tool_calls({"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]})
    True
    """
    return any(map(_calls_tool, layers(value)))


def _calls_tool(layer: Layer) -> bool:
    kind = field_of(layer.value, "type")
    if isinstance(kind, str) and kind in _TOOL_TYPES:
        return True
    return any(is_filled(field_of(layer.value, name)) for name in _TOOL_FIELDS)
