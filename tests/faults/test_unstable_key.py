"""Map order, random ids, clocks and callback objects enter the key, so equal requests never hit."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

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


def test_b037_two_processes_make_the_same_key(tmp_path: Path) -> None:
    """Whatever the order of the keys and the seed of the process's own hashes."""
    outputs = []
    for step, seed in (("1", "1"), ("-1", "2")):
        command = [sys.executable, "-c", PROCESS, str(tmp_path / "c"), step]
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=60, env=environment
        )
        outputs.append(done.stdout.strip())

    assert outputs == ["miss", "A"]


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
