"""The language of the answer is not part of the key.

Promise: a hit is in the language asked for, be it said in an option, in the scope or in the text.
Room: `semcache/request.py`, `semcache/text/facts_other.py`, `semcache/text/facts_language.py`
"""

from __future__ import annotations

from typing import Any

import pytest

from semcache import SemanticCache
from tests.faults.calls import is_served, replies, replies_to


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


LOCALES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"metadata": {"locale": "pt-BR"}}, {"metadata": {"locale": "pt-PT"}}),
    ({"extra_body": {"target_lang": "DE"}}, {"extra_body": {"target_lang": "DE-CH"}}),
    ({"extra_headers": {"Accept-Language": "en"}}, {"extra_headers": {"Accept-Language": "fr"}}),
    ({"languages": ["en", "de"]}, {"languages": ["de", "en"]}),
    ({"language": None}, {}),
]


@pytest.mark.parametrize(("one", "other"), LOCALES)
def test_a_language_anywhere_among_the_options_counts(
    kind: str, apart: SemanticCache, one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Nested, in a header or in a list, and None is not absent."""
    answers = replies_to(kind, apart, "Describe a green tent", one, other, one)

    assert answers == ["R1", "R2", "R1"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Explain dew in French", "Explain dew in Spanish"),
        ("Explain dew (answer in Dutch)", "Explain dew (answer in Danish)"),
        ("Explain dew. Respond in Hindi.", "Explain dew. Respond in Urdu."),
        ("Explain dew in pt-BR", "Explain dew in pt-PT"),
        ("Translate 'gift' from German to English", "Translate 'gift' from English to German"),
        ("Antworte auf Deutsch: Was ist Tau?", "Antworte auf Englisch: Was ist Tau?"),
        ("Traduce al danés: ventana", "Traduce al finés: ventana"),
        ("Как по-английски будет дом?", "Как по-немецки будет дом?"),
        ("用简体中文回答：什么是露", "用繁体中文回答：什么是露"),
        ("「窓」をデンマーク語に翻訳して", "「窓」をフィンランド語に翻訳して"),
        ("창문을 덴마크어로 번역해 줘", "창문을 핀란드어로 번역해 줘"),
    ],
)
def test_the_language_asked_for_in_the_text_counts(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Whatever the language of the sentence that asks."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("¿Qué es el capital?", "¿Qué es la capital?"),
        ("Was ist der See?", "Was ist die See?"),
        ("Wie groß ist der Leiter?", "Wie groß ist die Leiter?"),
        ("Qu'est-ce que le livre ?", "Qu'est-ce que la livre ?"),
        ("Qual è il fine della storia?", "Qual è la fine della storia?"),
        ("Que é o capital?", "Que é a capital?"),
    ],
)
def test_the_article_of_another_gender_is_another_noun(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Small words of a language that is read in part are not swept away."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("¿Qué significa gracias?", "¿Qué significa hola?"),
        ("Wie sagt man danke auf Japanisch?", "Wie sagt man bitte auf Japanisch?"),
        ("Comment dit-on merci en anglais ?", "Comment dit-on bonjour en anglais ?"),
        ("ありがとうは英語で何ですか", "こんにちはは英語で何ですか"),
        ("감사합니다는 영어로 뭐예요?", "안녕하세요는 영어로 뭐예요?"),
        ("Как по-английски привет?", "Как по-английски спасибо?"),
        ("ما معنى شكرا", "ما معنى مرحبا"),
        ("धन्यवाद का मतलब क्या है", "नमस्ते का मतलब क्या है"),
    ],
)
def test_a_greeting_that_is_asked_about_is_no_courtesy(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """Courtesy is set aside only where it is courtesy."""
    assert not is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("¿Cuál es la capital de Perú?", "Hola, ¿cuál es la capital de Perú? Gracias"),
        ("Wo ist der Bahnhof in Bonn?", "Hallo, wo ist der Bahnhof in Bonn, bitte?"),
        ("Quelle est la capitale du Pérou ?", "Bonjour, quelle est la capitale du Pérou ? Merci"),
        ("ペルーの首都はどこですか", "ペルーの首都はどこですか？教えてください"),
        ("Где находится столица Перу?", "Подскажите, где находится столица Перу?"),
        ("Was ist Hauptstadt von Peru?", "Was ist die Hauptstadt von Peru?"),
    ],
)
def test_courtesy_at_the_ends_and_a_missing_article_still_serve(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """What was harmless stays harmless."""
    assert is_served(judged, stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Wie schwer sind 1,250 kg?", "Wie schwer sind 1250 kg?"),
        ("Combien font 2,500 litres ?", "Combien font 2500 litres ?"),
        ("¿Cuánto es 1.500 más 2?", "¿Cuánto es 1.5 más 2?"),
    ],
)
def test_commas_and_dots_of_numbers_are_those_of_the_language(
    judged: SemanticCache, stored: str, asked: str
) -> None:
    """A German comma parts decimals, and a Spanish dot thousands."""
    assert not is_served(judged, stored, asked)
