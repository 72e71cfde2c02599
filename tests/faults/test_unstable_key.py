"""Map order, random ids, clocks and callback objects enter the key, so equal requests never hit.

Promise: equal requests make equal keys in every process: no order, no random id, no address counts
Room: `semcache/canonical.py`, `semcache/messages.py`
"""

from __future__ import annotations

import datetime as dt
import functools
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from semcache import Hit, Reason, SemanticCache
from tests.fakes import Far, Model
from tests.faults.calls import call, decide, decorate, replies, replies_to, user
from tests.faults.conftest import PATIENT

PROMPT = "Which tax form do I file in spring?"
NAMES = [f"name{number}" for number in range(20)]


def metadata(names: list[str]) -> dict[str, Any]:
    inner = {name: {"of": name, "tags": {"a": 1, "b": 2}} for name in names}
    return {"metadata": {name: dict(reversed(inner.items())) for name in names[:2]} | inner}


def test_b037_the_order_of_a_nested_dict_does_not_count(kind: str, far: SemanticCache) -> None:
    """Twenty keys built in two orders are one request."""
    one, other = metadata(NAMES), metadata(NAMES[::-1])

    assert list(one["metadata"]) != list(other["metadata"])
    assert replies_to(kind, far, PROMPT, one, other) == ["R1", "R1"]


PROCESS = """
import sys
from semcache import Config, Hit, SemanticCache
names = [f"name{n}" for n in range(20)][:: int(sys.argv[2])]
metadata = {name: {"of": name, "set": {"x", "y", "z"}} for name in names}
with SemanticCache(
    sys.argv[1], embedder=False, config=Config(store_timeout_seconds=30)
) as cache:
    found = cache.lookup("Which tax form do I file in spring?", metadata=metadata)
    print(found.value if isinstance(found, Hit) else "miss")
    cache.put("Which tax form do I file in spring?", "A", metadata=metadata)
"""


def run_twice(program: str, arguments: tuple[list[str], list[str]]) -> list[str]:
    """Give what a program prints in two processes whose hashes differ."""
    printed = []
    for seed, given in zip(("1", "2"), arguments, strict=True):
        done = subprocess.run(
            [sys.executable, "-c", program, *given],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
        )
        printed.append(done.stdout.strip())
    return printed


def test_b037_two_processes_make_the_same_key(tmp_path: Path) -> None:
    """Whatever the order of the keys and the seed of the process's own hashes."""
    folder = str(tmp_path / "c")

    assert run_twice(PROCESS, ([folder, "1"], [folder, "-1"])) == ["miss", "A"]


def with_ids() -> list[dict[str, Any]]:
    return [
        user("Hello", id=f"msg_{uuid.uuid4()}"),
        {"role": "assistant", "content": "Hi", "id": f"msg_{uuid.uuid4()}"},
        user(PROMPT, id=f"msg_{uuid.uuid4()}"),
    ]


def with_tool_call(answers: tuple[str, str] = ("sunny", "rainy")) -> list[dict[str, Any]]:
    first, second = (f"call_{uuid.uuid4()}" for _ in range(2))
    functions = [{"name": "weather", "arguments": f'{{"city": "{c}"}}'} for c in ("Oban", "Nice")]
    calls = [
        {"id": call, "type": "function", "function": function}
        for call, function in zip((first, second), functions, strict=True)
    ]
    results = dict(zip((first, second), answers, strict=True))
    return [
        user("Oban or Nice?"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": c, "content": text} for c, text in results.items()),
        user("So which?"),
    ]


@pytest.mark.parametrize("make", [with_ids, with_tool_call])
def test_b038_random_ids_do_not_count(kind: str, far: SemanticCache, make: Any) -> None:
    """Equal messages with new ids are one request."""
    assert replies(kind, far, make(), make(), dynamic=False) == ["R1", "R1"]


def test_b038_which_call_an_answer_belongs_to_does_count(kind: str, same: SemanticCache) -> None:
    """Links are kept by position: two answers swapped are another conversation."""
    straight, crossed = with_tool_call(), with_tool_call(("rainy", "sunny"))
    relinked = with_tool_call()
    relinked[2]["tool_call_id"], relinked[3]["tool_call_id"] = (
        relinked[3]["tool_call_id"],
        relinked[2]["tool_call_id"],
    )

    answers = replies(kind, same, straight, crossed, relinked, dynamic=False)

    assert answers == ["R1", "R2", "R3"]


def at_second(second: int) -> list[dict[str, Any]]:
    clock = {"role": "system", "content": f"Time 10:{second // 60:02d}:{second % 60:02d}"}
    return [clock, user(PROMPT)]


def without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if message["role"] != "system"]


