"""Decides whether an answer may be stored: not when empty, cut off, flagged as an error, refused.

It looks at the answer only, never at the request, and changes nothing. An answer that is not
stored is still handed to the caller. The reason comes back as text, None means "store it".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from semcache.admit.shape import (
    answer_text,
    ends_stream,
    field_of,
    finish_reasons,
    has_tool_calls,
    is_chat_chunk,
)

__all__ = ["Admission", "answer_text", "has_tool_calls", "is_refusal"]

_CUT = {
    "length": "cut off at the length limit",
    "max_tokens": "cut off at the length limit",
    "max_output_tokens": "cut off at the length limit",
    "max_token": "cut off at the length limit",
    "model_length": "cut off at the length limit",
    "model_context_window_exceeded": "cut off at the length limit",
    "incomplete": "the answer is incomplete",
    "pause_turn": "the answer is incomplete",
    "cancelled": "the answer is incomplete",
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
    "malformed_function_call": "the call of a tool is malformed",
    "error": "the provider ended with an error",
    "failed": "the provider ended with an error",
}
_UNFINISHED = frozenset({"incomplete", "failed", "cancelled", "canceled", "in_progress", "queued"})
_BAD_WORDS = frozenset({"error", "failed", "failure", "fail", "timeout", "exception"})
_COMPLAINTS = ("error", "errors", "error_message", "message", "reason", "detail", "code")
_REFUSAL_CHARS = 400
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:very |really |so |truly )?(?:sorry|afraid)\b.{0,40}\b(?:can(?:'t|not)|"
    r"unable|won't|not able|not allowed|don't)\b|i (?:can(?:'t|not)|won't|will not|"
    r"am (?:not able|unable)|must decline)\b(?: to)? (?:help|assist|comply|provide|fulfil|fulfill|"
    r"do that|answer|create|generate|write|support|engage|continue|participate|discuss|share)|"
    r"i(?:'m| am) (?:unable|not able) to (?:help|assist|comply|provide|fulfill?|answer|create|"
    r"generate|write|discuss|share)|i (?:have|need) to (?:decline|refuse)|as an ai\b.{0,60}\b"
    r"(?:can(?:'t|not)|unable|not able)|(?:this|your) (?:request|content) (?:violates|goes against)"
    r"|"
    r"against my (?:guidelines|policy|programming))",
    re.IGNORECASE,
)
_REFUSAL_ZH = re.compile(
    r"(?:抱歉|对不起|很遗憾|不好意思).{0,15}(?:无法|不能|不可以|没法|没有办法|不便|不会)|"
    r"我(?:无法|不能|不便)(?:为您|为你|向您|向你|协助|帮助|提供|回答|满足|完成|继续|参与|讨论|"
    r"生成|给出)|(?:作为|身为)(?:一个|一名)?(?:ai|人工智能|语言模型).{0,30}(?:无法|不能)|"
    r"(?:该|此|这个|您的|你的)(?:请求|问题|内容).{0,10}(?:违反|不符合|违规)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Admission:
    """What may be stored.

    `store_empty` admits None, "", blank text, [] and {}; 0 and False are values and always
    stored. `refuse_refusals` keeps polite refusals out. `cache_if` is your own check: False, or an
    exception, means not stored. `is_complete` decides about a stream in place of the finish
    reasons. `is_error` adds to the error shapes that are known: true, or a text, means an error.

    >>> Admission().check({"choices": [{"finish_reason": "length"}]})
    'cut off at the length limit (length)'
    >>> Admission().check("Lima") is None
    True
    """

    store_empty: bool = False
    refuse_refusals: bool = False
    cache_if: Callable[[object], bool] | None = None
    is_complete: Callable[[Sequence[object]], bool] | None = None
    is_error: Callable[[object], bool | str | None] | None = None

    def check(self, value: object, chunks: Sequence[object] | None = None) -> str | None:
        """Return why an answer must not be stored, or None.

        `chunks` are the parts of a stream that ended cleanly, `value` is what they add up to
        (pass the list again where there is no such thing). The first reason found is returned.
        """
        parts: Sequence[object] = (value,) if chunks is None else (*chunks, value)
        reason = next(filter(None, map(self._part_reason, parts)), None)
        reason = reason or (self._stream_reason(chunks) if chunks is not None else None)
        reason = reason or self._empty_reason(value, chunks)
        if reason is None and self.refuse_refusals and is_refusal(value):
            reason = "the answer is a refusal"
        return reason or self._own_reason(value)

    def _part_reason(self, part: object) -> str | None:
        if part is None or isinstance(part, str | bytes | int | float):
            return self._own_error(part)
        return self._own_error(part) or error_reason(part) or cut_reason(part)

    def _own_error(self, part: object) -> str | None:
        if self.is_error is None or not (found := self.is_error(part)):
            return None
        return f"flagged as an error: {found}" if isinstance(found, str) else "flagged as an error"

    def _stream_reason(self, chunks: Sequence[object]) -> str | None:
        if self.is_complete is not None:
            return None if self.is_complete(chunks) else "the stream is not complete"
        has_shape = any(is_chat_chunk(chunk) for chunk in chunks)
        if has_shape and not any(map(ends_stream, chunks)):
            return "no chunk of the stream carries a finish reason"
        return None

    def _empty_reason(self, value: object, chunks: Sequence[object] | None) -> str | None:
        if self.store_empty:
            return None
        if is_empty(value) or (chunks is not None and all(map(is_empty, chunks))):
            return "the answer is empty"
        return None

    def _own_reason(self, value: object) -> str | None:
        if self.cache_if is None:
            return None
        try:
            return None if self.cache_if(value) else "cache_if said no"
        # The user's check must not break the user's call.
        except Exception as error:
            return f"cache_if raised {type(error).__name__}: {error}"


def cut_reason(value: object) -> str | None:
    """Return why an answer is not whole, from its finish reasons and its status."""
    for reason in finish_reasons(value):
        if reason in _CUT:
            return f"{_CUT[reason]} ({reason})"
    status = field_of(value, "status")
    if isinstance(status, str) and status.lower() in _UNFINISHED:
        return f"the answer is {status.lower()}"
    feedback = field_of(value, "promptFeedback") or field_of(value, "prompt_feedback")
    block = field_of(feedback, "blockReason") or field_of(feedback, "block_reason")
    return f"stopped by a content filter ({block})" if block else None


def error_reason(value: object) -> str | None:
    """Return why a result that was not raised is an error all the same.

    >>> error_reason({"status": 503})
    'status is 503'
    """
    for name in ("is_error", "isError"):
        if field_of(value, name) is True:
            return f"{name} is true"
    if error := field_of(value, "error"):
        return f"it carries an error: {str(error)[:80]}"
    for name in ("status", "status_code", "statusCode"):
        if (reason := _status_reason(name, field_of(value, name))) is not None:
            return reason
    for name in ("success", "ok"):
        if field_of(value, name) is False and any(field_of(value, n) for n in _COMPLAINTS):
            return f"{name} is false"
    if field_of(value, "type") in ("error", "response.failed", "response.error"):
        return f"its type is {field_of(value, 'type')}"
    return None


def _status_reason(name: str, status: object) -> str | None:
    if isinstance(status, bool):
        return None
    if isinstance(status, str) and not (name == "status" and status.lower() in _BAD_WORDS):
        is_number = status.isascii() and status.isdigit() and len(status) == 3
        return _status_reason(name, int(status)) if is_number else None
    if isinstance(status, str) or (isinstance(status, int) and 400 <= status <= 599):
        return f"{name} is {status}"
    return None


def is_empty(value: object) -> bool:
    """Say whether an answer holds nothing. 0 and False hold something; so does a tool call.

    >>> [is_empty(value) for value in (None, "", "  ", [], {}, 0, False)]
    [True, True, True, True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip("\u200b\u200c\u200d\u2060\ufeff \t\r\n\f\v\u00a0\u3000")
    if isinstance(value, bytes | bytearray):
        return not value
    if isinstance(value, Mapping) or field_of(value, "choices") is not None:
        return not value or (_has_answer_shape(value) and _is_hollow(value))
    if isinstance(value, Sequence | set | frozenset):
        return not value or _is_hollow_list(value)
    return _has_answer_shape(value) and _is_hollow(value)


def _has_answer_shape(value: object) -> bool:
    names = ("choices", "candidates", "stop_reason", "output_text", "message")
    if any(field_of(value, name) is not None for name in names):
        return True
    return field_of(value, "role") is not None and field_of(value, "content") is not None


def _is_hollow(value: object) -> bool:
    return not answer_text(value).strip() and not has_tool_calls(value) and not _has_media(value)


def _is_hollow_list(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    shaped = [item for item in value if isinstance(item, str) or _has_answer_shape(item)]
    return len(shaped) == len(value) and _is_hollow(value)


def _has_media(value: object) -> bool:
    """Images, audio and parsed objects are answers without text."""
    choices = field_of(value, "choices")
    items = choices if isinstance(choices, Sequence) else ()
    messages = [field_of(item, "message") or field_of(item, "delta") for item in items]
    names = ("audio", "images", "parsed", "reasoning_content")
    return any(field_of(message, name) for message in messages for name in names)


def is_refusal(value: object) -> bool:
    """Say whether an answer declines the request, in English or Chinese. Only its start counts.

    >>> is_refusal("I'm sorry, but I can't help with that.")
    True
    >>> is_refusal("很抱歉，我无法提供这方面的帮助。")
    True
    """
    text = answer_text(value).lstrip()[:_REFUSAL_CHARS].replace("’", "'")
    return bool(_REFUSAL.search(text[:200]) or _REFUSAL_ZH.search(text[:120]))
