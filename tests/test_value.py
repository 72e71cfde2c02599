"""Values come back with their type, equal and fresh, or are refused; records never run code."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import json
import math
import pathlib
import subprocess
import sys
import threading
import typing
import uuid
import zoneinfo
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import ArgumentError, ValueFormError
from semcache.value import decode, encode, join, register, split
from semcache.value_classes import _shape


class Colour(enum.Enum):
    """An enum with an alias."""

    RED = 1
    GREEN = 2
    CRIMSON = 1


class Level(enum.StrEnum):
    """An enum whose members are strings."""

    LOW = "low"


class Right(enum.Flag):
    """Members that can be added up."""

    READ = 1
    WRITE = 2


Point = namedtuple("Point", ["x", "y"])  # the untyped kind is what is tested


class Span(typing.NamedTuple):
    """A typed namedtuple with a default."""

    start: int
    end: int = 0


@dataclasses.dataclass
class Usage:
    """A plain dataclass with a field that the constructor does not take."""

    tokens: int
    total: int = dataclasses.field(init=False, default=0)
    kinds: ClassVar[int] = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A frozen slotted dataclass that holds another."""

    text: str
    usage: Usage
    tags: tuple[str, ...] = ()


@dataclasses.dataclass
class Measured:
    """A dataclass with a value that is worked out once."""

    side: float

    @functools.cached_property
    def area(self) -> float:
        """The side squared."""
        return self.side**2


ran: list[str] = []


@dataclasses.dataclass
class Trap:
    """A dataclass whose building has a side effect."""

    command: str

    def __post_init__(self) -> None:
        ran.append(self.command)


@dataclasses.dataclass
class Tidier:
    """A dataclass that acts when it is dropped."""

    path: str

    def __del__(self) -> None:
        ran.append(self.path)


class Message(pydantic.BaseModel):
    """A model with extras, a private part and a validator that would complain."""

    model_config = pydantic.ConfigDict(extra="allow")
    role: str
    content: str | None = None
    _cursor: int = pydantic.PrivateAttr(default=0)

    @pydantic.field_validator("role")
    @classmethod
    def _count(cls, role: str) -> str:
        ran.append(role)
        return role


class Reply(pydantic.BaseModel):
    """A model of models."""

    messages: list[Message]
    at: datetime | None = None


class Names(pydantic.RootModel[list[str]]):
    """A model that is a list."""


T = typing.TypeVar("T")


class Box(pydantic.BaseModel, typing.Generic[T]):
    """A generic model."""

    item: T


IntBox = Box[int]


@pydantic.dataclasses.dataclass
class Checked:
    """A dataclass of pydantic's."""

    number: int


class Plain:
    """A class that nobody made known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]  # equal by a mutable text


class Listed(list[int]):
    """A list with a name of its own."""


def same(left: Any, right: Any) -> bool:
    """Say whether two values are equal in type and content, all the way down; NaN equals NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return repr(left) == repr(right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left.items()), list(right.items()))
    return bool(left == right)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**60), max_value=10**60),
    st.floats(),
    st.text(),
    st.text(alphabet=st.characters(categories=["Cs"]), max_size=4),
    st.binary(),
    st.binary().map(bytearray),
    st.dates(),
    st.datetimes(timezones=st.none() | st.just(UTC) | st.timezones()),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.uuids(),
    st.sampled_from([Colour.RED, Level.LOW, Right.READ, range(1, 9, 2), pathlib.Path("a/b")]),
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.tuples(st.text(), st.integers()))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.frozensets(keys, max_size=4),
        st.sets(keys, max_size=4),
        st.builds(Answer, st.text(), st.builds(Usage, st.integers())),
    ),
    max_leaves=12,
)


