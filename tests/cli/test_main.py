"""The commands: what they print, their exit codes, and that nothing breaks into a traceback."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from semcache import SemanticCache
from semcache.cli import main
from semcache.cli.commands import cli
from semcache.cli.progress import progress

Data = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    directory = tmp_path / "cache"
    with SemanticCache(directory, embedder=False) as cache:
        cache.put("Are cards free?", "Yes.", model="m", depends_on=["kb:cards"])
        cache.put("[red]Where?\x1b[31m", {"text": "Here."}, namespace="shop", ttl_seconds=None)
    return directory


@pytest.fixture
def data(capsys: pytest.CaptureFixture[str]) -> Data:
    """Run a command with --json and give what it printed."""

    def run(*args: object, code: int = 0) -> Any:
        assert main([*map(str, args), "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_every_command_has_help() -> None:
    """--help works everywhere, and the version is the package's."""
    runner = CliRunner()

    for name in ("", *cli.commands):
        result = runner.invoke(cli, [name, "--help"] if name else ["--help"])
        assert result.exit_code == 0
        assert "Usage:" in result.output
    assert "0.1.0" in runner.invoke(cli, ["--version"]).output


@pytest.mark.parametrize(
    ("args", "code", "decision"),
    [
        (["Are cards free?", "--model", "m"], 0, "hit"),
        (["Are cards free?", "--model", "m", "--param", "temperature=0"], 1, "miss"),
        (["Are cards free?"], 1, "miss"),
        (["How is the weather today?"], 3, "bypass"),
    ],
)
def test_lookup_tells_by_its_exit_code(
    folder: Path, data: Data, args: list[str], code: int, decision: str
) -> None:
    """0 hit, 1 miss, 3 bypass; the steps are there for machines."""
    found = data("lookup", folder, *args, "--no-model", code=code)

    assert found["decision"] == decision
    assert isinstance(found["steps"], list)


