"""The dynamic-query filter: what may not be looked up, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.admit.dynamic import CustomRule, DynamicKind, DynamicRules, Rule
from semcache.errors import ArgumentError

PROMPTS = Path(__file__).with_name("prompts.jsonl")


@dataclass(frozen=True, slots=True)
class Prompt:
    prompt: str
    dynamic: bool
    kind: str | None
    lang: str


def labelled() -> list[Prompt]:
    lines = PROMPTS.read_text(encoding="utf-8").splitlines()
    return [Prompt(**json.loads(line)) for line in lines]


@pytest.fixture(scope="module")
def rules() -> DynamicRules:
    return DynamicRules.default()


@pytest.mark.parametrize("lang", sorted({prompt.lang for prompt in labelled()}))
def test_labelled_prompts_of_each_language(rules: DynamicRules, lang: str) -> None:
    """At least 98 in 100 of the prompts written for the rules are judged right."""
    prompts = [prompt for prompt in labelled() if prompt.lang == lang]

    wrong = [p.prompt for p in prompts if (rules.check(p.prompt) is not None) != p.dynamic]

    assert len(wrong) <= 0.02 * len(prompts), wrong


def test_the_reason_is_nearly_always_the_right_one(rules: DynamicRules) -> None:
    """The kind that is named agrees with the label for nine dynamic prompts in ten."""
    found = [(p.kind, rules.check(p.prompt)) for p in labelled() if p.dynamic and p.lang in "enzh"]

    right = Counter(f is not None and f.kind.value == kind for kind, f in found)

    assert right[True] >= 0.85 * len(found), right


def test_the_weather_today_is_dynamic(rules: DynamicRules) -> None:
    """The weather of today, with no place named, may never be shared."""
    finding = rules.check("今天的天气怎么样")

    assert finding is not None
    assert finding.kind is DynamicKind.WEATHER
    assert not finding.perishable


@pytest.mark.parametrize(
    ("text", "perishable"),
    [
        ("What is the price of gold?", True),
        ("Who is the mayor of Oslo?", True),
        ("Will it rain in Bergen tomorrow?", True),
        ("巴黎明天天气怎么样", True),
        ("Node最新版本是多少", True),
        ("What time is it?", False),
        ("What is my balance?", False),
        ("我的订单到哪了", False),
        ("Roll a die", False),
        ("continue", False),
        ("What is my balance at the current price of gold?", False),
    ],
)
def test_what_is_perishable_and_what_can_never_be_shared(
    rules: DynamicRules, text: str, perishable: bool
) -> None:
    """Prices, versions, offices and named weather would do with a short lifetime; the rest not."""
    finding = rules.check(text)

    assert finding is not None
    assert finding.perishable is perishable


@pytest.mark.parametrize("text", ["continue", "Make it shorter", "继续", "说得简单点", "weiter"])
def test_a_follow_up_is_well_defined_with_its_history(rules: DynamicRules, text: str) -> None:
    """With the earlier turns in the scope, pointing at them is no reason to stand aside."""
    alone, with_history = rules.check(text), rules.check(text, has_history=True)

    assert alone is not None
    assert alone.kind is DynamicKind.CONVERSATION
    assert with_history is None


def test_history_does_not_excuse_the_other_kinds(rules: DynamicRules) -> None:
    """The clock moves in long conversations too."""
    finding = rules.check("And what time is it in Rome?", has_history=True)

    assert finding is not None
    assert finding.kind is DynamicKind.CLOCK


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t ",
        "\u3000\u200b",
        "?!",
        '"""',
        "```",
        "How do I reset my PIN?",
        "I am still waiting on my card?",
    ],
)
def test_blank_and_generic_texts_pass(rules: DynamicRules, text: str) -> None:
    """Nothing to find in a blank text or in a support question whose answer fits everybody."""
    assert rules.check(text) is None


def test_material_between_request_and_end_does_not_count(rules: DynamicRules) -> None:
    """A text to be worked on may hold any words; the request itself still counts."""
    letter = "Where is my parcel? What is the weather today? " * 5

    assert rules.check(f"Translate into Danish: {letter}") is None
    assert rules.check(f"Explain this code:\n```\n# {letter}\n```") is None
    assert rules.check(f'Rewrite politely: "{letter}"') is None


def test_the_request_at_the_end_of_a_long_text_is_seen(rules: DynamicRules) -> None:
    """Only the ends of a long text are read, and the request stands at one of them."""
    filler = "The committee met and discussed the garden fence at length. " * 200

    assert rules.check(filler) is None
    assert rules.check(f"{filler}\nWhat is the weather in Turin today?") is not None
    assert rules.check(f"What is the weather in Turin today?\n{filler}") is not None


@pytest.mark.parametrize(
    "first", ["where is my parcel", "Where is my parcel", "WHERE IS MY PARCEL"]
)
@pytest.mark.parametrize("end", ["", "?", "？", " ??", ", please", "..."])
def test_case_and_end_marks_do_not_matter(rules: DynamicRules, first: str, end: str) -> None:
    """The same question in any spelling gets the same verdict."""
    finding = rules.check(first + end)

    assert finding is not None
    assert finding.kind is DynamicKind.OWN_DATA


@pytest.mark.parametrize(
    "opening", ["Can you tell me ", "I want to know ", "Hey, do you know ", "Please check "]
)
@pytest.mark.parametrize(
    "question",
    [
        "who the pope is",
        "how old Dolly Parton is",
        "whether the server is up",
        "if my payment went through",
        "when the next ferry leaves",
        "the population of Peru",
    ],
)
def test_an_indirect_question_is_put_straight(
    rules: DynamicRules, opening: str, question: str
) -> None:
    """Politeness turns the words round; the verdict stays."""
    assert rules.check(f"{opening}{question}?") is not None