@given(values)
def test_nested_values_come_back_alike(value: Any) -> None:
    """Whatever is nested in whatever, type, order and content survive."""
    back = decode(encode(value))

    assert same(back, value)
    assert encode(back) == encode(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a\ud83d\ude00b",
        ["\ud83d", "\ude00", "\ud83d\ude00", "\U0001f600"],
        [0, False, 0.0, -0.0, None, "", b"", [], (), {}, set()],
        [10**5000, -(10**5000), 2**64, -(2**63)],
        [math.inf, -math.inf, 1e-323, 1.7976931348623157e308],
        complex(-0.0, math.inf),
        {1: "int", "1": "str", (1, 2): "tuple", None: "none", 1.5: "float", b"1": "bytes"},
        {"b": 1, "a": 2},
        OrderedDict([("b", 1), ("a", 2)]),
        {"dict": ["not", "a", "form"], "tuple": {"set": []}},
        datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"), fold=1),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=45, microseconds=7))),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET")),
        time(1, 2, 3, 4, tzinfo=UTC, fold=1),
        date.min,
        Decimal("1.10"),
        Decimal("-0E-7"),
        Fraction(-(10**40), 3),
        uuid.UUID(int=7),
        pathlib.Path("a/b c"),
        pathlib.PurePosixPath("/x"),
        pathlib.PureWindowsPath("C:\\x"),
        range(10, -3, -2),
        Colour.CRIMSON,
        Level.LOW,
        Right.WRITE,
        Point(1, [2]),
        Span(3),
        Usage(3),
        Answer("yes", Usage(1), ("a",)),
        Message.model_validate({"role": "user", "refusal": None, "parts": [1, 2]}),
        Reply(messages=[Message(role="user"), Message(role="tool", content="")], at=None),
        Reply.model_validate({"messages": [], "at": "2024-01-01T00:00:00Z"}),
        Names(["a", "b"]),
        IntBox(item=3),
        Checked(7),
        np.float32(1.5),
        np.int64(-3),
        np.bool_(True),
        np.str_("汉字"),
        np.datetime64("2024-01-01T00:00:01", "ms"),
    ],
    ids=range(42),
)
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    """Falsy values, odd numbers, moments, paths and instances keep type, order and content."""
    back = decode(encode(value))

    assert same(back, value)


def test_moments_keep_their_zone_and_fold() -> None:
    """Equal moments in different zones are told apart, as are the two halves of a clock change."""
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    pair = [datetime(2024, 10, 27, 2, 30, tzinfo=zone, fold=fold) for fold in (0, 1)]
    named = timezone(timedelta(hours=1), "CET")

    back = decode(encode([*pair, time(1, tzinfo=named), time(1, tzinfo=timezone(timedelta(0)))]))

    assert [moment.fold for moment in back[:2]] == [0, 1]
    assert back[0].tzinfo is zone
    assert back[2].tzname() == "CET"
    assert back[3].tzinfo is UTC


def test_a_model_keeps_what_equality_does_not_show() -> None:
    """Fields that were set, extra fields and private parts survive, and no validator runs again."""
    message = Message.model_validate({"role": "user", "refusal": "no"})
    message._cursor = 4
    ran.clear()

    back = decode(encode(message))

    assert ran == []
    assert back == message
    assert back.model_fields_set == {"role", "refusal"}
    assert back.model_extra == {"refusal": "no"}
    assert back._cursor == 4


def test_a_model_built_without_validation_comes_back() -> None:
    """A model that lacks a required field, as clients build them, is stored as it is."""
    message = Message.model_construct(content="hi")

    back = decode(encode(message))

    assert back.__dict__ == message.__dict__


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(6)[::2],
        np.array([math.nan, -0.0]),
        np.array(3.5),
        np.zeros((0, 4), dtype=np.int8),
        np.array([1, 2], dtype=">i4"),
        np.array(["a", "汉字"]),
        np.array(["2024-01-01"], dtype="M8[D]"),
        np.array([True, False]),
    ],
    ids=range(10),
)
def test_an_array_comes_back_writable(array: np.ndarray[Any, Any]) -> None:
    """Type, shape and every bit of an array survive, and the copy can be changed."""
    back = decode(encode(array))

    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert back.flags.writeable


def test_every_reader_gets_its_own_object() -> None:
    """Changing what one reader got, or what was stored, changes nothing for the next."""
    value = {"choices": [{"text": "a"}], "usage": Usage(1)}
    data = encode(value)

    value["choices"].append("later")  # type: ignore[attr-defined]
    first = decode(data)
    first["choices"][0]["text"] = "changed"
    first["usage"].tokens = 9

    assert decode(data) == {"choices": [{"text": "a"}], "usage": Usage(1)}


def test_equal_sets_make_equal_records() -> None:
    """The order in which a set happens to be walked does not show."""
    assert encode({"b", "a", "c"}) == encode({"c", "b", "a"})


def local_instance() -> object:
    """Return an instance of a class that no module can name."""

    @dataclasses.dataclass
    class Hidden:
        x: int

    return Hidden(1)


