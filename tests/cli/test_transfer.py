"""An export comes back as it was, or not at all."""

import gzip
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semcache import Hit, Miss, SemanticCache
from semcache.errors import ArgumentError, FileFormatError, StoreError
from semcache.transfer import export_entries, import_entries
from tests.fakes import Clock, Far


def filled(directory: Path, clock: Clock) -> SemanticCache:
    cache = SemanticCache(directory, embedder=Far(), threshold=0.9, clock=clock)
    cache.preload()
    cache.put("Are cards free?", {"text": "Yes."}, model="m", depends_on=["kb:cards"])
    cache.put("怎么退货", "七天内。", namespace="shop", ttl_seconds=None, pinned=True)
    cache.put("Odd \ud800 text", "fine", ttl_seconds=60)
    cache.flush()
    return cache


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_every_field_comes_back(tmp_path: Path, name: str) -> None:
    """Ids, lifetimes, tags and vectors are those of the first cache, and the answers are served."""
    clock = Clock()

    with filled(tmp_path / "one", clock) as one, SemanticCache(embedder=False, clock=clock) as two:
        written = export_entries(one, tmp_path / name)
        read = import_entries(two, tmp_path / name)
        before = {entry.key: entry for entry in one.entries()}
        after = {entry.key: entry for entry in two.entries()}
        decision = two.lookup("Are cards free?", model="m")

    assert (written.written, read.stored) == (3, 3)
    assert before == after
    assert isinstance(decision, Hit)
    assert decision.value == {"text": "Yes."}


def test_only_one_namespace(tmp_path: Path) -> None:
    """Both ways take one tenant alone."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one, SemanticCache(embedder=False, clock=clock) as two:
        export_entries(one, path)
        read = import_entries(two, path, namespace="shop")
        written = export_entries(one, tmp_path / "shop.jsonl", namespace="shop")

    assert (written.written, read.stored) == (1, 1)


def test_dead_entries_stay_behind(tmp_path: Path) -> None:
    """The invalidated are not exported, and what expired in between is not imported."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one, SemanticCache(embedder=False, clock=clock) as two:
        one.invalidate("kb:cards")
        written = export_entries(one, path)
        clock.advance(120)
        read = import_entries(two, path)

    assert (written.written, written.left_out) == (2, 1)
    assert (read.stored, read.expired) == (1, 1)


def test_newer_answers_stay(tmp_path: Path) -> None:
    """An import does not undo what was stored since, and a second import changes nothing."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one:
        export_entries(one, path)
        clock.advance(10)
        one.put("Are cards free?", "No.", model="m")
        read = import_entries(one, path)
        decision = one.lookup("Are cards free?", model="m")

    assert (read.stored, read.present) == (0, 3)
    assert isinstance(decision, Hit)
    assert decision.value == "No."


def test_an_import_does_not_revive_what_was_invalidated(tmp_path: Path) -> None:
    """An old export, brought back after an invalidation, leaves those answers dead."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one:
        export_entries(one, path, origin="here")
        one.invalidate("kb:cards")
        one.purge(lambda _: True)
        read = import_entries(one, path, origin="here")
        decision = one.lookup("Are cards free?", model="m")

    assert (read.stored, read.invalidated) == (2, 1)
    assert isinstance(decision, Miss)


def test_a_directory_takes_back_its_own_after_an_invalidation(tmp_path: Path) -> None:
    """Counters compare where they were written: what is newer than the invalidation is current."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one:
        one.invalidate("kb:cards")
        one.put("Are cards free?", "No.", model="m", depends_on=["kb:cards"])
        export_entries(one, path, origin="here")
        one.purge(lambda _: True)
        elsewhere = import_entries(one, path, origin="there")
        at_home = import_entries(one, path, origin="here")

    assert elsewhere.invalidated == 1
    assert at_home.stored == 1


def test_counters_of_two_directories_are_not_compared(tmp_path: Path) -> None:
    """Moved once here and once there is chance; `as_current` is the user's word for it."""
    clock = Clock()
    path = tmp_path / "all.jsonl"

    with filled(tmp_path / "one", clock) as one, SemanticCache(embedder=False, clock=clock) as two:
        one.invalidate("kb:cards")
        one.put("Are cards free?", "No.", model="m", depends_on=["kb:cards"])
        two.invalidate("kb:cards")
        export_entries(one, path, origin="one")
        careful = import_entries(two, path, origin="two")
        told = import_entries(two, path, origin="two", as_current=True)
        decision = two.lookup("Are cards free?", model="m")

    assert (careful.invalidated, told.stored) == (1, 1)
    assert isinstance(decision, Hit)


