"""The catalogue as a table: one line a kind, made of the docstrings of the modules that test it.

python -m tests.faults.table > docs/faults.md
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Kind", "kinds", "table"]

HERE = Path(__file__).parent
MUTANTS = HERE.parent / "mutants"
FORM = re.compile(r"(?P<cause>.+?)\n\nPromise: (?P<promise>.+?)\nRoom: (?P<room>.+)", re.DOTALL)

HEAD = """\
# Faults that people report in LLM caches, and what semcache promises

One line a kind of fault. The first column says what other caches get wrong, the second what
semcache promises instead, the third where it is decided, the fourth where it is tested: by so many
test functions, those of the reported cases (`tests/data/faults.md`) included, and by so many
mutants: copies of semcache with the fault put back, which the tests of its kind must notice
(`python -m tests.mutants`).

This page is made of the tests' own docstrings by `python -m tests.faults.table`; a test holds that
it is up to date.

| what others get wrong | what semcache promises | decided in | tested in |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault, as its test module tells it."""

    name: str
    cause: str
    promise: str
    room: str
    reported: int
    own: int
    mutants: int

    def __str__(self) -> str:
        tests = f"`tests/faults/test_{self.name}.py`: {self.reported + self.own} tests"
        many = "mutant" if self.mutants == 1 else "mutants"
        where = f"{tests}, {self.mutants} {many}"
        return f"| {self.cause} | {self.promise} | {self.room} | {where} |"


def kinds() -> list[Kind]:
    """Read all kinds; AssertionError for a module whose docstring lacks its promise or its room."""
    paths = sorted(HERE.glob("test_*.py"))
    return [_read(path) for path in paths if path.stem != "test_catalogue"]


def table() -> str:
    """Give the whole page."""
    return HEAD + "".join(f"{kind}\n" for kind in kinds())


def _read(path: Path) -> Kind:
    module = ast.parse(path.read_text(encoding="utf-8"))
    told = FORM.fullmatch(ast.get_docstring(module) or "")
    assert told, f"{path.name}: its docstring says the cause, then 'Promise:', then 'Room:'"
    cause, promise, room = (" ".join(part.split()) for part in told.groups())
    names = [n.name for n in ast.walk(module) if isinstance(n, ast.FunctionDef)]
    tests = [name for name in names if name.startswith("test_")]
    reported = sum(re.match(r"test_b\d{3}_", name) is not None for name in tests)
    kind = path.stem.removeprefix("test_")
    mutants = MUTANTS / f"{kind}.toml"
    count = mutants.read_text(encoding="utf-8").count("[[mutant]]\n") if mutants.exists() else 0
    return Kind(kind, cause, promise, room, reported, len(tests) - reported, count)


if __name__ == "__main__":
    sys.stdout.write(table())
