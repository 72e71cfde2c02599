"""Every case of the catalogue has a test that bears its id, and every kind more than those."""

from __future__ import annotations

import re
from pathlib import Path

from tests.faults.table import kinds, table

HERE = Path(__file__).parent


def test_every_case_has_a_test() -> None:
    """None is left out, and none is made up."""
    catalogue = (HERE.parent / "data" / "faults.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| B(\d{3}) \|", catalogue, re.MULTILINE))

    sources = [path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")]
    tested = {number for source in sources for number in re.findall(r"def test_b(\d{3})_", source)}

    assert len(listed) == 106
    assert tested == listed


def test_every_kind_has_three_more_cases_than_the_reported_ones() -> None:
    """A listed input that passes is no proof that its cause is gone."""
    few = {kind.name: kind.own for kind in kinds() if kind.own < 3}

    assert not few


def test_every_kind_has_a_mutant() -> None:
    """Tests that no mistake can fail hold nothing."""
    assert not [kind.name for kind in kinds() if not kind.mutants]


def test_the_page_is_made_of_these_modules() -> None:
    """Else: python -m tests.faults.table > docs/faults.md."""
    page = HERE.parents[1] / "docs" / "faults.md"

    assert page.read_text(encoding="utf-8") == table()
