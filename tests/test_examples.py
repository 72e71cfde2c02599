"""Every example in a docstring of the package runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import semcache

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(semcache.__path__, prefix="semcache.")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of one module pass, away from the user's own files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    module = importlib.import_module(name)

    failed, _ = doctest.testmod(module)

    assert not failed
