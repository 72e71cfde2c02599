"""The language of the answer is not part of the key."""

from __future__ import annotations

import pytest

from semcache import SemanticCache
from tests.faults.calls import replies, replies_to


def test_b151_another_language_option_is_a_miss(kind: str, apart: SemanticCache) -> None:
    """Changing it changes the answer."""
    english, french = {"language": "en"}, {"language": "fr"}

    answers = replies_to(kind, apart, "Describe a green tent", english, french, english)

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.model
def test_b152_another_target_language_is_a_miss(kind: str, real: SemanticCache) -> None:
    """One word of the prompt is the whole difference."""
    stored, asked = "Translate 'window' into Danish", "Translate 'window' into Finnish"

    assert replies(kind, real, stored, asked, stored) == ["R1", "R2", "R1"]
