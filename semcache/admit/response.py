"""Decides whether an answer may be stored: not when empty, cut off, flagged as an error, refused.

It looks at the answer only, never at the request, and changes nothing. An answer that is not
stored is still handed to the caller. The reason comes back as text, None means "store it".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from semcache.admit.emptiness import is_empty
from semcache.admit.ending import cut_reason, open_reason
from semcache.admit.failure import error_reason
from semcache.admit.shape import answer_text, has_tool_calls
from semcache.admit.wire import sent

__all__ = ["Admission", "answer_text", "has_tool_calls", "is_refusal"]

_END_MARKER = "[DONE]"
"""Ends the transport of a stream, not its answer, and is no part of either."""
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
        parts = [value] if chunks is None else list(chunks)
        wire = sent(parts)
        told = wire.objects if wire else list(filterfalse(_is_end_marker, parts)) or parts
        streamed = chunks is not None or (wire is not None and wire.streamed)
        found = map(self._own_error, (*parts, value))
        reason = next(filter(None, found), None)
        reason = reason or next(filter(None, map(error_reason, told)), None)
        cut = (cut_reason(part, chunk=streamed) for part in told)
        reason = reason or next(filter(None, cut), None)
        reason = reason or (self._stream_reason(told, chunks) if streamed else None)
        if reason is None and not self.store_empty and is_empty(told):
            reason = "the answer is empty"
        if reason is None and self.refuse_refusals and is_refusal(value):
            reason = "the answer is a refusal"
        return reason or self._own_reason(value)

    def _own_error(self, part: object) -> str | None:
        if self.is_error is None or not (found := self.is_error(part)):
            return None
        return f"flagged as an error: {found}" if isinstance(found, str) else "flagged as an error"

    def _stream_reason(self, told: Sequence[object], chunks: Sequence[object] | None) -> str | None:
        if self.is_complete is None or chunks is None:
            return open_reason(told)
        return None if self.is_complete(chunks) else "the stream is not complete"

    def _own_reason(self, value: object) -> str | None:
        if self.cache_if is None:
            return None
        try:
            return None if self.cache_if(value) else "cache_if said no"
        # The user's check must not break the user's call.
        except Exception as error:
            return f"cache_if raised {type(error).__name__}: {error}"


def _is_end_marker(part: object) -> bool:
    return isinstance(part, str) and part == _END_MARKER


def is_refusal(value: object) -> bool:
    """Say whether an answer declines the request, in English or Chinese. Only its start counts.

    >>> is_refusal("I'm sorry, but I can't help with that.")
    True
    >>> is_refusal("很抱歉，我无法提供这方面的帮助。")
    True
    """
    text = answer_text(value).lstrip()[:_REFUSAL_CHARS].replace("’", "'")
    return bool(_REFUSAL.search(text[:200]) or _REFUSAL_ZH.search(text[:120]))