def tagged_usage() -> Usage:
    """Return an instance that carries more than its fields."""
    usage = Usage(1)
    usage.note = "n"  # type: ignore[attr-defined]
    return usage


def a_cycle() -> list[Any]:
    """Return a list that holds itself."""
    items: list[Any] = []
    items.append(items)
    return items


def a_web() -> list[Any]:
    """Return a small value that unfolds to 2 ** 50 parts."""
    items: list[Any] = ["x"]
    for _ in range(50):
        items = [items, items]
    return items


def a_tower(height: int) -> list[Any]:
    """Return that many lists inside one another."""
    items: list[Any] = []
    for _ in range(height):
        items = [items]
    return items


async def a_coroutine() -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    "make",
    [
        threading.Lock,
        lambda: {"answer": [threading.Lock()]},
        lambda: (x for x in "ab"),
        lambda: print,
        lambda: Plain,
        lambda: Plain("x"),
        lambda: Listed([1]),
        lambda: object(),
        lambda: Right.READ | Right.WRITE,
        lambda: Tidier("x"),
        lambda: memoryview(b"x"),
        lambda: np.array([object()]),
        lambda: np.zeros(1, dtype=[("a", "i4")]),
        lambda: np.ma.masked_array([1], mask=[True]),
        lambda: pydantic.SecretStr("s"),
        lambda: Message.model_validate({"role": "user", "hook": print}),
        lambda: ValueError("x"),
        local_instance,
        tagged_usage,
        a_cycle,
        a_web,
        lambda: a_tower(200),
        lambda: a_tower(100_000),
    ],
    ids=range(23),
)
def test_what_cannot_come_back_is_refused(make: Callable[[], Any]) -> None:
    """Live things, unknown classes, hidden state, cycles and towers end in one clear error."""
    with pytest.raises(ValueFormError):
        encode(make())


def test_coroutines_and_open_files_are_refused(tmp_path: pathlib.Path) -> None:
    """What must be awaited or closed is not an answer."""
    coroutine = a_coroutine()
    try:
        with pytest.raises(ValueFormError), (tmp_path / "x").open("w") as file:
            encode([file])
        with pytest.raises(ValueFormError, match="coroutine"):
            encode(coroutine)
    finally:
        asyncio.run(coroutine)


def test_a_refusal_names_the_class_and_the_remedy() -> None:
    """The message says what could not be stored and what to do."""
    with pytest.raises(ValueFormError, match=r"test_value:Plain.*register"):
        encode([Plain("x")])


def test_a_filled_cached_property_does_not_count() -> None:
    """What a class works out from its fields is worked out again."""
    measured = Measured(2.0)
    assert measured.area == 4.0

    back = decode(encode(measured))

    assert back == measured
    assert "area" not in vars(back)


