"""Answers that are still text from the wire: server-sent events, JSON lines, a body of JSON.

Decides when a text is such a thing and gives the objects in it, so that a proxy's raw answer is
judged as the parsed one would be. JSON that a model wrote as its answer stays a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["Sent", "sent"]

_FIELDS = ("data:", "event:", "id:", "retry:", ":")
_OF_A_PROVIDER = frozenset(
    "choices candidates generations completions stop_reason stopReason finish_reason done "
    "generated_text delta".split()
)


class Sent(NamedTuple):
    """What a text from the wire says: its objects, and whether they are the chunks of a stream."""

    objects: list[object]
    streamed: bool


def sent(parts: Sequence[object]) -> Sent | None:
    """Give the objects that texts from the wire are made of; None if they are something else.

    The texts may be cut anywhere. What cannot be read any more, a torn end, is left out.

    >>> sent(['data: {"choices": [], ', '"id": 1}', chr(10), "data: [DONE]"])
    Sent(objects=[{'choices': [], 'id': 1}], streamed=True)
    >>> sent(['{"verdict": "error"}']) is None
    True
    """
    text = _joined(parts).lstrip("\ufeff \t\r\n")
    if text.startswith(_FIELDS):
        return _sent(_events(text), streamed=True)
    if text.startswith(("{", "[")):
        found = _bodies(text)
        return _sent(found, streamed=len(found) > 1)
    return None


def _sent(found: list[Mapping[str, object]], *, streamed: bool) -> Sent | None:
    return Sent(list(found), streamed) if found else None


def _joined(parts: Sequence[object]) -> str:
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    if all(isinstance(part, bytes | bytearray) for part in parts):
        return b"".join(
            bytes(part) for part in parts if isinstance(part, bytes | bytearray)
        ).decode("utf-8", "replace")
    return ""


def _events(text: str) -> list[Mapping[str, object]]:
    lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return [body for line in lines if isinstance(body := _parse(line), Mapping)]


def _bodies(text: str) -> list[Mapping[str, object]]:
    whole = _parse(text)
    if isinstance(whole, Mapping):
        found = [whole]
    elif isinstance(whole, list):
        found = [item for item in whole if isinstance(item, Mapping)]
    else:
        parsed = map(_parse, text.splitlines())
        found = [item for item in parsed if isinstance(item, Mapping)]
    return found if any(map(_is_of_a_provider, found)) else []


def _is_of_a_provider(body: Mapping[str, object]) -> bool:
    failed = isinstance(body.get("error"), Mapping) or body.get("type") == "error"
    return failed or not _OF_A_PROVIDER.isdisjoint(body)


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # a text like any other, or one that was cut
        return None