def test_b040_a_clock_in_the_system_prompt_is_a_miss_and_a_hint(
    kind: str, far: SemanticCache
) -> None:
    """Times are never dropped by default; the statistics tell that only the scope differs."""
    answers = replies(kind, far, *(at_second(second) for second in range(100)))

    assert len(set(answers)) == 100
    (hint,) = far.stats().hints
    assert "system" in hint
    assert "view=" in hint


def test_b040_a_function_of_the_users_drops_the_clock(kind: str) -> None:
    """One real call for a hundred."""
    with SemanticCache(embedder=Far(), view=without_system, config=PATIENT) as cache:
        answers = replies(kind, cache, *(at_second(second) for second in range(100)))

    assert set(answers) == {"R1"}


class Callback:
    """Stands for a handler object of a framework."""

    def on_token(self, token: str) -> None:
        """Take a token."""


def test_b041_run_ids_and_callbacks_are_left_out_by_an_ignore_list(
    kind: str, far: SemanticCache
) -> None:
    """New objects and new ids at each call, one entry."""
    params = [{"callbacks": [Callback()], "run_id": uuid.uuid4()} for _ in range(2)]

    answers = replies_to(kind, far, PROMPT, *params, ignore=["callbacks", "run_id"])

    assert answers == ["R1", "R1"]


def test_b041_without_the_list_nothing_from_memory_addresses_is_a_key(
    kind: str, far: SemanticCache
) -> None:
    """The call is made, and the decision names the way out."""
    ask = decorate(kind, far, Model())
    callback = Callback()

    answers = [call(kind, ask, PROMPT, callbacks=[callback]) for _ in range(2)]
    decision = decide(kind, ask, PROMPT, callbacks=[callback])

    assert answers == ["R1", "R2"]
    assert not isinstance(decision, Hit)
    assert decision.reason is Reason.OPAQUE
    assert "ignore=" in decision.detail


def in_anthropic(one: str, other: str) -> list[dict[str, Any]]:
    uses = [
        {"type": "tool_use", "id": i, "name": "weather", "input": {"id": 7}} for i in (one, "b")
    ]
    results = [{"type": "tool_result", "tool_use_id": i, "content": i[:0]} for i in (other, "b")]
    return [{"role": "assistant", "content": uses}, user(results), user("So?")]


def in_gemini(one: str, other: str) -> list[dict[str, Any]]:
    calls = [{"functionCall": {"id": i, "name": "weather", "args": {"id": 7}}} for i in (one, "b")]
    results = [{"functionResponse": {"id": i, "name": "weather"}} for i in (other, "b")]
    turns = [("model", calls), ("user", results), ("user", [{"text": "So?"}])]
    return [{"role": role, "parts": parts} for role, parts in turns]


def in_responses(one: str, other: str) -> list[dict[str, Any]]:
    calls = [
        {"type": "function_call", "id": f"fc_{uuid.uuid4()}", "call_id": i, "name": "weather"}
        for i in (one, "b")
    ]
    outputs = [{"type": "function_call_output", "call_id": i, "output": "7"} for i in (other, "b")]
    search = {"type": "web_search_call", "id": f"ws_{uuid.uuid4()}", "action": {"query": "Oban"}}
    wish = {"type": "mcp_approval_request", "id": f"m{one}", "name": "book"}
    grant = {"type": "mcp_approval_response", "approval_request_id": f"m{other}", "approve": True}
    return [*calls, *outputs, search, wish, grant, user("So?")]


