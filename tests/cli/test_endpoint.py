"""An OpenAI-compatible endpoint is asked, and each of its failures is one line without the key."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from semcache.demo import Settings, run_live
from semcache.endpoint import Endpoint, EndpointError
from semcache.errors import ArgumentError

GOOD = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}


class Server(HTTPServer):
    """Answers every request with one status and body, and remembers what it was asked."""

    status = 200
    body = json.dumps(GOOD).encode()
    asked: list[tuple[str, str | None, Any]]


class Answerer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.asked.append((self.path, self.headers["Authorization"], json.loads(body)))
        self.send_response(server.status)
        self.send_header("Location", "http://elsewhere.invalid/")
        self.end_headers()
        self.wfile.write(server.body)

    def log_message(self, *_args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Answerer) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def endpoint(server: Server) -> Endpoint:
    return Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "small", "secret", 5.0)


def test_a_question_is_asked_and_answered() -> None:
    """The model, the prompt and the key arrive."""
    with serving() as server:
        answer = endpoint(server).ask("Is it free?")

    path, key, body = server.asked[0]
    assert answer == "Yes."
    assert (path, key) == ("/v1/chat/completions", "Bearer secret")
    assert body == {"model": "small", "messages": [{"role": "user", "content": "Is it free?"}]}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b"bad\n key", "answered 401: bad key"),
        (302, b"", "answered 302"),
        (200, b"<html>", "did not answer with JSON"),
        (200, b"{}", "gave no choices"),
        (200, b'{"choices": [{"message": {"content": " "}}]}', "gave an empty answer"),
        (
            200,
            json.dumps(GOOD).replace("stop", "length").encode(),
            "incomplete answer: cut off at the length limit",
        ),
    ],
)
def test_failures_are_one_line_without_the_key(status: int, body: bytes, message: str) -> None:
    """A refusal, a redirect, nonsense, and an answer that was cut short."""
    with serving() as server:
        server.status, server.body = status, body
        with pytest.raises(EndpointError, match=message) as caught:
            endpoint(server).ask("Is it free?")

    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value) + repr(endpoint(server))


def test_nobody_there_is_an_error_of_one_line() -> None:
    """A refused connection names the address."""
    with serving() as server:
        target = endpoint(server)

    with pytest.raises(EndpointError, match=r"cannot be asked: .*refused"):
        target.ask("Is it free?")


def test_the_environment_names_it() -> None:
    """What is missing is named; the key may be."""
    environment = {"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_MODEL": "m"}

    found = Endpoint.from_environment(environment)

    assert (found.model, found.api_key) == ("m", "")
    with pytest.raises(ArgumentError, match="OPENAI_MODEL"):
        Endpoint.from_environment({"OPENAI_BASE_URL": "http://localhost:1/v1"})
    with pytest.raises(ArgumentError, match="base_url"):
        Endpoint("ftp://localhost", "m")


def test_the_demo_asks_it_live() -> None:
    """The model and its time are real then, and a question that repeats is not asked again."""
    with serving() as server:
        demo = run_live(Settings(length=30, exponent=2.0), endpoint(server), embedder=False)

    (result,) = demo.results.values()
    assert len(server.asked) == result.counts["call"] + result.counts["bypass"]
    assert result.counts["exact"] > 0
    assert "small at http://127.0.0.1" in demo.live
