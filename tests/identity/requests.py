"""Requests as three providers take them, drawn at random, and the ways of changing one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

__all__ = ["NEARLY", "REWORDED", "TEXT", "Call", "calls", "changed", "reordered", "swapped"]

TEXT = "How does an electric kettle switch itself off?"
NEARLY = "how does an electric kettle switch itself off"
REWORDED = "What makes a boiling kettle stop on its own?"

Path = tuple[Any, ...]

words = st.text('abc \u00e9\u6c34"{,', min_size=1, max_size=6)
plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | words
json = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)
objects = st.dictionaries(words, json, min_size=1, max_size=2)
sets = st.sets(words, min_size=2, max_size=4)


@dataclass(frozen=True)
class Call:
    """One request: its turns before the last, the rest, and how a user's text is written in it."""

    history: list[dict[str, Any]]
    params: dict[str, Any]
    ask: Callable[[str], dict[str, Any]]

    def asking(self, text: str) -> dict[str, Any]:
        """Give the arguments of `lookup` for a text."""
        return {"prompt": [*self.history, self.ask(text)], **self.params}


@st.composite
def openai(draw: st.DrawFn) -> Call:
    arguments, results = draw(st.tuples(words, words)), draw(st.tuples(words, words))
    tool_calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": f"f{n}", "arguments": a}}
        for n, a in enumerate(arguments)
    ]
    history = [
        {"role": "system", "content": draw(words)},
        {"role": "user", "content": [{"type": "text", "text": draw(words)}, draw(images)]},
        {"role": "assistant", "content": None, "tool_calls": tool_calls},
        *(
            {"role": "tool", "tool_call_id": f"call_{n}", "content": f"{n}{result}"}
            for n, result in enumerate(results)
        ),
        {"role": "assistant", "content": draw(words), "id": "msg_1"},
    ]
    tools = [
        {"type": "function", "function": {"name": f"f{n}", "parameters": draw(objects)}}
        for n in range(2)
    ]
    format_ = {"type": "json_schema", "json_schema": {"schema": draw(objects)}}
    params = {"model": draw(words), "tools": tools, "response_format": format_}
    params |= {"temperature": draw(st.floats(0, 2)), "logit_bias": draw(objects)}
    return Call(history, params, lambda text: {"role": "user", "content": text})


@st.composite
def anthropic(draw: st.DrawFn) -> Call:
    use = {"type": "tool_use", "id": "toolu_1", "name": "f0", "input": draw(objects)}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": draw(words)}
    history = [
        {"role": "user", "content": [{"type": "text", "text": draw(words)}, draw(images)]},
        {"role": "assistant", "content": [{"type": "text", "text": draw(words)}, use]},
        {"role": "user", "content": [result, {"type": "text", "text": f"then {draw(words)}"}]},
        {"role": "assistant", "content": [{"type": "text", "text": draw(words)}]},
    ]
    tools = [{"name": f"f{n}", "input_schema": draw(objects)} for n in range(2)]
    params = {"model": draw(words), "system": [{"type": "text", "text": draw(words)}]}
    params |= {"tools": tools, "max_tokens": draw(st.integers(1, 99)), "metadata": draw(objects)}
    params["stop_sequences"] = draw(sets)
    ask = lambda text: {"role": "user", "content": [{"type": "text", "text": text}]}  # noqa: E731
    return Call(history, params, ask)


@st.composite
def gemini(draw: st.DrawFn) -> Call:
    call = {"functionCall": {"id": "fc_1", "name": "f0", "args": draw(objects)}}
    result = {"functionResponse": {"id": "fc_1", "name": "f0", "response": draw(objects)}}
    image = {"inlineData": {"mimeType": "image/png", "data": draw(st.binary(max_size=4))}}
    history = [
        {"role": "user", "parts": [{"text": draw(words)}, image]},
        {"role": "model", "parts": [{"text": draw(words)}, call]},
        {"role": "user", "parts": [result]},
        {"role": "model", "parts": [{"text": draw(words)}]},
    ]
    config = {"temperature": draw(st.floats(0, 2)), "stopSequences": draw(sets)}
    config["responseSchema"] = draw(objects)
    tools = [
        {"functionDeclarations": [{"name": f"f{n}", "parameters": draw(objects)}]} for n in (0, 1)
    ]
    params = {"model": draw(words), "config": config, "tools": tools}
    params["system_instruction"] = {"parts": [{"text": draw(words)}]}
    return Call(history, params, lambda text: {"role": "user", "parts": [{"text": text}]})


images = st.builds(
    lambda data, detail: {"type": "image", "source": {"data": data, "detail": detail}},
    st.binary(max_size=4),
    words,
)
calls = openai() | anthropic() | gemini()


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Give every value inside a value with its path; a set is one place."""
    if path:
        yield path, value
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, name))


@st.composite
def changed(draw: st.DrawFn, call: Call) -> Call:
    """Change one thing outside the text: another value, one less, or one more."""
    whole = {"history": call.history, "params": call.params}
    inside = [(path, value) for path, value in places(whole) if len(path) > 1]
    path, value = draw(st.sampled_from(inside).filter(lambda place: place[0][-1] != "id"))
    made = copy.deepcopy(whole)
    *above, name = path
    holder: Any = made
    for step in above:
        holder = holder[step]
    how = draw(st.sampled_from(["another", "less", "more"]))
    if how == "less":
        del holder[name]
    elif how == "more" and isinstance(value, dict):
        holder[name] = {**value, "one more": draw(plain)}
    elif how == "more" and isinstance(value, list):
        holder[name] = [*value, draw(plain)]
    else:
        holder[name] = f"not {value!r}"
    return Call(made["history"], made["params"], call.ask)


@st.composite
def swapped(draw: st.DrawFn, call: Call) -> Call:
    """Swap two messages, two tools or two parts that differ."""
    made = copy.deepcopy(call)
    lists = [made.history, made.params["tools"]]
    lists += [message.get("content", message.get("parts")) for message in made.history]
    items = draw(st.sampled_from([each for each in lists if isinstance(each, list) and each[1:]]))
    one, other = draw(
        st.tuples(*[st.sampled_from(range(len(items)))] * 2).filter(
            lambda pair: items[pair[0]] != items[pair[1]]
        )
    )
    items[one], items[other] = items[other], items[one]
    return made


@st.composite
def reordered(draw: st.DrawFn, call: Call) -> Call:
    """Build every dict and every set anew, in another order."""

    chance = draw(st.randoms(use_true_random=False))

    def anew(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: anew(value[name]) for name in chance.sample(list(value), len(value))}
        if isinstance(value, set):
            return frozenset(chance.sample(sorted(value), len(value)))
        return [anew(item) for item in value] if isinstance(value, list) else value

    return Call(anew(call.history), anew(call.params), lambda text: anew(call.ask(text)))