def in_camel_case(one: str, other: str) -> list[dict[str, Any]]:
    calls = [{"type": "tool-call", "toolCallId": i, "toolName": "weather"} for i in (one, "b")]
    results = [{"type": "tool-result", "toolCallId": i, "output": "7"} for i in (other, "b")]
    return [
        {"role": "assistant", "content": calls},
        {"role": "tool", "content": results},
        user("So?"),
    ]


def in_bedrock(one: str, other: str) -> list[dict[str, Any]]:
    uses = [{"toolUse": {"toolUseId": i, "name": "weather", "input": {}}} for i in (one, "b")]
    results = [{"toolResult": {"toolUseId": i, "content": []}} for i in (other, "b")]
    return [{"role": "assistant", "content": uses}, user(results), user([{"text": "So?"}])]


class HumanMessage(BaseModel):
    """A user's message as an object."""

    type: str = "human"
    content: str
    id: str | None = None


class AIMessage(BaseModel):
    """An answer as an object, with what its provider reported."""

    type: str = "ai"
    content: str = ""
    tool_calls: list[Any]
    additional_kwargs: dict[str, Any]
    response_metadata: dict[str, Any]
    usage_metadata: dict[str, Any]
    id: str


class ToolMessage(BaseModel):
    """A tool's result as an object."""

    type: str = "tool"
    content: str
    tool_call_id: str
    id: str | None = None


def in_objects(one: str, other: str) -> list[BaseModel]:
    run = str(uuid.uuid4())
    calls = [{"name": "weather", "args": {}, "id": i, "type": "tool_call"} for i in (one, "b")]
    raw = [{"id": i, "type": "function", "function": {"name": "weather"}} for i in (one, "b")]
    said = AIMessage(
        tool_calls=calls,
        additional_kwargs={"tool_calls": raw},
        response_metadata={"id": run, "system_fingerprint": run, "token_usage": {"total": 9}},
        usage_metadata={"total_cost": len(one)},
        id=f"run-{run}",
    )
    results = [ToolMessage(content="7", tool_call_id=i, id=run) for i in (other, "b")]
    return [said, *results, HumanMessage(content="So?", id=run)]


SHAPES = [in_anthropic, in_gemini, in_responses, in_camel_case, in_bedrock, in_objects]


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_of_every_provider_count_by_position(
    kind: str, far: SemanticCache, shape: Callable[[str, str], Any]
) -> None:
    """New ids are no change; a result that answers another call, or none, is one."""
    prompts = [
        shape("a", "a"),
        shape("x", "x"),
        shape("a", "stranger"),
        shape("long id", "long id"),
    ]

    assert replies(kind, far, *prompts, dynamic=False) == ["R1", "R1", "R2", "R1"]


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_in_a_history_that_is_an_argument_count_by_position(
    kind: str, far: SemanticCache, shape: Callable[[str, str], Any]
) -> None:
    """Earlier turns may come beside the prompt; a result of another call is a change there too."""
    first = {"role": "assistant", "content": "Let me see.", "id": "m"}
    turns = [[first, *shape(*ids)] for ids in (("a", "a"), ("x", "x"), ("a", "stranger"))]

    answers = replies_to(kind, far, PROMPT, *({"history": made} for made in turns))

    assert answers == ["R1", "R1", "R2"]


def test_the_ids_of_what_is_no_turn_count(kind: str, far: SemanticCache) -> None:
    """An answer may cite a document by its id."""
    papers = [{"documents": [{"id": i, "content": "Forms are due in May."}]} for i in ("a", "b")]

    assert replies_to(kind, far, PROMPT, *papers) == ["R1", "R2"]


class Plain:
    """A message of a class that is neither a model nor a dataclass."""

    def __init__(self, role: str, content: str) -> None:
        self.role, self.content, self.id = role, content, str(uuid.uuid4())


def test_a_message_of_any_class_is_read_by_its_attributes(kind: str, far: SemanticCache) -> None:
    """Its id is no content, and its text is the text."""
    prompts: list[Any] = [[Plain("system", "Be brief."), Plain("user", PROMPT)] for _ in range(2)]
    written = [{"role": "system", "content": "Be brief."}, user(PROMPT)]

    assert replies(kind, far, *prompts, written) == ["R1", "R1", "R1"]


