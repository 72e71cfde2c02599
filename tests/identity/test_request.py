"""What identifies a call: any change outside the text is another scope; ids are not content."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from semcache.decision import Reason
from semcache.errors import ValueFormError
from semcache.request import Identity

identity = Identity()


def key(prompt: Any, **options: Any) -> bytes:
    named = {k: options.pop(k) for k in ("model", "namespace", "scope") if k in options}
    return identity.read(prompt, params=options, **named).key


def user(content: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **extra}


def test_a_string_a_message_and_one_text_part_are_the_same_request() -> None:
    """Three ways of writing one question share an entry."""
    plain = key("hi")

    assert key([user("hi")]) == plain
    assert key([user([{"type": "text", "text": "hi"}])]) == plain
    assert key(user("hi")) == plain


@pytest.mark.parametrize(
    "change",
    [
        {"model": "b"},
        {"namespace": "other"},
        {"scope": "other"},
        {"temperature": 0.5},
        {"max_tokens": 16},
        {"seed": None},
        {"tools": []},
        {"tool_choice": "none"},
        {"response_format": {"type": "json_object"}},
        {"extra_window": 2048},
    ],
)
def test_any_change_outside_the_text_is_another_scope(change: dict[str, Any]) -> None:
    """Parameters count whether or not the library knows them."""
    base: dict[str, Any] = {"model": "a"}

    assert key("hi", **{**base, **change}) != key("hi", **base)


def test_part_boundaries_and_message_boundaries_count() -> None:
    """Joining never makes two conversations one."""
    assert key([user("ab"), user("c")]) != key([user("a"), user("bc")])
    one = [{"type": "text", "text": "ab"}, {"type": "text", "text": "c"}]
    other = [{"type": "text", "text": "a"}, {"type": "text", "text": "bc"}]
    assert key([user(one)]) != key([user(other)])
    assert key([user("hi\nassistant: yo")]) != key([user("hi"), {"role": "a", "content": "yo"}])


@given(st.text(min_size=1), st.text(min_size=1), st.text(), st.text())
def test_namespace_and_scope_never_run_together(a: str, b: str, c: str, d: str) -> None:
    """A delimiter inside a name moves nothing across the boundary."""
    same = (a, c) == (b, d)

    assert (key("q", namespace=a, scope=c) == key("q", namespace=b, scope=d)) == same


def tool_turn(call: str, message: str) -> list[dict[str, Any]]:
    function = {"name": "weather", "arguments": '{"id": "paris"}'}
    return [
        {**user("weather?"), "id": message},
        {
            "role": "assistant",
            "tool_calls": [{"id": call, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call, "content": "sunny"},
        user("and tomorrow?"),
    ]


def test_random_ids_of_messages_and_calls_are_levelled_by_position() -> None:
    """Equal conversations with other automatic ids are one request."""
    assert key(tool_turn("call_1", "m1")) == key(tool_turn("call_xyz", "m2"))


def test_links_between_calls_and_results_still_count() -> None:
    """Swapping which result belongs to which call is another conversation."""

    def turns(first: str, second: str) -> list[dict[str, Any]]:
        calls = [{"id": name, "function": {"name": "f"}} for name in ("x", "y")]
        return [
            {"role": "assistant", "tool_calls": calls},
            {"role": "tool", "tool_call_id": first, "content": "1"},
            {"role": "tool", "tool_call_id": second, "content": "2"},
            user("so?"),
        ]

    assert key(turns("x", "y")) != key(turns("y", "x"))


def test_anthropic_tool_ids_are_levelled_and_inputs_are_not() -> None:
    """Only the linking id is levelled; an id inside the tool's input is content."""

    def turns(link: str, order: str) -> list[dict[str, Any]]:
        use = {"type": "tool_use", "id": link, "name": "track", "input": {"id": order}}
        result = {"type": "tool_result", "tool_use_id": link, "content": "sent"}
        return [
            {"role": "assistant", "content": [use]},
            user([result]),
            {"role": "assistant", "content": "It was sent."},
            user("when?"),
        ]

    assert key(turns("toolu_1", "7")) == key(turns("toolu_2", "7"))
    assert key(turns("toolu_1", "7")) != key(turns("toolu_1", "8"))


def test_an_item_reference_counts_by_value() -> None:
    """An id that is the content of an item is not levelled."""
    first = [{"type": "item_reference", "id": "msg_1"}, user("go on")]
    second = [{"type": "item_reference", "id": "msg_2"}, user("go on")]

    assert key(first) != key(second)


def test_images_count_by_content_and_go_by_the_exact_tier() -> None:
    """Equal bytes are one request, other bytes another; neither is compared by meaning."""

    def request(image: bytes) -> Any:
        return identity.read(
            [user([{"type": "image", "data": image}, {"type": "text", "text": "?"}])]
        )

    assert request(b"A").key == request(bytearray(b"A")).key
    assert request(b"A").key != request(b"B").key
    assert request(b"A").exact_only is Reason.NOT_TEXT


def test_a_conversation_that_ends_without_a_users_text_goes_by_the_exact_tier() -> None:
    """A tool result or an assistant's prefill is no question to rephrase."""
    request = identity.read(tool_turn("a", "m")[:-1])

    assert request.exact_only is Reason.NOT_A_QUESTION


class SDKMessage(BaseModel):
    role: str
    content: str
    name: str | None = None


def test_message_objects_of_an_sdk_equal_their_dicts() -> None:
    """A pydantic message without its unset fields is the dict that was sent."""
    assert key([SDKMessage(role="user", content="hi")]) == key("hi")


def test_unicode_forms_line_ends_and_outer_blanks_are_levelled_and_nothing_else() -> None:
    """The exact key forgives form, never content."""
    assert key("cafe\u0301") == key("caf\u00e9")
    assert key("a\r\nb ") == key("a\nb")
    assert key("What does résumé mean?") != key("What does resume mean?")
    assert key("Hi") != key("hi")
    assert key("a  b") != key("a b")


def test_an_opaque_parameter_is_a_value_form_error() -> None:
    """The cache turns it into a Bypass; it never uses an address."""
    with pytest.raises(ValueFormError, match="ignore="):
        key("hi", callback=object())


def test_the_callers_objects_are_not_changed() -> None:
    """Reading a request copies what it rewrites."""
    messages = tool_turn("call_1", "m1")
    before = repr(messages)

    key(messages)

    assert repr(messages) == before
