"""Politeness goes, content stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.text.courtesy import strip_politeness
from semcache.text.normalize import is_blank


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Hi there! How do I close my account?", "How do I close my account?"),
        ("Could you please tell me how to close my account?", "how to close my account?"),
        ("Please explain photosynthesis, thanks!", "explain photosynthesis"),
        ("I was wondering whether you could explain tides.", "explain tides."),
        ("Do you know where the nearest bank is?", "where is the nearest bank?"),
        ("Can you tell me the height of Mont Blanc?", "what is the height of Mont Blanc?"),
        ("How do I sort a list? Thank you in advance!", "How do I sort a list?"),
        ("Good morning, I need a new card. Cheers", "I need a new card."),
        ("hello how do I sort a list", "how do I sort a list"),
        ("麻烦您帮我解释一下什么是复利，谢谢", "什么是复利"),
        ("您好，请问怎么开发票？", "怎么开发票？"),
        ("可以告诉我怎么开发票吗？", "怎么开发票？"),
        ("我想知道为什么海水是咸的", "为什么海水是咸的"),
        (
            "¿Podría decirme cuál es la capital de Chile, por favor?",
            "¿cuál es la capital de Chile?",
        ),
        ("Bonjour, comment changer d'adresse, s'il vous plaît ?", "comment changer d'adresse ?"),
        ("Können Sie mir bitte sagen, wo der Bahnhof ist?", "wo der Bahnhof ist?"),
    ],
)
def test_polite_wrappers_go(text: str, plain: str) -> None:
    """Greetings, requests and thanks leave the plain question."""
    assert strip_politeness(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Thank you letter for a teacher",
        "Thanks giving day history",
        "How do you spell please?",
        "What is the French for thank you",
        "What does the word please mean?",
        "Translate into German: Could you help me, please?",
        "Please Please Me release date",
        "Tell Me Why lyrics",
        "Hello world program in C",
        "Hey Jude chords",
        "Can you freeze cooked rice?",
        "Can you make soap from ash?",
        "Write a note that ends with many thanks",
        '"Please" or "kindly"?',
        "please",
        "Hello!",
        "Thank you!",
        "请假条怎么写",
        "请客吃什么",
        "麻烦怎么解决",
        "谢谢用英语怎么说",
        "我要问路怎么说",
        "谢谢",
        "Please in Spanish",
        "kindly meaning",
        "Hi is a greeting in which languages?",
        "Who sang Please Please Please",
        "Is it a yes please",
        "不好意思用英语怎么说",
        "劳驾是什么意思",
        "请问和请教的区别",
    ],
)
def test_polite_words_that_are_content_stay(text: str) -> None:
    """A polite word that is a subject, a name or the whole text is not taken away."""
    assert strip_politeness(text) == text


POLITE = st.sampled_from(
    [
        "please",
        "hi,",
        "thanks",
        "hello",
        "could you",
        "tell me",
        "what",
        "is",
        "?",
        "!",
        "请问",
        "谢谢",
        "x",
    ]
)


@given(st.lists(POLITE, min_size=1, max_size=8).map(" ".join))
def test_the_rest_is_never_blank(text: str) -> None:
    """However much politeness there is, something is left."""
    if not is_blank(text):
        assert not is_blank(strip_politeness(text))


def test_a_wall_of_politeness_takes_no_time() -> None:
    """Layers are bounded, so that a hostile text cannot stall the cache."""
    text = "please " * 5000 + "sort"

    assert strip_politeness(text).endswith("sort")
