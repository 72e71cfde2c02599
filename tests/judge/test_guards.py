"""Stories of single guards: which difference is seen, and which is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.decision import Verdict
from semcache.judge import DEFAULT_GUARDS, judge_pair
from semcache.text.facts import Facts, read


@pytest.mark.parametrize(
    ("guard", "query", "candidate"),
    [
        ("language", "Where is the station?", "Wo ist der Bahnhof und wie ist er?"),
        ("numbers", "Add 12 to 30", "Add 21 to 30"),
        ("numbers", "Walk 5 km", "Walk 5 miles"),
        ("dates", "What fell on May 3, 1990?", "What fell on May 4, 1990?"),
        ("literals", "What does ls -a show?", "What does ls -l show?"),
        ("literals", "Is a < b?", "Is a <= b?"),
        ("code", "Explain `x + 1`", "Explain `x - 1`"),
        ("code", "Rhyme on 'moon'", "Rhyme on 'Moon'"),
        ("negation", "Is the lift working?", "Is the lift not working?"),
        ("antonyms", "Turn the heating on", "Turn the heating off"),
        ("antonyms", "怎么打开定位", "怎么关闭定位"),
        ("quantifiers", "Do all bees sting?", "Do most bees sting?"),
        ("modality", "Must I tip in Spain?", "Can I tip in Spain?"),
        ("tense", "Who is the captain of the team?", "Who was the captain of the team?"),
        ("question", "Why is tea bitter?", "Is tea bitter?"),
        ("persons", "What celebrity do I look like?", "What celebrity do you look like?"),
        ("reference", "How do I solve a riddle?", "How do I solve this riddle?"),
        ("names", "Hotels near Lake Como", "Hotels near Lake Garda"),
        ("direction", "Move files from tape to disk", "Move files from disk to tape"),
        ("scope", "A soup recipe", "A cold soup recipe"),
        ("content", "How do I plant tulips?", "How do I draw tulips?"),
    ],
)
def test_a_guard_vetoes_its_kind_of_difference(guard: str, query: str, candidate: str) -> None:
    """Each guard is the one that speaks up for its own kind."""
    verdict = judge_pair(query, candidate)

    assert (verdict.outcome, verdict.guard) == ("veto", guard)
    assert verdict.reason


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        ("Add 1,000 to 30", "add 1000 to 30"),
        ("Is 5000 m far?", "Is 5 km far?"),
        ("What fell on May 3, 1990?", "What fell on 3 May 1990?"),
        ("Before 1867, which country owned Alaska?", "Which country owned Alaska before 1867?"),
        ("What is the boiling point of tin?", "Could you tell me tin's boiling point, please?"),
        ("What does the ILO do?", "What does the International Labour Organization do?"),
        ("How do I log in to the portal?", "How can I login to the portal?"),
        ("Which is older, Rome or Athens?", "Which is older, Athens or Rome?"),
        ("How do I translate a menue?", "How do I translate a menu?"),
        ("Why isn't the sensor working?", "Why does the sensor not work?"),
        ("如何打开定位？", "请问怎么开启定位"),
        ("二十个苹果多少钱", "20个苹果的价格是多少"),
    ],
)
def test_the_same_question_in_another_form_passes(query: str, candidate: str) -> None:
    """Formats, courtesy, spelling, abbreviations and harmless word order do not veto."""
    assert judge_pair(query, candidate) == Verdict("pass", "all")


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        ("¿Cómo puedo pintar la mesa?", "¿Cómo puedo lavar la mesa?"),
        ("Как помыть окно?", "Как покрасить окно?"),
        ("창문을 어떻게 닦나요?", "창문을 어떻게 칠하나요?"),
    ],
)
def test_a_language_without_rules_is_unread(query: str, candidate: str) -> None:
    """Where words cannot be compared, the judge does not wave the pair through."""
    assert judge_pair(query, candidate).outcome == "unread"


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        ("¿Cómo abrir la puerta?", "¿Cómo cerrar la puerta?"),
        ("Ist das erlaubt und ist es gut?", "Ist das nicht erlaubt und ist es gut?"),
        ("Combien font 12 et 30 ?", "Combien font 21 et 30 ?"),
        ("この薬は安全ですか", "この薬は安全ではないですか"),
        ("Как включить звук на телефоне?", "Как выключить звук на телефоне?"),
    ],
)
def test_opposites_and_numbers_are_seen_in_other_languages(query: str, candidate: str) -> None:
    """Some differences can be read without knowing the language well."""
    assert judge_pair(query, candidate).outcome == "veto"


def test_levelled_equality_passes_in_any_language() -> None:
    """Case, closing marks and courtesy are no difference in any language."""
    assert (
        judge_pair("¿Cómo abrir la puerta?", "¿cómo abrir la puerta, por favor?").outcome == "pass"
    )


def test_a_changing_text_under_a_long_instruction_is_seen() -> None:
    """The fixed part of a template does not outweigh the part that changes."""
    instruction = "Correct the spelling of the text and answer with nothing else. " * 12

    verdict = judge_pair(f"{instruction}TEXT: The invoice is due.", f"{instruction}TEXT: I am ill.")

    assert verdict.outcome == "veto"


def test_the_reason_quotes_both_sides() -> None:
    """A veto can be understood without the texts."""
    verdict = judge_pair("Hotels in Bergen", "Hotels in Tromso")

    assert "Bergen" in verdict.reason
    assert "Tromso" in verdict.reason


def test_a_veto_goes_before_an_unread() -> None:
    """A guard that cannot read does not hide one that can."""

    class Unread:
        name = "deaf"

        def __call__(self, query: Facts, candidate: Facts) -> Verdict:
            return Verdict("unread", self.name)

    verdict = judge_pair("Add 2 to 3", "Add 2 to 4", (Unread(), *DEFAULT_GUARDS))

    assert verdict.guard == "numbers"


def test_own_guards_replace_the_default_ones() -> None:
    """No guards, no objection."""
    assert judge_pair("Turn it on", "Turn it off", ()).outcome == "pass"


@given(st.text(max_size=60))
def test_a_text_serves_itself(text: str) -> None:
    """Every guard passes a text against itself, whatever it is made of."""
    facts = read(text)

    assert all(guard(facts, facts).outcome == "pass" for guard in DEFAULT_GUARDS)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_get_a_verdict(one: str, two: str) -> None:
    """No text breaks a guard, and the sides may change places."""
    assert judge_pair(one, two).outcome == judge_pair(two, one).outcome


@pytest.mark.parametrize(
    "text",
    ["twenty five hundred and " * 900, "7" * 9000, "百分之" + "一" * 9000, "_" * 9000, "f(" * 4000],
)
def test_a_strained_text_gets_a_verdict(text: str) -> None:
    """Very long numbers and odd runs of signs are compared, not computed."""
    assert judge_pair(text, f"{text} cats").outcome != "pass"
