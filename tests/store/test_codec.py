"""Rows: whatever goes in comes out equal, and whatever is damaged is refused."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.entry import Entry
from semcache.errors import CorruptRecordError, ValueFormError
from semcache.store.codec import SCHEMA_VERSION, from_row, to_row
from tests.contracts.store import make_entry

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
TIME = st.floats(-1e12, 1e12)

ENTRIES = st.builds(
    Entry,
    key=st.binary(min_size=16, max_size=16),
    entry_id=TEXT,
    scope=st.binary(max_size=20),
    namespace=TEXT,
    model=st.none() | TEXT,
    text=TEXT,
    payload=st.binary(max_size=50),
    created_at=TIME,
    expires_at=st.none() | TIME,
    epochs=st.dictionaries(TEXT, st.integers(0, 2**63), max_size=3),
    exact_only=st.booleans(),
    gate=TEXT,
    embedder=TEXT,
    windows=st.integers(0, 9),
    vectors=st.binary(max_size=50),
    stream=st.booleans(),
    pinned=st.booleans(),
    source=TEXT,
    saved_seconds=TIME,
    saved_cost=TIME,
)


@given(ENTRIES)
def test_every_entry_round_trips(entry: Entry) -> None:
    """Any text, surrogates included, any bytes, any finite time."""
    assert from_row(to_row(entry)) == entry


@given(ENTRIES, st.data())
def test_every_flipped_byte_is_caught(entry: Entry, data: st.DataObject) -> None:
    """No byte of a row can change unnoticed."""
    row = bytearray(to_row(entry))
    row[data.draw(st.integers(0, len(row) - 1))] ^= data.draw(st.integers(1, 255))

    with pytest.raises(CorruptRecordError):
        from_row(bytes(row))


@given(ENTRIES, st.data())
def test_every_cut_and_every_tail_is_caught(entry: Entry, data: st.DataObject) -> None:
    """A row that is too short or too long is refused."""
    row = to_row(entry)
    cut = row[: data.draw(st.integers(0, len(row) - 1))]
    tail = row + data.draw(st.binary(min_size=1, max_size=9))

    for damaged in (cut, tail):
        with pytest.raises(CorruptRecordError):
            from_row(damaged)


@given(st.binary(max_size=300))
def test_noise_is_not_a_row(noise: bytes) -> None:
    """Bytes that are not ours raise one error and no other."""
    with pytest.raises(CorruptRecordError):
        from_row(noise)


def forge(header: str) -> bytes:
    """Give a row with a checksum that fits, around any header."""
    raw = header.encode()
    body = struct.pack(">6Q", len(raw), 16, 0, 0, 0, 0) + raw + bytes(16)
    salt = SCHEMA_VERSION.to_bytes(16)
    return (
        b"smc\x00"
        + bytes([SCHEMA_VERSION])
        + blake2b(body, digest_size=16, salt=salt).digest()
        + body
    )


def honest_header(**changes: Any) -> str:
    row = to_row(replace(make_entry("q"), key=bytes(16)))
    (length,) = struct.unpack_from(">Q", row, 21)
    values = json.loads(row[69 : 69 + length])
    return json.dumps([changes.get(str(place), value) for place, value in enumerate(values)])


def test_an_honest_header_is_accepted() -> None:
    """The forger of the next test would succeed if types were not checked."""
    assert from_row(forge(honest_header())).key == bytes(16)


@pytest.mark.parametrize(
    "header",
    [
        "[]",
        "{}",
        "null",
        "[" * 100_000,
        honest_header(**{"0": "soon"}),
        honest_header(**{"0": None}),
        honest_header(**{"0": 10**400}),
        honest_header(**{"3": True}),
        honest_header(**{"4": {"tag": "x"}}),
        honest_header(**{"5": 7}),
        honest_header(**{"8": 1}),
        honest_header(**{"12": 1.0}),
        honest_header().replace("1700000000.0", "NaN"),
        honest_header().replace("1700000000.0", "1e999"),
        honest_header().replace("1700000000.0", "-Infinity"),
    ],
    ids=range(15),
)
def test_a_forged_header_is_refused(header: str) -> None:
    """A fitting checksum does not make fields of other types or infinite times acceptable."""
    with pytest.raises(CorruptRecordError):
        from_row(forge(header))


@pytest.mark.parametrize(
    "changes",
    [
        {"created_at": float("nan")},
        {"expires_at": float("inf")},
        {"epochs": {"tag": 1.5}},
        {"namespace": None},
        {"windows": True},
    ],
    ids=str,
)
def test_an_entry_without_a_plain_form_is_an_error(changes: dict[str, Any]) -> None:
    """The error comes at the write, and names the entry."""
    with pytest.raises(ValueFormError, match="q-answer"):
        to_row(replace(make_entry("q"), **changes))
