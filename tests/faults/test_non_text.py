"""Images and parts are dropped from the key, or crash it."""

from __future__ import annotations

from typing import Any

import pytest

from semcache import SemanticCache
from tests.faults.calls import replies, user

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
