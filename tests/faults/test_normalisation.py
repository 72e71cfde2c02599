"""Equal characters in two forms do not match, or different ones are levelled into one.

Promise: forms that no reader can tell apart are one text; what a reader can tell apart, in accent,
case, joiner or sign, is merged only where that is known to be harmless.
Room: `semcache/text/normalize.py`, `semcache/text/level.py`, `semcache/text/fold.py`,
`semcache/text/facts_language.py`
"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Hit, SemanticCache, Tier
from semcache.text.facts_tokens import level_marks, pieces_of
from tests.faults.calls import decide, decorate, is_served, replies

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


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("SINIR nedir ve nasıl geçilir?", "sinir nedir ve nasıl geçilir?"),
        ("SINIR nedir", "sinir nedir"),
        ("İSİM nedir", "ısım nedir"),
    ],
)
def test_a_turkish_capital_has_the_small_letter_of_turkish(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """A border is not a nerve."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("نامه\u200cای دارم", "نامهای دارم"),
        ("क्\u200dष क्या है", "क्ष क्या है"),
        (
            "What is \U0001f468\u200d\U0001f469\u200d\U0001f467?",
            "What is \U0001f468\U0001f469\U0001f467?",
        ),
        (
            "What is \U0001f3f3\ufe0f\u200d\U0001f308 for?",
            "What is \U0001f3f3\ufe0f\U0001f308 for?",
        ),
    ],
)
def test_a_joiner_that_shapes_a_word_or_an_emoji_counts(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Persian, Hindi and families of emoji are written with them."""
    assert not is_served(judged, stored, asked)


HIDDEN = [
    "pass\u00adword",
    "pass\u200bword",
    "\u200epassword\u200e",
    "\u2067password\u2069",
    "pass\u2060word",
]


@pytest.mark.parametrize("word", HIDDEN)
def test_marks_that_nobody_sees_cost_no_hit_and_no_truth(
    kind: str, judged: SemanticCache, word: str
) -> None:
    """A soft hyphen or a mark of direction: served, but not as an exact hit."""
    ask = decorate(kind, judged, lambda prompt: "A", dynamic=False)
    decide(kind, ask, "How do I reset the password of my router?")

    decision = decide(kind, ask, f"How do I reset the {word} of my router?")

    assert isinstance(decision, Hit)
    assert decision.tier is not Tier.EXACT


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Was sind Maße?", "Was sind Masse?"),
        ("Πότε πήγε;", "Ποτέ πήγε;"),
        ("What is x² + 1?", "What is x2 + 1?"),
        ("What does ① mean?", "What does 1 mean?"),
        ("What does sábana mean in Spanish?", "What does sabana mean in Spanish?"),
        ("How do I use público?", "How do I use publicó?"),
        ("が は どう ちがう?", "か は どう ちがう?"),
        ("Was ist schön?", "Was ist schon?"),
    ],
)
def test_letters_alike_are_not_one_in_any_tier(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Neither folding nor the dropping of accents makes two words one."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Where is the ﬁrst ofﬁce?", "Where is the first office?"),
        ("Ｈｏｗ ｂｉｇ ｉｓ ａ ｗｈａｌｅ？", "How big is a whale?"),
        ("Is a naïve café owner rich?", "Is a naive cafe owner rich?"),
        ("How big is São Paulo?", "How big is Sao Paulo?"),
        ("مرحبا، ما هي عاصمة بيرو؟", "ما هي عاصمة بيرو؟"),
    ],
)
def test_drawn_forms_of_the_same_letters_are_served(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Ligatures, full width, and accents that English may drop."""
    assert is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Is HELLO in upper case?", "Is hello in upper case?"),
        ("How many capital letters has Hello World?", "How many capital letters has hello world?"),
        ("Is this punctuated: Come on!", "Is this punctuated: Come, on!"),
    ],
)
def test_case_and_marks_count_where_they_are_asked_about(
    kind: str, far: SemanticCache, stored: str, asked: str
) -> None:
    """The near-duplicate tier forgives case, but not to a question about case."""
    assert replies(kind, far, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12))
@settings(max_examples=200)
def test_every_character_that_can_be_seen_is_read(text: str) -> None:
    """No letter, number, sign or picture is lost on the way to the judge."""
    levelled = level_marks(unicodedata.normalize("NFC", text))

    pieces = pieces_of(levelled)
    with_units = (levelled[slice(*piece.number.span)] for piece in pieces if piece.number)
    read = "".join((*(piece.text for piece in pieces), *with_units))

    lost = (
        {c for c in levelled if unicodedata.category(c)[0] in "LNS"} - set(read) - set("$€£¥￥₹`")
    )
    assert not lost
