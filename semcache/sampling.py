"""What the parameters of a call say of sampling: how hot it is, and which sample it is.

Decides what counts as said. What is absent, or is no number, says nothing: the policy then takes
the call for one that is not deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, SupportsFloat

__all__ = ["has_sample_number", "temperature_of"]


def temperature_of(params: Mapping[str, Any]) -> float | None:
    """Give the highest temperature among the parameters, None if none says a number.

    Some providers take it inside another argument, such as `options` or `generation_config`.

    >>> temperature_of({"temperature": "0", "extra_body": {"temperature": 0.7}})
    0.7
    >>> temperature_of({"temperature": float("nan")}) is None
    True
    """
    own = params.get("temperature")
    if own is not None and _number(own) is None:
        return None
    inside = (_number(_inside(value, "temperature")) for value in params.values())
    return max((n for n in (_number(own), *inside) if n is not None), default=None)


def has_sample_number(params: Mapping[str, Any]) -> bool:
    """Say whether a call says which of many samples it is. None and True do not.

    >>> has_sample_number({"sample": 0}), has_sample_number({"sample": None})
    (True, False)
    """
    sample = params.get("sample")
    return sample is not None and not isinstance(sample, bool)


def _inside(value: object, name: str) -> object:
    fields = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
    return fields.get(name)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | SupportsFloat):
        return None
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):  # what is no number says nothing
        return None
    return None if math.isnan(number) else number