def test_a_registered_class_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of any kind is stored once its two functions are known, and no subclass is."""

    class Odd(Plain):
        pass

    register(Odd, lambda odd: {"text": odd.text}, lambda plain: Odd(plain["text"]))

    back = decode(encode([Odd("a")]))

    assert type(back[0]) is Odd
    assert back == [Odd("a")]
    with pytest.raises(ValueFormError):
        encode(type("Odder", (Odd,), {})("x"))


def test_a_registration_that_loses_something_is_refused_at_once() -> None:
    """A value is read back before it is stored, so that a lossy pair of functions shows."""

    class Lossy(Plain):
        pass

    class Broken(Plain):
        pass

    register(Lossy, lambda lossy: lossy.text, lambda plain: Lossy(plain.upper()))
    register(Broken, lambda broken: 1 // 0, Broken)

    with pytest.raises(ValueFormError, match="come back"):
        encode({"answer": Lossy("a")})
    with pytest.raises(ValueFormError, match="to_plain of"):
        encode(Broken("a"))


@pytest.mark.parametrize("cls", [str, dict, np.ndarray, "Plain"])
def test_only_classes_of_ones_own_are_registered(cls: Any) -> None:
    """A built-in type keeps its own form."""
    with pytest.raises(ArgumentError, match="cls"):
        register(cls, repr, eval)


@pytest.mark.parametrize(
    "record",
    [
        {"registered": ["os:system", "touch x"]},
        {"dataclass": ["os:system", "", {"dict": []}]},
        {"dataclass": ["posix:system", "", {"dict": []}]},
        {"dataclass": ["subprocess:Popen", "", {"dict": ["args", "true"]}]},
        {"model": ["subprocess:Popen", "", [{"dict": []}, [], None, None]]},
        {"enum": ["subprocess:Popen", "x"]},
        {"namedtuple": ["builtins:tuple", "", [1]]},
        {"enum": ["enum:Enum", "__call__"]},
        {"dataclass": [f"{__name__}:Trap.__init__", "", {"dict": []}]},
        {"dataclass": [f"{__name__}:Usage", "another shape", {"dict": ["tokens", 1]}]},
        {"dataclass": [["os"], "", {}]},
        {"path": ["Path", "/"]},
        {"zone": "../../../etc/passwd"},
        {"zone": "os.path"},
        {"ndarray": ["|O", [1], "AAAAAAAAAAA="]},
        {"ndarray": ["<f8", [1000000000000], "AAAAAAAAAAA="]},
        {"dict": ["odd"]},
        {"set": [[1]]},
        {"int": "not hex"},
        {"__class__": "x"},
        {"tuple": [], "list": []},
        {},
    ],
    ids=range(22),
)
def test_a_forged_record_runs_nothing(record: Any) -> None:
    """A record that names a function, a foreign class or nonsense is refused, and nothing runs."""
    ran.clear()

    with pytest.raises(ValueFormError):
        decode(b"j" + json.dumps(record).encode())

    assert ran == []


def test_rebuilding_a_dataclass_runs_none_of_its_code() -> None:
    """A record may name a dataclass of this process; its constructor is not called."""
    data = encode(Trap("harmless"))
    ran.clear()

    back = decode(data.replace(b"harmless", b"rm -rf /"))

    assert back.command == "rm -rf /"
    assert ran == []


def test_a_class_that_acts_when_it_is_dropped_is_not_rebuilt() -> None:
    """A forged record cannot have a destructor run on a path of its choice."""
    body = [f"{__name__}:Tidier", _shape(Tidier), {"dict": ["path", "/"]}]
    ran.clear()

    with pytest.raises(ValueFormError, match="Tidier"):
        decode(b"j" + json.dumps({"dataclass": body}).encode())

    assert ran == []


def test_a_record_never_imports_a_module(tmp_path: pathlib.Path) -> None:
    """A class whose module is not loaded is not found, even if the module could be imported."""
    (tmp_path / "lurking.py").write_text("open('proof', 'w')\nclass A: pass\n")
    script = """
from semcache.value import decode
try:
    decode(b'j{"dataclass":["lurking:A","",{"dict":[]}]}')
except TypeError as error:
    print(error)
"""
    root = pathlib.Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{root}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert "lurking:A" in done.stdout
    assert not (tmp_path / "proof").exists()


def test_a_class_that_changed_is_not_filled_with_old_fields(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record of a class whose fields have another type now is refused."""
    data = encode(Usage(1))

    @dataclasses.dataclass
    class Usage2:
        tokens: str
        total: int = dataclasses.field(init=False, default=0)
        kinds: ClassVar[int] = 2

    Usage2.__qualname__ = "Usage"
    monkeypatch.setattr(sys.modules[__name__], "Usage", Usage2)

    with pytest.raises(ValueFormError, match="changed"):
        decode(data)


@given(st.binary())
def test_any_bytes_are_a_value_or_one_kind_of_error(data: bytes) -> None:
    """Torn and random records never raise anything else."""
    for prefix in (b"", b"s", b"j", b"c"):
        try:
            decode(prefix + data)
        except ValueFormError:
            continue


@pytest.mark.parametrize(
    "data",
    [b"", b"x", b"j", b"j[", b"j" + b"[" * 100_000, b"j" + b"9" * 10_000, b"c\xff\xff\xff\xff"],
    ids=range(7),
)
def test_a_torn_record_is_refused(data: bytes) -> None:
    """What is cut short, too deep or of an unknown kind ends in one error."""
    with pytest.raises(ValueFormError):
        decode(data)


@given(st.lists(st.binary()), st.binary())
def test_joined_parts_come_apart_again(parts: list[bytes], tail: bytes) -> None:
    """Parts of any content and length, and a tail, survive."""
    assert split(join(parts, tail)) == (parts, tail)


def test_joined_values_read_as_a_list() -> None:
    """One record of many values decodes to the list of them."""
    assert decode(join([encode("a"), encode(""), encode({"b": 1})])) == ["a", "", {"b": 1}]