def test_lookup_prints_the_explanation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The explanation comes first, then the answer."""
    code = main(["lookup", str(folder), "Are cards free?", "--model", "m", "--no-model"])

    out = capsys.readouterr().out
    assert code == 0
    assert out.startswith("Hit: exact")
    assert out.endswith("\nYes.\n")


def test_stats_counts_the_directory(folder: Path, data: Data) -> None:
    """By state, namespace, model and source."""
    found = data("stats", folder)

    assert found["entries"] == 2
    assert found["states"] == {"live": 2}
    assert found["namespaces"] == {"default": 1, "shop": 1}
    assert found["models"] == {"m": 1, "": 1}


def test_inspect_lists_and_shows(folder: Path, data: Data) -> None:
    """The list can be filtered; one entry is shown in full by the beginning of its id."""
    listed = data("inspect", folder, "--namespace", "shop")
    (entry,) = listed["entries"]

    shown = data("inspect", folder, entry["entry_id"][:10])

    assert listed["total"] == 1
    assert shown["value"] == {"text": "Here."}
    assert shown["expires_at"] is None


def test_stored_texts_do_not_steer_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters are made visible, and markup is only text."""
    main(["inspect", str(folder)])

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[red]Where?\\x1b[31m" in out


def test_the_list_says_what_it_leaves_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a limit, the rest is counted."""
    main(["inspect", str(folder), "--limit", "1"])

    assert "1 more: --limit" in capsys.readouterr().out


def test_invalidate_kills_by_tag(folder: Path, data: Data) -> None:
    """The count is of entries that were alive; a second time there are none."""
    first = data("invalidate", folder, "kb:cards")
    second = data("invalidate", folder, "kb:cards")

    assert (first["invalidated"], second["invalidated"]) == (1, 0)
    assert data("stats", folder)["states"] == {"live": 1, "invalidated": 1}


def test_export_and_import(folder: Path, data: Data, tmp_path: Path) -> None:
    """A new directory gets all; a second import finds them there."""
    file, other = tmp_path / "all.jsonl.gz", tmp_path / "other"

    assert data("export", folder, file) == {"written": 2, "left_out": 0}
    first = data("import", other, file)
    second = data("import", other, file)

    assert (first["stored"], second["present"]) == (2, 2)


def test_warm_fills_a_new_directory(data: Data, tmp_path: Path) -> None:
    """A GB18030 file; the second run changes nothing; look-ups by model find the answers."""
    file, directory = tmp_path / "faq.csv", tmp_path / "new"
    file.write_bytes("问题,答案\n怎么退货,七天内申请。\n".encode("gb18030"))

    first = data("warm", directory, file, "--model", "m", "--no-model", "--rate", "1000/s")
    second = data("warm", directory, file, "--model", "m", "--no-model")
    found = data("lookup", directory, "怎么退货", "--model", "m", "--no-model")

    assert (first["stored"], first["encoding"]) == (1, "gb18030")
    assert (second["stored"], second["unchanged"]) == (0, 1)
    assert found["value"] == "七天内申请。"


def test_warm_says_what_matters(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Refusals, bad rows, a missing model and missing vectors are told in lines."""
    file = tmp_path / "faq.jsonl"
    file.write_text(
        '{"prompt": "What time is it now?", "answer": "Late."}\nbad\n', encoding="utf-8"
    )

    main(["warm", str(tmp_path / "new"), str(file), "--no-model", "--skip-bad"])

    out = capsys.readouterr().out
    assert "1 refused, 1 bad rows or calls" in out
    assert "stored without a model" in out
    assert "no embedding model" in out
    assert "refused: 'What time is it now?'" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["stats", "{tmp}/none"], "there is no cache"),
        (["export", "{tmp}/none", "{tmp}/file"], "there is no cache"),
        (["invalidate", "{dir}"], "name exactly one of tag"),
        (["inspect", "{dir}", "zz"], "no entry begins so"),
        (["lookup", "{dir}", "a", "--param", "b"], "write NAME=VALUE"),
        (["lookup", "{dir}", "a", "--param", "model=b"], "model has a place of its own"),
        (["lookup", "{dir}", "a", "--threshold", "2"], "threshold=2.0"),
        (["warm", "{tmp}/new", "{tmp}/none.csv"], "cannot be read"),
        (["warm", "{tmp}/new", "{tmp}/none.csv", "--rate", "fast"], "write 5/s"),
        (["warm", "{tmp}/new", "{tmp}/none.csv", "--max-cost", "1"], "cost_per_entry"),
        (["import", "{dir}", "{tmp}/none.jsonl"], "cannot be read: No such file"),
        (["demo", "--length", "0"], "0 is not in the range"),
        (["demo", "--png", "x.jpg"], "ends in .png"),
        (["stats"], "Missing argument"),
        (["nonsense"], "No such command"),
        (["stats", "{dir}", "--wrong"], "No such option"),
    ],
)
def test_errors_are_one_line(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    message: str,
) -> None:
    """Exit code 2, one line on stderr that says what to do, nothing on stdout."""
    filled = [arg.format(tmp=tmp_path, dir=folder) for arg in args]

    code = main(filled)

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("semcache: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["stats", "{dir}"], "2 entries (2 live)"),
        (["inspect", "{dir}", "{id}"], "text           Are cards free?"),
        (["invalidate", "{dir}", "--namespace", "shop"], "1 entries invalidated"),
        (["export", "{dir}", "{tmp}/all.jsonl"], "2 entries written to"),
        (["import", "{tmp}/new", "{tmp}/old.jsonl"], "2 entries stored, 0 there already"),
        (["import", "{tmp}/moved", "{tmp}/old.jsonl"], "--as-current takes"),
    ],
)
def test_people_get_sentences(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    message: str,
) -> None:
    """Without --json each command says in words what it found or did."""
    with SemanticCache(folder, embedder=False) as cache:
        names = {entry.text: entry.entry_id for entry in cache.entries()}
    main(["export", str(folder), str(tmp_path / "old.jsonl")])
    with SemanticCache(tmp_path / "moved", embedder=False) as cache:
        cache.invalidate("kb:cards")
    capsys.readouterr()
    known = {"dir": folder, "tmp": tmp_path, "id": names["Are cards free?"]}

    code = main([arg.format(**known) for arg in args])

    assert code == 0
    assert message in capsys.readouterr().out


