"""Long fixed instructions outweigh the short part that changes, in vector and shingles alike.

Promise: the decision is made on the changing part, wherever it stands, whatever its script.
Room: `semcache/judge/guards.py`, `semcache/judge/guards_wording.py`,
`semcache/text/facts_tokens.py`
"""

from __future__ import annotations

import pytest

from semcache import SemanticCache
from tests.faults.calls import is_served, replies, user

INSTRUCTION = (
    "You are a careful translator who works for a shipping company. Translate the line that "
    "follows the word TEXT from English into Dutch. Keep every number, every date and every name "
    "as it is. Do not add greetings, notes or explanations of any kind. Use the polite form of "
    "address throughout, and prefer the words that a harbour clerk would use over the words of a "
    "lawyer. If a word has two meanings, choose the one that fits freight, storage or customs. "
    "Keep the length close to that of the original, and keep its punctuation where Dutch allows "
    "it. Never leave out a sentence, and never merge two sentences into one. If the line is "
    "already in Dutch, give it back unchanged. Abbreviations stay abbreviations. Units stay units. "
    "Return the translation alone, on one line, with no quotation marks around it and with "
    "nothing before it or after it. This rule has no exceptions."
)
THINGS = (
    "invoice parcel crane ferry ticket customer driver harbour contract truck bridge letter "
    "machine kitchen garden meeting password"
).split()
STATES = ["due", "lost", "broken"]
TEXTS = [f"{INSTRUCTION}\n\nTEXT: The {thing} is {state}." for state in STATES for thing in THINGS]


@pytest.mark.parametrize("name", [pytest.param("real", marks=pytest.mark.model), "judged"])
def test_b013_fifty_lines_under_one_instruction_are_fifty_calls(
    name: str, request: pytest.FixtureRequest
) -> None:
    """The decision is made on the changing part, however long the rest."""
    cache: SemanticCache = request.getfixturevalue(name)

    answers = replies("plain", cache, *TEXTS)

    assert 140 <= len(INSTRUCTION.split()) <= 160
    assert answers == [f"R{number}" for number in range(1, 52)]


@pytest.mark.parametrize("name", [pytest.param("real", marks=pytest.mark.model), "judged"])
def test_b013_in_every_kind_of_function(
    kind: str, name: str, request: pytest.FixtureRequest
) -> None:
    """The first two of them, asked again."""
    cache: SemanticCache = request.getfixturevalue(name)

    assert replies(kind, cache, *TEXTS[:2], *TEXTS[:2]) == ["R1", "R2", "R1", "R2"]


def passage(subject: str, places: str, habits: str) -> str:
    """Give some 300 words on one subject."""
    sentences = [
        f"In the {place} the {subject} {habit}, and those who watch it for long enough learn why."
        for place in places.split()
        for habit in habits.split(", ")
    ]
    return " ".join(sentences)


BEES = passage(
    "bee", "meadow orchard hive", "gathers nectar, dances, guards its queen, stores wax, sleeps"
)
TIDES = passage("tide", "bay estuary strait", "rises, turns, carries sand, follows the moon, ebbs")


@pytest.mark.model
def test_b014_another_passage_is_summarised_anew(kind: str, real: SemanticCache) -> None:
    """The instruction alone never decides."""
    bees, tides = (f"Summarise this passage:\n{text}" for text in (BEES, TIDES))

    assert len(BEES.split()) > 250
    assert replies(kind, real, bees, tides, bees) == ["R1", "R2", "R1"]


RULES = (
    "You are a careful clerk. Read the line and give its category as one word: billing, delivery, "
    "account or other. Give the category alone and do not explain it. If you are unsure, say other."
)
PAYLOADS = [
    ("Где мой заказ", "Где мой счёт"),
    ("注文はどこ", "請求書はどこ"),
    ("내 주문", "내 청구서"),
    ("طلبي", "فاتورتي"),
    ("मेरा ऑर्डर", "मेरा बिल"),
    ("คำสั่งซื้อ", "ใบแจ้งหนี้"),
    ("我的订单", "我的账单"),
    ("ꀀꀁ", "ꀂꀃ"),
    ("𠮷", "𠀀"),
    ("ｱｶﾞﾙ", "ｻｶﾞﾙ"),
    ("ﷺ", "ﷻ"),
    ("😀", "😢"),
    ("٣", "٤"),
    ("A", "B"),
    ("(a)", "[a]"),
]


@pytest.mark.parametrize(("one", "other"), PAYLOADS)
@pytest.mark.parametrize(
    "template", ["{line} :: {rules}", "{rules} LINE: {line} END. Go.", "{rules} {line}"]
)
def test_a_changing_part_in_any_script_is_seen_in_front_inside_and_behind(
    judged: SemanticCache, template: str, one: str, other: str
) -> None:
    """One long English instruction, and a line that no English rule can read."""
    stored, asked = (template.format(rules=RULES, line=line) for line in (one, other))

    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("task", "one", "other"),
    [
        ("Correct the spelling", "I recieve mail daily at home", "I receive mail daily at home"),
        ("Fix the grammar", "he dont know that thing", "he doesn't know that thing"),
        ("Translate to Spanish", "The kid buys a big house", "The child buys a large house"),
        ("Translate to German", "Please call me", "Kindly call me"),
        ("Rewrite without contractions", "I can't go home", "I cannot go home"),
        ("How many capital letters are in this", "Hello World", "hello world"),
        ("Add punctuation", "lets eat grandpa", "let's eat, grandpa"),
        ("Korrigiere diesen Satz", "ich habe ein hund", "ich habe ein Hund"),
        ("修改病句", "我买了一本书", "我购买了一本书"),
    ],
)
def test_a_text_to_be_worked_on_is_no_question_to_be_reworded(
    kind: str, judged: SemanticCache, task: str, one: str, other: str
) -> None:
    """Where words are the subject, a synonym, a slip or a capital is another subject."""
    stored, asked = f"{task}: {one}", f"{task}: {other}"

    assert replies(kind, judged, stored, asked, stored, dynamic=False) == ["R1", "R2", "R1"]


def parts(line: str) -> list[dict[str, object]]:
    """Give one message of a provider that cuts a prompt into parts."""
    return [user([{"type": "text", "text": RULES}, {"type": "text", "text": line}])]


@pytest.mark.parametrize("name", ["same", "judged"])
def test_an_instruction_in_a_part_of_its_own_joins_no_two_lines(
    kind: str, name: str, request: pytest.FixtureRequest
) -> None:
    """The instruction is scope then, and the line alone is the text."""
    cache: SemanticCache = request.getfixturevalue(name)
    other = [user([{"type": "text", "text": f"{RULES} Be brief."}, {"type": "text", "text": "Hi"}])]

    answers = replies(kind, cache, parts("Hi"), other, parts("Hi"), dynamic=False)

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("What does literally mean?", "What does basically mean?"),
        ("How do you spell colour?", "How do you spell color?"),
        ("Translate buy into French", "Translate purchase into French"),
        ("What rhymes with street?", "What rhymes with road?"),
        ("买用英语怎么说", "购买用英语怎么说"),
        ("再和在的区别", "才和在的区别"),
    ],
)
def test_a_question_about_a_word_keeps_the_word(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """The frame is a template too, and the word its changing part."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("What does inflation mean?", "What is the meaning of inflation?"),
        ("Can you translate tree into Thai?", "Translate tree into Thai"),
        ("苹果的英文怎么写", "苹果的英语怎么写"),
    ],
)
def test_the_frame_of_a_question_about_a_word_may_differ(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Two ways to ask about one word are one question."""
    assert is_served(judged, stored, asked)