def test_the_order_of_keys_gives_no_id_its_number(kind: str, far: SemanticCache) -> None:
    """A message with two lists of calls may name either first."""
    function = {"name": "weather", "arguments": "{}"}
    said = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "weather"}],
        "tool_calls": [{"id": "b", "type": "function", "function": function}],
    }
    turned = dict(reversed(said.items()))
    results = [{"role": "tool", "tool_call_id": i, "content": i} for i in ("a", "b")]

    prompts = [[message, *results, user("So?")] for message in (said, turned)]

    assert replies(kind, far, *prompts, dynamic=False) == ["R1", "R1"]


def test_an_id_that_is_all_an_item_says_counts_by_value(kind: str, far: SemanticCache) -> None:
    """A reference to something kept elsewhere is content."""
    kinds = ["item_reference", "image_generation_call"]
    prompts = [[{"type": name, "id": i}, user("So?")] for name in kinds for i in ("a", "b")]

    assert replies(kind, far, *prompts, dynamic=False) == ["R1", "R2", "R3", "R4"]


class Harbour(dt.tzinfo):
    """A zone that prints as its address."""

    def utcoffset(self, _when: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(hours=1)

    def tzname(self, _when: dt.datetime | None) -> str:
        return "Oban"

    def dst(self, _when: dt.datetime | None) -> None:
        return None


class Client:
    """A client that makes its connection when it is first asked for."""

    def __init__(self) -> None:
        self.model = "small"

    @functools.cached_property
    def connection(self) -> object:
        return object()


def used() -> Client:
    client = Client()
    assert client.connection
    return client


ZONE = Harbour()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (dt.datetime(2024, 5, 1, tzinfo=ZONE), dt.datetime(2024, 5, 1, tzinfo=Harbour())),
        (dt.time(10, tzinfo=ZONE), dt.time(10, tzinfo=Harbour())),
        (Client(), used()),
        (SimpleNamespace(a=1, b={"x", "y"}), SimpleNamespace(b={"y", "x"}, a=1)),
        (list[dict[str, int]], list[dict[str, int]]),
        ({"at": (1, frozenset("abc"))}, {"at": [1.0, set("cba")]}),
    ],
    ids=["datetime", "time", "cached property", "namespace", "type", "sets"],
)
def test_what_prints_its_address_or_grows_on_use_makes_one_key(
    kind: str, far: SemanticCache, one: object, other: object
) -> None:
    """Two values made alike are one argument."""
    answers = replies_to(kind, far, PROMPT, {"given": one}, {"given": other})

    assert answers == ["R1", "R1"]


OBJECTS = """
import sys, enum, typing, dataclasses
from semcache import Config, Hit, SemanticCache

class Colour(enum.Enum):
    RED = frozenset("abcdef")

@dataclasses.dataclass
class Answer:
    colours: set[str]
    of: typing.Literal["x", "y"] = "x"

def weather(city: str, units: Answer | None = None, kinds=frozenset("abcdef")) -> str:
    "Tell the weather."
    return {"a", "b", "c"} if city in {"Oban", "Nice", "Mull"} else city

class Agent:
    tools = [weather]
    def __init__(self):
        self.seen, self.colour = {"x", "y", "z"}, Colour.RED

given = {"tools": [weather, Answer, Agent], "agent": Agent(), "format": list[Answer]}
with SemanticCache(
    sys.argv[1], embedder=False, config=Config(store_timeout_seconds=30)
) as cache:
    found = cache.lookup("Which tax form do I file in spring?", **given)
    print(found.value if isinstance(found, Hit) else "miss")
    cache.put("Which tax form do I file in spring?", "A", **given)
"""


def test_two_processes_read_functions_and_classes_alike(tmp_path: Path) -> None:
    """Code, schemas and objects make one key under another seed of the process's hashes."""
    folder = str(tmp_path / "c")

    assert run_twice(OBJECTS, ([folder], [folder])) == ["miss", "A"]
