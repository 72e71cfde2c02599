"""Images and parts are dropped from the key, or crash it.

Promise: everything that is not text counts by content, and answers in the exact tier alone
Room: `semcache/messages.py`, `semcache/canonical_objects.py`, `semcache/request.py`
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from semcache import Miss, Reason, SemanticCache
from tests.faults.calls import replies, replies_to, user

A, B = b"\x89PNG first", b"\x89PNG other"


def as_parts(image: bytes, text: str) -> Any:
    return [user([{"type": "image", "data": image}, {"type": "text", "text": text}])]


def as_list(image: bytes, text: str) -> Any:
    return [image, text]


def as_content(image: bytes, text: str) -> Any:
    return [user([image, text])]


SHAPES = pytest.mark.parametrize("ask_about", [as_parts, as_list, as_content])


@SHAPES
def test_b031_another_image_under_the_same_words_is_a_miss(
    kind: str, apart: SemanticCache, ask_about: Any
) -> None:
    """Images count by content: equal bytes hit, in the exact tier."""
    prompts = [ask_about(bytes(image), "Describe this") for image in (A, B, A)]

    assert replies(kind, apart, *prompts) == ["R1", "R2", "R1"]
    assert apart.stats().hits == {"exact": 1}


@SHAPES
def test_b031_beside_an_image_only_the_exact_tier_answers(
    kind: str, same: SemanticCache, ask_about: Any
) -> None:
    """Nearly the same words, or others, about one image are a call."""
    texts = ("Describe this", "describe this!", "What do you see here?")

    assert replies(kind, same, *(ask_about(A, text) for text in texts)) == ["R1", "R2", "R3"]


def test_b032_content_as_a_list_of_parts_is_the_same_as_its_text(
    kind: str, apart: SemanticCache
) -> None:
    """No error, and the two shapes share one entry."""
    parts, text = [user([{"type": "text", "text": "hi"}])], [user("hi")]

    assert replies(kind, apart, parts, text, "hi") == ["R1", "R1", "R1"]


PARTS: list[Callable[[bytes], Any]] = [
    lambda data: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data.hex()}"}},
    lambda data: {
        "type": "input_image",
        "image_url": "https://example.org/x",
        "detail": data.hex(),
    },
    lambda data: {"type": "input_audio", "input_audio": {"data": data.hex(), "format": "wav"}},
    lambda data: {"type": "document", "source": {"type": "base64", "data": data.hex()}},
    lambda data: {"type": "file", "file": {"file_id": data.hex()}},
    lambda data: {"inlineData": {"mimeType": "audio/ogg", "data": data}},
    lambda data: {"image": {"format": "png", "source": {"bytes": data}}},
    lambda data: Snapshot(data),
    lambda data: np.frombuffer(data, np.uint8),
]
NAMES = ["url", "detail", "audio", "document", "file", "gemini", "bedrock", "object", "array"]


@dataclass
class Snapshot:
    """A part of a message that only its class tells from others."""

    pixels: bytes


@pytest.mark.parametrize("part", PARTS, ids=NAMES)
def test_every_providers_parts_count_by_content(
    kind: str, same: SemanticCache, part: Callable[[bytes], Any]
) -> None:
    """Pictures, sound and documents: other bytes, a reworded question, and the same again."""
    asked = [(A, "Describe this"), (B, "Describe this"), (A, "What is this?"), (A, "Describe this")]
    prompts = [[user([part(data), {"type": "text", "text": text}])] for data, text in asked]

    assert replies(kind, same, *prompts) == ["R1", "R2", "R3", "R1"]
    assert same.stats().hits == {"exact": 1}


@pytest.mark.parametrize(
    "params",
    [
        lambda data: {"image": data},
        lambda data: {"files": [{"name": "x.png", "data": bytearray(data)}]},
        lambda data: {"picture": np.frombuffer(data, np.uint8)},
        lambda data: {"image_url": f"data:image/png;base64,{data.hex()}"},
    ],
    ids=["bytes", "files", "array", "data URL"],
)
def test_an_image_beside_the_prompt_is_part_of_the_request(
    kind: str, same: SemanticCache, params: Callable[[bytes], dict[str, Any]]
) -> None:
    """As an argument of its own it counts alike, and turns the other tiers off alike."""
    same.put("Name the colours.", "A", **params(A))

    found = [same.lookup(text, **params(A)) for text in ("Describe this", "name the colours")]
    answers = replies_to(kind, same, "Describe this", params(A), params(B), params(A))

    assert [decision.reason for decision in found if isinstance(decision, Miss)] == [
        Reason.NOT_TEXT
    ] * 2
    assert answers == ["R1", "R2", "R1"]


def test_images_that_lie_beside_the_text_of_a_message_count(kind: str, same: SemanticCache) -> None:
    """Some providers put them in a field of the message, where the content stays plain text."""

    def ask(image: str, text: str) -> Any:
        return [user(text, images=[image])]

    asked = [("QUJD", "Describe this"), ("REVG", "Describe this"), ("QUJD", "What is this?")]

    assert replies(kind, same, *(ask(*one) for one in asked), ask(*asked[0])) == [
        "R1",
        "R2",
        "R3",
        "R1",
    ]


def picture(colour: int, *, mode: str = "L", palette: int = 0) -> Any:
    made = pytest.importorskip("PIL.Image").new(mode, (2, 2), colour)
    if mode == "P":
        made.putpalette([palette] * 768)
    return made


def test_an_opened_picture_counts_by_what_it_shows(kind: str, apart: SemanticCache) -> None:
    """Its pixels, its mode and its palette; a picture made anew is the same picture."""
    pictures = [
        picture(1),
        picture(2),
        picture(1, mode="P", palette=5),
        picture(1, mode="P", palette=9),
        picture(1),
    ]

    answers = replies(kind, apart, *([made, "Describe this"] for made in pictures))

    assert answers == ["R1", "R2", "R3", "R4", "R1"]


def test_what_can_be_read_only_once_is_left_to_the_function(
    kind: str, apart: SemanticCache
) -> None:
    """A stream has no content to compare: each call is a real one, and nothing was consumed."""
    streams = [io.BytesIO(data) for data in (A, B, A)]

    answers = replies(kind, apart, *([stream, "Describe this"] for stream in streams))

    assert answers == ["R1", "R2", "R3"]
    assert [stream.read() for stream in streams] == [A, B, A]


def test_another_image_earlier_in_the_chat_is_another_context(
    kind: str, same: SemanticCache
) -> None:
    """Not only the last message may hold one, and a tool may give one as its result."""

    def ask(image: bytes, wrap: Callable[[Any], Any]) -> Any:
        return [user([wrap({"type": "image", "data": image})]), user("What colour is it?")]

    def as_result(part: Any) -> Any:
        return {"type": "tool_result", "tool_use_id": "t", "content": [part]}

    prompts = [ask(image, wrap) for wrap in (lambda part: part, as_result) for image in (A, B)]

    assert replies(kind, same, *prompts, dynamic=False) == ["R1", "R2", "R3", "R4"]