def test_answers_can_be_called_for(data: Data, tmp_path: Path) -> None:
    """A Python function is asked for what the file lacks, within the budget."""
    file = tmp_path / "faq.jsonl"
    file.write_text('{"prompts": ["Is it free?", "Is it green?"]}\n', encoding="utf-8")
    money = ["--max-cost", "0.1", "--cost-per-entry", "0.1", "--rate", "100/s"]

    report = data(
        "warm", tmp_path / "new", file, "--call", "json:dumps", "--no-model", "--model", "m", *money
    )

    assert (report["called"], report["cost"]) == (1, 0.1)
    assert report["stopped"] == "the most to be spent, 0.1"


def test_nothing_is_pruned_while_rows_are_bad(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that cannot be read may be the one whose entry would go."""
    file = tmp_path / "faq.jsonl"
    file.write_text("bad\n", encoding="utf-8")

    code = main(["warm", str(folder), str(file), "--no-model", "--skip-bad", "--prune"])

    assert code == 2
    assert "nothing is pruned" in capsys.readouterr().err


def test_reading_makes_no_directory(tmp_path: Path) -> None:
    """Only warm and import create one."""
    for command in ("stats", "inspect"):
        main([command, str(tmp_path / "none")])

    assert not list(tmp_path.iterdir())


def test_a_foreign_directory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with somebody's file named like ours is not opened."""
    (tmp_path / "cache.db").write_text("not ours", encoding="utf-8")

    assert main(["stats", str(tmp_path)]) == 2
    assert "semcache did not" in capsys.readouterr().err


def test_opening_evicts_nothing(tmp_path: Path) -> None:
    """The bound of a directory is its application's, not a command's."""
    with SemanticCache(tmp_path, embedder=False) as cache:
        for i in range(20):
            cache.put(f"Question number {i}?", "answer " * 100)
    before = len(SemanticCache(tmp_path, embedder=False))

    main(["stats", str(tmp_path)])

    assert len(SemanticCache(tmp_path, embedder=False)) == before == 20


def test_a_user_who_stops_gets_130(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is no traceback, and says that what was done is kept."""

    def stop(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SemanticCache, "entries", stop)

    assert main(["stats", str(folder)]) == 130
    assert "stopped" in capsys.readouterr().err


def test_a_surprise_is_one_line_too(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody foresaw names its type and how to see more."""

    def fail(*_args: object, **_options: object) -> None:
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr(SemanticCache, "entries", fail)

    assert main(["stats", str(folder)]) == 2
    assert capsys.readouterr().err.startswith("semcache: RuntimeError: out of luck (-v")


@pytest.mark.parametrize("name", ["click", "rich"])
def test_a_missing_extra_is_named(name: str) -> None:
    """One line with the command that installs it."""
    code = f"import sys; sys.modules[{name!r}] = None; from semcache.cli import main; main([])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stderr == (
        f"semcache: {name} is not installed. Install it with: pip install click rich openpyxl\n"
    )


def test_no_bar_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe or a file stderr stays empty."""
    with progress() as tell:
        tell("working", 1, 2)

    assert capsys.readouterr().err == ""


def test_a_bar_where_somebody_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal it goes to stderr, never to stdout."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    with progress() as tell:
        tell("working", 1, 2)
        tell("working", 2, 2)

    out, err = capsys.readouterr()
    assert out == ""
    assert "working" in err


def test_a_short_demo_prints_table_and_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """What is simulated comes first."""
    code = main(["demo", "--length", "10", "--no-model"])

    out = capsys.readouterr().out
    assert code == 0
    assert out.startswith("Simulated: the model")
    for words in ("answered from the cache", "each question once", "No semantic tier", "█ exact"):
        assert words in out


def test_the_console_script_runs(folder: Path) -> None:
    """In a process of its own it prints what it was asked for and nothing else."""
    code = "import sys; from semcache.cli import main; sys.exit(main())"

    done = subprocess.run(
        [sys.executable, "-c", code, "stats", str(folder), "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert json.loads(done.stdout)["entries"] == 2
    assert done.stderr == ""


def test_a_reader_who_leaves_early_is_no_error(folder: Path) -> None:
    """As in `semcache inspect DIR | head -1`: no traceback, exit code 0."""
    code = "import sys; from semcache.cli import main; sys.exit(main())"
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-c", code, "inspect", str(folder)],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )

    os.close(writer)
    assert done.stderr == ""
