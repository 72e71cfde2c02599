"""Who is asked for an answer that a warm-up file does not have: an endpoint, or a function.

It finds the callable and asks nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from semcache.endpoint import Endpoint
from semcache.errors import ArgumentError

__all__ = ["caller"]


def caller(call: str, model: str | None = None) -> tuple[Callable[[str], Any], str | None]:
    """Return the function to call with a prompt, and the model that it asks.

    Args:
        call: `module:function`, or the address of an OpenAI-compatible endpoint, after which the
            model may follow: `http://host/v1/small-model`. The key is OPENAI_API_KEY.
        model: the model that the answers are stored under; asked, unless the address names one.

    Raises:
        ArgumentError: nothing can be called there.
    """
    if call.startswith(("http://", "https://")):
        base, version, named = call.partition("/v1/")
        asked = named.strip("/") or model
        if asked is None:
            raise ArgumentError("call", call, "add the model to the address, or pass --model")
        key = os.environ.get("OPENAI_API_KEY", "")
        return Endpoint(base + version.rstrip("/"), asked, key).ask, model or asked
    return _function(call), model


def _function(call: str) -> Callable[[str], Any]:
    module, colon, name = call.partition(":")
    if not colon or not module or not name:
        raise ArgumentError("call", call, "pass module:function or an http address")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ArgumentError("call", call, f"cannot be imported: {error}") from error
    if not callable(found):
        raise ArgumentError("call", call, f"{name} is not callable")
    function: Callable[[str], Any] = found
    return function
