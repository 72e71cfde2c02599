"""Every case of the catalogue has a test that bears its id."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_case_has_a_test() -> None:
    """None is left out, and none is made up."""
    catalogue = (HERE.parent / "data" / "faults.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| B(\d{3}) \|", catalogue, re.MULTILINE))

    sources = [path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")]
    tested = {number for source in sources for number in re.findall(r"def test_b(\d{3})_", source)}

    assert len(listed) == 106
    assert tested == listed
