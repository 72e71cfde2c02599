"""How a result says that it ended, and whether that makes it a whole answer.

Decides by what is known to be whole, never by a list of the ways of being cut: providers invent new
ones. Where an object carries several such fields, the first that says something speaks for it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence

from semcache.admit.shape import Layer, field_of, is_filled, layers

__all__ = ["cut_reason", "open_reason"]

_FIELDS = (
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "done_reason",
    "completion_reason",
    "completionReason",
    "stop_type",
)
_END_TYPES = ("response.completed", "completed", "done")
_OPEN = frozenset({"", "null", "none", "unspecified", "not_finished"})
_WHOLE = frozenset(
    "stop stopped stop_sequence stop_string stop_str stop_word stop_token word end ended end_turn "
    "end_of_turn end_of_text end_of_sequence endoftext eos eos_token complete completed completion "
    "finish finished done success succeeded ok normal natural tool_call tool_calls tool_use "
    "function_call function_calls".split()
)
_CUT = {
    "length": "cut off at the length limit",
    "limit": "cut off at the length limit",
    "max_tokens": "cut off at the length limit",
    "max_output_tokens": "cut off at the length limit",
    "max_token": "cut off at the length limit",
    "model_length": "cut off at the length limit",
    "model_context_window_exceeded": "cut off at the length limit",
    "incomplete": "the answer is incomplete",
    "pause_turn": "the answer is incomplete",
    "cancelled": "the answer is incomplete",
    "abort": "the answer is incomplete",
    "insufficient_system_resource": "the answer is incomplete",
    "content_filter": "stopped by a content filter",
    "content_filtered": "stopped by a content filter",
    "safety": "stopped by a content filter",
    "recitation": "stopped by a content filter",
    "blocklist": "stopped by a content filter",
    "prohibited_content": "stopped by a content filter",
    "spii": "stopped by a content filter",
    "image_safety": "stopped by a content filter",
    "guardrail_intervened": "stopped by a content filter",
    "refusal": "stopped by a content filter",
    "malformed_function_call": "the call of a tool is malformed",
    "error": "the provider ended with an error",
    "failed": "the provider ended with an error",
}
"""Words for what is read most often; any other reason that is not whole keeps an answer out too."""
_FAILED = frozenset({"incomplete", "failed", "cancelled", "canceled"})
_PENDING = frozenset({"in_progress", "queued"})
_OF_AN_ANSWER = ("message", "delta", "role", "index", "content", "text", "parts", "output", "usage")
_OF_A_TURN = ("message", "delta", "role", "index")
_CHUNK_TYPES = ("response.", "content_", "message_", "text_delta")
_CHUNK_FIELDS = ("contentBlockDelta", "messageStart")
_FEEDBACKS = (("promptFeedback", "blockReason"), ("prompt_feedback", "block_reason"))
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def cut_reason(value: object, *, chunk: bool = False) -> str | None:
    """Return why a result is not whole; of a chunk of a stream, why no stream with it is.

    >>> cut_reason({"choices": [{"finish_reason": "length"}]})
    'cut off at the length limit (length)'
    >>> cut_reason({"message": {"content": "Li"}, "done": False}, chunk=True) is None
    True
    """
    found = (_layer_reason(layer, chunk=chunk) for layer in layers(value))
    return next(filter(None, found), None)


def open_reason(chunks: Sequence[object]) -> str | None:
    """Return why a stream of these chunks has not come to its end.

    One promises an end whose chunks have the chat shape or carry a field for it, be it empty. Each
    of its choices must have ended.

    >>> open_reason([{"choices": [{"delta": {"content": "a"}}]}])
    'no chunk of the stream carries a finish reason'
    >>> open_reason(["a", "b"]) is None
    True
    """
    promised = any(map(_is_chat_chunk, chunks))
    begun: set[int | None] = set()
    ended: set[int | None] = set()
    for layer in (layer for chunk in chunks for layer in layers(chunk)):
        word = _word_of(layer.value)
        promised = promised or word is not None
        (ended if word else begun).add(layer.seat)
    if promised and not ended:
        return "no chunk of the stream carries a finish reason"
    waiting = sorted(seat for seat in begun - ended if seat is not None)
    if waiting and None not in ended:
        return f"choice {waiting[0]} of the stream carries no finish reason"
    return None


def _layer_reason(layer: Layer, *, chunk: bool) -> str | None:
    value = layer.value
    word = _word_of(value)
    if word in _CUT:
        return f"{_CUT[word]} ({word})"
    if word == "" and not chunk:
        return "the answer has not ended"
    # A stop_reason in data of the caller's own is none of an answer.
    is_ours = layer.depth > 0 or any(field_of(value, name) is not None for name in _OF_AN_ANSWER)
    if word and word not in _WHOLE and is_ours:
        return f"it ended for a reason that is not known to be whole ({word})"
    if (reason := field_of(field_of(value, "incomplete_details"), "reason")) is not None:
        return f"{_CUT.get(_level(reason), _CUT['incomplete'])} ({_level(reason)})"
    if field_of(value, "truncated") is True or field_of(value, "stopped_limit") is True:
        return "cut off at the length limit (truncated)"
    if (status := _status_of(layer)) in _FAILED or (status in _PENDING and not chunk):
        return f"the answer is {status}"
    for name in _FEEDBACKS:
        block = field_of(field_of(value, name[0]), name[1])
        if is_filled(block):
            return f"stopped by a content filter ({block})"
    return None


def _status_of(layer: Layer) -> str | None:
    """The status of a result, or of a part that says what it is; rows of data have theirs too."""
    status = field_of(layer.value, "status")
    if layer.depth > 0 and not isinstance(field_of(layer.value, "type"), str):
        return None
    return status.lower() if isinstance(status, str) else None


def _word_of(value: object) -> str | None:
    """The word by which an object says how it ended: "" while it has not, None if it does not."""
    names = filter(value.__contains__, _FIELDS) if type(value) is dict else _FIELDS
    words = [_level(field_of(value, name)) for name in names if _carries(value, name)]
    if told := next(filter(None, words), None):
        return told
    kind = field_of(value, "type")
    if isinstance(kind, str) and kind in _END_TYPES:
        return "completed"
    if (flag := _flag_of(value)) is not None:
        return "done" if flag else ""
    return "" if words else None


def _flag_of(value: object) -> bool | None:
    """The truth value by which Ollama and Cohere say it; a task that is not done is no answer."""
    for name, beside in (("done", "message"), ("done", "response"), ("is_finished", "text")):
        flag, held = field_of(value, name), field_of(value, beside)
        if isinstance(flag, bool) and held is not None:
            return flag
    return None


def _carries(value: object, name: str) -> bool:
    """Say whether a field is there, empty or not. Objects have fields that nobody filled."""
    if field_of(value, name) is not None:
        return True
    is_there = name in value if isinstance(value, Mapping) else hasattr(type(value), name)
    return is_there and any(field_of(value, part) is not None for part in _OF_A_TURN)


def _level(reason: object) -> str:
    """Bring a reason to one spelling: `MAX_TOKENS`, `maxTokens` and an enum of it are one."""
    inner = field_of(reason, "reason") or field_of(reason, "type")
    if inner is not None:
        reason = inner
    if isinstance(reason, enum.Enum):  # of numbers, as in protocol buffers, its name says more
        reason = reason.value if isinstance(reason.value, str) else reason.name
    text = "" if reason is None else str(reason).rpartition(".")[2]
    text = _CAMEL.sub("_", text.strip()).lower().replace("-", "_")
    text = text.removeprefix("finish_reason_")
    return "" if text in _OPEN else text


def _is_chat_chunk(value: object) -> bool:
    """Say whether a chunk has the chat shape, which ends with a finish reason."""
    if any(isinstance(field_of(value, name), list | tuple) for name in ("choices", "candidates")):
        return True
    if any(field_of(value, name) is not None for name in _CHUNK_FIELDS):
        return True
    kind = field_of(value, "type")
    if not isinstance(kind, str):
        return False
    return kind == "AIMessageChunk" or kind.replace("-", "_").startswith(_CHUNK_TYPES)
