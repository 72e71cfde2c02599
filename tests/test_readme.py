"""The code in the README runs as it stands there, and prints what stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from semcache import Config, SemanticCache
from semcache.cli.commands import cli

README = Path(__file__).parent.parent / "README.md"
SHOWN = re.compile(r"<!-- tests/test_readme.py compares.*?-->\n```text\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"compares the commands.*?-->\n```console\n(.*?)```", re.DOTALL)
VARIES = re.compile(r"\d+ s old, entry [0-9a-f-]+|(?<=score \d\.\d\d)\d\d")


@pytest.mark.model
def test_the_readmes_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks run in order, in one namespace, away from the user's own files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    document = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()]).parse(README)

    examples = list(document.examples())
    for example in examples:
        example.evaluate()

    assert len(examples) > 5


@pytest.mark.model
def test_the_readmes_decisions_are_what_the_model_gives() -> None:
    """The printed hit and veto are real, up to the entry's id and age and a score's last digits."""
    shown = SHOWN.search(README.read_text(encoding="utf-8"))
    assert shown is not None

    with SemanticCache(config=Config(embed_timeout_seconds=60)) as cache:
        cache.preload()
        cache.put("How do I reset my password?", "Under Settings, Security.")
        cache.put("Is my card accepted in Denmark?", "Yes, without a fee.")
        cache.flush()
        asked = ("How can I reset my password?", "Is my card not accepted in Denmark?")
        printed = "".join(f"{cache.explain(text)}\n" for text in asked)

    assert VARIES.sub("", printed) == VARIES.sub("", shown[1])


def test_the_readme_lists_every_command() -> None:
    """The command block names what the program has, no more and no less."""
    block = COMMANDS.search(README.read_text(encoding="utf-8"))
    assert block is not None

    listed = re.findall(r"^semcache (\w+)", block[1], re.MULTILINE)

    assert sorted(listed) == sorted(cli.commands)
