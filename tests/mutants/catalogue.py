"""The mutants as data: one TOML file a kind of fault, beside this module.

[[mutant]]
name = "the scope leaves the tools out"
model = false                  # true: the kind's tests with the real model are run too
tests = ["tests/faults/..."]   # default: the kind's own module
first = "test_..."             # the test that is known to notice, asked before the others
survives = ""                  # why no test can notice, where that is so

[[mutant.edit]]
file = "semcache/request.py"
find = "a text that stands in the file exactly once"
replace = "what the mistaken author would have written"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "Edit", "Mutant", "kinds", "read"]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement in one file of the package."""

    file: str
    find: str
    replace: str

    def applied_to(self, source: str) -> str:
        """Give the source as the mutant has it; ValueError unless it fits exactly once."""
        found = source.count(self.find)
        if found != 1:
            raise ValueError(f"{self.file}: {self.find!r} stands there {found} times, not once")
        return source.replace(self.find, self.replace)


@dataclass(frozen=True, slots=True)
class Mutant:
    """The cache with one reported fault put back."""

    kind: str
    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    model: bool
    first: str
    survives: str

    @property
    def selection(self) -> list[str]:
        """What pytest is told to leave out."""
        return [] if self.model else ["-m", "not model"]


def kinds() -> list[str]:
    """Name the kinds of fault that have mutants."""
    return sorted(path.stem for path in HERE.glob("*.toml"))


def read(kind: str) -> list[Mutant]:
    """Read the mutants of one kind; TypeError for an unknown key, KeyError for a missing one."""
    parsed = tomllib.loads((HERE / f"{kind}.toml").read_text(encoding="utf-8"))
    return [_mutant(kind, **row) for row in parsed["mutant"]]


def _mutant(
    kind: str,
    *,
    name: str,
    edit: list[dict[str, Any]],
    tests: list[str] | None = None,
    model: bool = False,
    first: str = "",
    survives: str = "",
) -> Mutant:
    chosen = tests or [f"tests/faults/test_{kind}.py"]
    return Mutant(kind, name, tuple(Edit(**e) for e in edit), tuple(chosen), model, first, survives)
