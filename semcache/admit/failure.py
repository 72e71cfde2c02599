"""Whether a result that was not raised is an error all the same.

Decides by fields that only an error carries, in the result or in what it nests. Numbers and words
of status count in the result itself only: further in they may be the answer's own data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from semcache.admit.shape import Layer, field_of, is_filled, layers

__all__ = ["error_reason"]

_FLAGS = ("is_error", "isError")
_STATUSES = ("status", "status_code", "statusCode")
_TYPES = ("error", "response.failed", "response.error")
_BAD_WORDS = frozenset({"error", "failed", "failure", "fail", "timeout", "exception"})
_COMPLAINTS = ("error", "errors", "error_message", "message", "reason", "detail", "code")
_PAGE = re.compile(r"\s*<(?:!doctype|html)\b.{0,400}?<title>\s*(?:429|5\d\d)\b", re.I | re.S)
"""What a gateway puts in the place of an answer."""
_PAIRS = (("code", "message"), ("error_code", "error_msg"), ("errorType", "errorMessage"))


def error_reason(value: object) -> str | None:
    """Return why a result is an error.

    >>> error_reason({"status": 503})
    'status is 503'
    >>> error_reason([{"text": "fine"}, {"result": {"isError": True}}])
    'isError is true'
    """
    if isinstance(value, str):
        return "it is a gateway's page about an error" if _PAGE.match(value) else None
    return next(filter(None, map(_layer_reason, layers(value))), None)


def _layer_reason(layer: Layer) -> str | None:
    value = layer.value
    for name in _FLAGS:
        if field_of(value, name) is True:
            return f"{name} is true"
    error = field_of(value, "error")
    if is_filled(error) and not isinstance(error, float):  # a measure of how wrong a number is
        return f"it carries an error: {str(error)[:80]}"
    for name in ("type", "object"):
        kind = field_of(value, name)
        if isinstance(kind, str) and kind in _TYPES:
            return f"its {name} is {kind}"
    return _named_after_an_exception(value) or (None if layer.depth else _status_reason(value))


def _named_after_an_exception(value: object) -> str | None:
    """Read how AWS says it: the exception's name is a key, or stands under `__type`."""
    if not isinstance(value, Mapping):
        return None
    names = (*(key for key, inner in value.items() if is_filled(inner)), value.get("__type"))
    found = (name for name in names if isinstance(name, str) and name.endswith("Exception"))
    name = next(found, None)
    return None if name is None else f"it carries an error: {name}"


def _status_reason(value: object) -> str | None:
    for name in _STATUSES:
        status = field_of(value, name)
        if _is_bad(status) or (name == "status" and str(status).lower() in _BAD_WORDS):
            return f"{name} is {status}"
    for name in ("success", "ok"):
        if field_of(value, name) is False and any(
            is_filled(field_of(value, n)) for n in _COMPLAINTS
        ):
            return f"{name} is false"
    for code_name, message_name in _PAIRS:
        code, message = field_of(value, code_name), field_of(value, message_name)
        if isinstance(message, str) and (
            _is_bad(code) or (is_filled(code) and code_name != "code")
        ):
            return f"{code_name} is {code}"
    return None


def _is_bad(status: object) -> bool:
    """Say whether a number, or three digits, are the status of a failed call."""
    if isinstance(status, str) and status.isascii() and status.isdigit() and len(status) == 3:
        status = int(status)
    return isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599
