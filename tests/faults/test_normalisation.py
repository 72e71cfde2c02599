"""Equal characters in two forms do not match, or different ones are levelled into one."""

from __future__ import annotations

import unicodedata

import pytest

from semcache import Hit, SemanticCache, Tier
from tests.faults.calls import decide, decorate, replies

FORMS = ["Where is the café?", "が は どう ちがう?", "한국의 수도는 어디입니까?"]


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_b154_two_unicode_forms_of_one_text_are_one(
    kind: str, far: SemanticCache, text: str, stored: str
) -> None:
    """Composed or decomposed, either way round: an exact hit."""
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    first, second = forms if stored == "NFC" else forms[::-1]
    ask = decorate(kind, far, lambda prompt: "A", dynamic=False)
    decide(kind, ask, first)

    decision = decide(kind, ask, second)

    assert first != second
    assert isinstance(decision, Hit)
    assert decision.tier is Tier.EXACT


@pytest.mark.parametrize("ends", ["{}\n", "  {}", "{}\r\n", "\n\n{}\t"])
def test_b154_line_ends_and_outer_blanks_are_levelled(
    kind: str, far: SemanticCache, ends: str
) -> None:
    """And nothing more, by default."""
    text = "Which words rhyme?\nList three."

    assert replies(kind, far, text, ends.format(text)) == ["R1", "R1"]
    assert far.stats().hits == {"exact": 1}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("What does résumé mean?", "What does resume mean?"), ("Año nuevo", "Ano nuevo")],
)
def test_b155_accents_that_change_a_word_are_not_stripped(
    kind: str, far: SemanticCache, stored: str, asked: str
) -> None:
    """Neither the exact tier nor the next one serves the other word."""
    assert replies(kind, far, stored, asked, stored) == ["R1", "R2", "R1"]


def test_b155_case_is_not_folded_in_the_exact_tier(kind: str, far: SemanticCache) -> None:
    """What forgives it is the near-duplicate tier, and says so."""
    ask = decorate(kind, far, lambda prompt: "A", dynamic=False)
    decide(kind, ask, "Which words rhyme?")

    decision = decide(kind, ask, "which words rhyme?")

    assert not isinstance(decision, Hit) or decision.tier is not Tier.EXACT
