"""Break the cache on purpose, one mutant at a time, and ask whether the tests of its kind notice.

A mutant is an entry of a TOML file named after the kind of fault that it brings back. Each is
applied to a copy of the package, and only the tests of its kind are run on it. This program
decides what counts as killed; it must not touch the checkout, nor count as killed a mutant that
could not be imported. Survivors are listed, each of them a test to be written; it fails where a
kind of fault has no mutant that is killed.

    python -m tests.mutants              # all of them
    python -m tests.mutants tools expiry # two kinds
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants.catalogue import ROOT, Mutant, kinds, read

SECONDS = 180.0  # a mutant whose tests run longer hangs, which its kind may well be about


class Outcome(Enum):
    KILLED = "killed"
    SURVIVED = "survived"
    BROKEN = "broken"  # could not even be imported: it says nothing about the tests


@dataclass(frozen=True, slots=True)
class Result:
    mutant: Mutant
    outcome: Outcome
    by: str
    seconds: float

    @property
    def expected(self) -> bool:
        """Killed, or known to survive and said so; a known survivor that dies is to be updated."""
        wanted = Outcome.SURVIVED if self.mutant.survives else Outcome.KILLED
        return self.outcome is wanted

    def __str__(self) -> str:
        reason = f" ({self.mutant.survives})" if self.mutant.survives else ""
        head = f"{self.outcome.value:9} {self.seconds:5.1f} s  {self.mutant.kind}: "
        return f"{head}{self.mutant.name}{reason}" + (f"\n{'':19}{self.by}" if self.by else "")


@contextmanager
def mutated(mutant: Mutant) -> Iterator[Path]:
    """Give a folder with the package as the mutant has it, and the tests."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        for name in ("semcache", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, copy)
        for edit in mutant.edits:
            path = copy / edit.file
            path.write_text(edit.applied_to(path.read_text(encoding="utf-8")), encoding="utf-8")
        yield copy


def judge(mutant: Mutant) -> Result:
    """Run the tests of the mutant's kind on it; the first failure kills it."""
    started = time.monotonic()
    with mutated(mutant) as folder:
        outcome, by = Outcome.SURVIVED, ""
        if mutant.first:
            outcome, by = _run_tests(mutant, folder, "-k", mutant.first)
        if outcome is not Outcome.KILLED:
            outcome, by = _run_tests(mutant, folder)
    return Result(mutant, outcome, by, time.monotonic() - started)


def _run_tests(mutant: Mutant, folder: Path, *only: str) -> tuple[Outcome, str]:
    report = folder / "report.xml"
    quiet = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    quiet += ["-o", "junit_family=xunit1"]  # some tests record what they measured
    try:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", *quiet, f"--junitxml={report}"),
                *(*mutant.selection, *only, *mutant.tests),
            ],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=SECONDS,
            capture_output=True,
            check=False,  # a failure is what is hoped for
        )
    except subprocess.TimeoutExpired:
        return Outcome.KILLED, "its tests hang"
    return _read_outcome(done, report)


def _read_outcome(done: subprocess.CompletedProcess[bytes], report: Path) -> tuple[Outcome, str]:
    if done.returncode == 0:
        return Outcome.SURVIVED, ""
    if done.returncode in (-signal.SIGKILL, -signal.SIGTERM):
        return Outcome.BROKEN, "its tests were stopped from outside"
    if done.returncode < 0:
        return Outcome.KILLED, f"its tests die of signal {-done.returncode}"
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else iter(())
    for case in cases:
        failure = case.find("failure")
        if done.returncode == 1 and failure is not None:
            lines = (failure.get("message") or "").strip().splitlines() or ["no message"]
            return Outcome.KILLED, f"{case.get('name')}: {lines[0][:120]}"
    tail = done.stdout.decode(errors="replace").strip().splitlines()[-1:] or ["no output"]
    return Outcome.BROKEN, tail[0]


def main() -> int:
    """Judge the mutants of the kinds named, or of all, and list those that live."""
    parser = argparse.ArgumentParser(description="Run the tests of each kind of fault on mutants.")
    parser.add_argument("kinds", nargs="*", metavar="kind", help=", ".join(kinds()))
    parser.add_argument("-n", "--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    mutants = [mutant for kind in asked.kinds or kinds() for mutant in read(kind)]
    with ThreadPoolExecutor(asked.workers) as pool:
        results = []
        for result in pool.map(judge, mutants):
            results.append(result)
            print(result, flush=True)
    killed = [result.mutant.kind for result in results if result.outcome is Outcome.KILLED]
    print(f"{len(killed)} of {len(results)} mutants killed, of {len(asked.kinds or kinds())} kinds")
    for result in results:
        if not result.expected:
            print(f"not as it should be: {result}")
    unguarded = {result.mutant.kind for result in results} - set(killed)
    if unguarded:
        print(f"no mutant of these kinds was killed: {sorted(unguarded)}")
    return 1 if unguarded else 0


if __name__ == "__main__":
    sys.exit(main())
