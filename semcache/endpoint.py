"""Asks one question of an OpenAI-compatible chat endpoint. No retries, no caching, no state.

Every failure is one EndpointError of one line that never holds the key. An answer that was cut
short is a failure too: nobody should store it.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from semcache.admit.ending import cut_reason
from semcache.errors import ArgumentError, SemcacheError

__all__ = ["Endpoint", "EndpointError"]

_SHOWN_CHARACTERS = 200


class EndpointError(SemcacheError):
    """The endpoint could not be reached, refused, or gave no complete answer."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host: it is an error instead."""

    def redirect_request(self, *_args: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask: `base_url` ends before `/chat/completions`, usually in `/v1`.

    Raises ArgumentError when the URL is not an http or https address or the model is missing.

    >>> Endpoint("http://localhost:8000/v1", model="small").url
    'http://localhost:8000/v1/chat/completions'
    """

    base_url: str
    model: str
    api_key: str = ""
    timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            remedy = "pass an address such as https://api.example.com/v1"
            raise ArgumentError("base_url", self.base_url, remedy)
        if not self.model:
            raise ArgumentError("model", self.model, "name the model to ask")

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, model={self.model!r})"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Endpoint:
        """Read OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY (may be absent)."""
        source = os.environ if environment is None else environment
        for name in ("OPENAI_BASE_URL", "OPENAI_MODEL"):
            if not source.get(name):
                raise ArgumentError(name, source.get(name), "set it in the environment")
        return cls(
            source["OPENAI_BASE_URL"], source["OPENAI_MODEL"], source.get("OPENAI_API_KEY", "")
        )

    @property
    def url(self) -> str:
        """The address that is asked."""
        return self.base_url.rstrip("/") + "/chat/completions"

    def ask(self, prompt: str) -> str:
        """Return the answer's text. Raises EndpointError."""
        message = {"role": "user", "content": prompt}
        body = json.dumps({"model": self.model, "messages": [message]}).encode()
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = urllib.request.Request(self.url, body, headers)
        try:
            opener = urllib.request.build_opener(_NoRedirect)
            with opener.open(request, timeout=self.timeout_seconds) as response:
                answer = json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                said = _one_line(error.read(_SHOWN_CHARACTERS).decode("utf-8", "replace"))
            raise EndpointError(f"{self.url} answered {error.code}: {said}") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise EndpointError(f"{self.url} cannot be asked: {_one_line(str(reason))}") from error
        except ValueError as error:
            raise EndpointError(f"{self.url} did not answer with JSON: {error}") from error
        return self._text(answer)

    def _text(self, answer: Any) -> str:
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise EndpointError(f"{self.url} gave no choices[0].message.content") from error
        if reason := cut_reason(answer):
            raise EndpointError(f"{self.url} gave an incomplete answer: {reason}")
        if not isinstance(text, str) or not text.strip():
            raise EndpointError(f"{self.url} gave an empty answer")
        return text


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN_CHARACTERS] or "no reason given"