def _cut_line(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def _cut_byte(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-2], lines[-2][:-30]]


def _drop_entry(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *lines[2:]]


def _change(old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [line.replace(old, new) for line in lines]


def _vectors(lines: list[bytes]) -> list[bytes]:
    values = json.loads(lines[1])
    values["vectors"] = values["vectors"][:-4]
    return [lines[0], json.dumps(values).encode() + b"\n", *lines[2:]]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut_line, "line 4: the file ends before its checksum"),
        (_cut_byte, "line 4: not a line of an export"),
        (_drop_entry, "line 4: the checksum does not match"),
        (_change(b"Are cards", b"Are birds"), "line 2: not an entry: its key does not belong"),
        (_change(b'"pinned":true', b'"pinned":1'), "line 3: not an entry"),
        (_change(b'"gate"', b'"goat"'), "line 2: not an entry: its fields .*'gate'"),
        (_change(b'"version":2', b'"version":3'), "line 1: format version 3"),
        (_change(b"semcache export", b"something"), "line 1: not a file that"),
        (_vectors, "line 2: not an entry"),
        (lambda lines: [*lines, b"{}\n"], "line 6: expected nothing after"),
        (lambda _: [], "line 1: the file is empty"),
        (lambda lines: [lines[0], b"[1]\n", *lines[1:]], "line 2: .*expected an object"),
    ],
)
def test_a_damaged_export_is_refused_whole(
    tmp_path: Path, damage: Callable[[list[bytes]], list[bytes]], message: str
) -> None:
    """The error names file and line, and nothing of it was stored."""
    path = tmp_path / "all.jsonl"
    with filled(tmp_path / "one", Clock()) as one:
        export_entries(one, path)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))

    with SemanticCache(embedder=False, clock=Clock()) as two:
        with pytest.raises(FileFormatError, match=message) as caught:
            import_entries(two, path)

        assert str(path) in str(caught.value)
        assert len(two) == 0


def test_a_vector_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    """NaN would match everything or nothing; the line is named before any checksum."""
    path = tmp_path / "all.jsonl"
    with filled(tmp_path / "one", Clock()) as one:
        export_entries(one, path)
        entry = next(e for e in one.entries() if e.windows)
    width = len(entry.vectors) // 4
    bad = np.full(width, np.nan, np.float32).tobytes()
    from base64 import b64encode

    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace(b64encode(entry.vectors).decode(), b64encode(bad).decode()), encoding="utf-8"
    )

    with (
        SemanticCache(embedder=False, clock=Clock()) as two,
        pytest.raises(FileFormatError, match="not finite"),
    ):
        import_entries(two, path)


@pytest.mark.parametrize("content", [b"plain text", b"\x1f\x8b\x08\x00broken"])
def test_a_damaged_compression_is_named(tmp_path: Path, content: bytes) -> None:
    """A file that ends in .gz and is not that, or is cut, is a format error too."""
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(content)

    with (
        SemanticCache(embedder=False) as cache,
        pytest.raises(FileFormatError, match="the compression is damaged"),
    ):
        import_entries(cache, path)


def test_a_cut_compression_is_named(tmp_path: Path) -> None:
    """Half of a compressed export stores nothing."""
    path = tmp_path / "all.jsonl.gz"
    with filled(tmp_path / "one", Clock()) as one:
        export_entries(one, path)
    path.write_bytes(path.read_bytes()[:-20])

    with SemanticCache(embedder=False) as cache:
        with pytest.raises(FileFormatError, match="damaged"):
            import_entries(cache, path)
        assert len(cache) == 0


def test_the_file_is_its_owners_and_whole(tmp_path: Path) -> None:
    """Nobody else may read it, an old one stays unless told, and no half file is left behind."""
    path = tmp_path / "all.jsonl.gz"

    with filled(tmp_path / "one", Clock()) as one:
        export_entries(one, path)
        first = path.read_bytes()
        with pytest.raises(ArgumentError, match="pass --force"):
            export_entries(one, path)
        export_entries(one, path, replace_file=True)
        with pytest.raises(StoreError, match="cannot be written"):
            export_entries(one, tmp_path / "none" / "all.jsonl")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == first
    assert gzip.decompress(first).count(b"\n") == 5
    assert sorted(os.listdir(tmp_path)) == ["all.jsonl.gz", "one"]