def test_a_condition_is_no_indirect_question(rules: DynamicRules) -> None:
    """Only behind an opening does "if" mean "whether"."""
    assert rules.check("If my card is stolen, who should I call?") is None


def test_apostrophes_and_wide_letters_are_levelled(rules: DynamicRules) -> None:
    """A typographic apostrophe and full-width letters change nothing."""
    assert rules.check("What’s my balance?") is not None
    assert rules.check("Ｗｈａｔ ｔｉｍｅ ｉｓ ｉｔ？") is not None


def test_a_prompt_that_is_only_a_quotation_means_what_it_quotes(rules: DynamicRules) -> None:
    """Quotation marks around everything do not hide anything."""
    assert rules.check('"What time is it?"') is not None
    assert rules.check("“现在几点？”") is not None


def test_a_user_adds_a_rule_as_data() -> None:
    """A rule is plain values; its name is reported."""
    rule = Rule("canteen", DynamicKind.NEWS, (r"\bcanteen\b",), unless=(r"\bhistory\b",))
    rules = DynamicRules.default().extended([rule])

    finding = rules.check("What does the canteen serve?")

    assert finding is not None
    assert finding.rule == "canteen"
    assert rules.check("Tell the history of the canteen") is None


@pytest.mark.parametrize(
    ("answer", "quote"),
    [(True, "Show rota 7"), ("rota", "rota"), (False, None), (None, None), ("", None)],
)
def test_a_user_adds_a_callable(answer: bool | str | None, quote: str | None) -> None:
    """True or a text means dynamic; the text becomes the quote."""
    rules = DynamicRules.default().extended([lambda text: answer])

    finding = rules.check("Show rota 7")

    assert (finding.quote if finding else None) == quote
    assert finding is None or finding.kind is DynamicKind.CUSTOM


def test_a_rule_or_a_kind_is_taken_out() -> None:
    """One name takes out one rule, the name of a kind all of it."""
    rules = DynamicRules.default()

    without_kind = rules.without("price")

    assert rules.check("What is the price of gold?") is not None
    assert without_kind.check("What is the price of gold?") is None
    assert len(rules.without(rules.names[0]).names) == len(rules.names) - 1


def test_an_unknown_name_is_refused() -> None:
    """Taking out what is not there is a mistake worth hearing about."""
    with pytest.raises(ArgumentError, match="names='prise'"):
        DynamicRules.default().without("prise")


def test_a_broken_pattern_is_refused_when_it_is_added() -> None:
    """The error names the pattern, and comes before the first prompt."""
    with pytest.raises(ArgumentError, match="not a regular expression"):
        DynamicRules.default().extended([Rule("broken", DynamicKind.NEWS, ("(",))])


def test_something_that_is_no_rule_is_refused() -> None:
    """A text is neither a rule nor a callable."""
    with pytest.raises(ArgumentError, match="pass a Rule"):
        DynamicRules.default().extended(["canteen"])  # type: ignore[list-item]  # the mistake


def test_the_fingerprint_follows_the_rules() -> None:
    """Equal rules have equal fingerprints; any change of a rule moves it."""
    default = DynamicRules.default()
    one = Rule("canteen", DynamicKind.NEWS, (r"\bcanteen\b",))
    two = Rule("canteen", DynamicKind.NEWS, (r"\bcanteens?\b",))
    seven, eight = (
        CustomRule("n", f) for f in (lambda text: "7" in text, lambda text: "8" in text)
    )

    variants: Iterator[DynamicRules] = (
        default.extended([rule]) for rule in (one, two, seven, eight)
    )
    prints = {rules.fingerprint for rules in (*variants, default, default.without("price"))}

    assert len(prints) == 6
    assert default.extended([one]).fingerprint == default.extended([one]).fingerprint


def test_every_packaged_pattern_compiles(rules: DynamicRules) -> None:
    """All patterns are compiled late, so a broken one must be found here."""
    for prompt in labelled():
        rules.check(prompt.prompt)

    rules.extended([rule for rule in rules._rules if isinstance(rule, Rule)])


def test_rule_names_are_unique(rules: DynamicRules) -> None:
    """A name stands for one rule, else it could not be taken out."""
    assert len(set(rules.names)) == len(rules.names)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.booleans())
def test_any_text_gets_a_verdict(text: str, has_history: bool) -> None:
    """No text makes the filter fail, and the verdict is the same each time."""
    rules = DynamicRules.default()

    assert rules.check(text, has_history) == rules.check(text, has_history)


@pytest.mark.parametrize(
    "unit",
    [
        "The fox said that it is now and my cat has the latest news. ",
        "今天的新闻说我的快递现在怎么还没到,",
        "please can you just make it shorter and longer and ",
        "continue and ok so ",
        "\"a 'b “",
        "translate ",
        "what is the ",
        "a",
        "再",
        " \n",
        "```",
    ],
)
def test_the_work_does_not_grow_with_the_text(rules: DynamicRules, unit: str) -> None:
    """A text of 100 kB costs about what one of 2 kB costs: its ends are read, no more."""
    from time import process_time

    def cost(text: str) -> float:
        start = process_time()
        rules.check(text)
        return process_time() - start

    text = unit * (100_000 // len(unit))
    rules.check(text)

    start = min(cost(text[:2000]) for _ in range(3))
    assert min(cost(text) for _ in range(3)) < 10 * start + 0.01
