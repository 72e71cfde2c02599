"""Each mutant fits the source as it stands, so that none rots unseen."""

from __future__ import annotations

import pytest

from tests.mutants.catalogue import ROOT, Mutant, kinds, read

MUTANTS = [mutant for kind in kinds() for mutant in read(kind)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.kind}: {m.name}")
def test_a_mutant_fits_the_source(mutant: Mutant) -> None:
    """What it replaces stands there once, and the result is Python."""
    for edit in mutant.edits:
        path = ROOT / edit.file

        source = edit.applied_to(path.read_text(encoding="utf-8"))

        if path.suffix == ".py":
            compile(source, edit.file, "exec")
