"""The word lists beside this file, loaded once and on first use, in the shapes the readers need.

Decides nothing about a text. Phrases are written with choices "(a|b)" and optional parts "[c]".
Long because it holds the shapes of three kinds of list and their loaders side by side.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = [
    "Chinese",
    "English",
    "Language",
    "Phrase",
    "Rewrite",
    "chinese",
    "english",
    "opposites",
    "others",
    "rules_of",
]

Rewrite = tuple[str, str]


@dataclass(slots=True)
class Phrase:
    """A node of a tree of word runs: `becomes` is what a run that ends here turns into."""

    following: dict[str, Phrase] = field(default_factory=dict)
    becomes: tuple[Rewrite, ...] | None = None


@dataclass(frozen=True, slots=True)
class English:
    """English word classes: `classes` maps a word to its (kind, key), phrases map word runs."""

    start: Phrase
    opening: Phrase
    end: Phrase
    anywhere: Phrase
    clause: Phrase
    closing: Phrase
    contractions: dict[str, tuple[str, ...]]
    task_verbs: frozenset[str]
    classes: dict[str, Rewrite]
    prefixed: dict[str, str]
    phrasal: dict[str, dict[str, str]]
    synonyms: dict[str, str]
    irregular: dict[str, str]
    spellings: dict[str, str]
    nouns: dict[str, str]
    kept: frozenset[str]
    cased: frozenset[str]
    unaccented: frozenset[str]
    symmetric: frozenset[str]
    symmetric_with: frozenset[str]
    floating: frozenset[str]
    optional: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chinese:
    """Chinese words: `lexicon` maps a word to its tokens (none: it has no weight)."""

    start: tuple[str, ...]
    end: tuple[str, ...]
    end_alone: frozenset[str]
    kept: tuple[str, ...]
    lexicon: dict[str, tuple[Rewrite, ...]]
    longest: int


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of a language that is read in part."""

    function: frozenset[str]
    drop: tuple[str, ...]
    articles: frozenset[str]
    negation: frozenset[str]
    negation_pattern: str


@cache
def rules_of(name: str) -> dict[str, Any]:
    """The rules of one file, as they stand there."""
    return tomllib.loads((files("semcache.text") / "rules" / f"{name}.toml").read_text("utf-8"))


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def _items(name: str) -> tuple[Rewrite, ...]:
    """Read "question:how much word:cost" as two items; "drop" and "" as none."""
    items: list[Rewrite] = []
    for part in name.split(" "):
        kind, colon, key = part.partition(":")
        if colon:
            items.append((kind, key))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]} {part}")
    return tuple(items)


def _closing(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in "([") - (text[position] in ")]")
        if depth == 0:
            return position
    raise ValueError(f"unbalanced brackets in the phrase {text!r}")


def _split_choices(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "|" and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current]


def _expand(text: str) -> Iterator[str]:
    """Write out a phrase with all of its choices."""
    for position, character in enumerate(text):
        if character in "([":
            end = _closing(text, position)
            inner = _split_choices(text[position + 1 : end])
            for choice in [*inner, ""] if character == "[" else inner:
                yield from _expand(text[:position] + choice + text[end + 1 :])
            return
    yield text


def _phrases(section: dict[str, list[str]]) -> Phrase:
    root = Phrase()
    for name, patterns in section.items():
        items = _items(name)
        for text in (text for pattern in patterns for text in _expand(pattern)):
            node = root
            for word in text.split():
                node = node.following.setdefault(word, Phrase())
            if node is not root and node.becomes is None:
                node.becomes = items
    return root


def _groups(text: str) -> dict[str, str]:
    keys: dict[str, str] = {}
    for first, *others in _rows(text):
        for word in others:
            keys.setdefault(word, keys.get(first, first))
    return keys


def _classes(table: dict[str, Any]) -> dict[str, Rewrite]:
    classes: dict[str, Rewrite] = {}
    for key, words in table["quantifiers"].items():
        classes.update(dict.fromkeys(words.split(), ("quantifier", key)))
    for key, words in table["modality"].items():
        classes.update(dict.fromkeys(words.split(), ("modal", key)))
    for key, words in table["prepositions"].items():
        classes.update(dict.fromkeys(words.split(), ("preposition", key)))
    kinds = table["classes"]
    for word in kinds["question"].split():
        classes[word] = ("question", "what" if word == "which" else word)
    for word in kinds["coordinator"].split():
        classes[word] = ("coordinator", "vs" if word == "versus" else word)
    for word in kinds["article"].split():
        classes[word] = ("article", word)
    for word in kinds["be"].split():
        classes[word] = ("be", word)
    for word in kinds["person"].split():
        classes[word] = ("person", word)
    for key, words in table["tense"].items():
        classes.update(dict.fromkeys(words.split(), ("tense", key)))
    classes.update(dict.fromkeys(table["negation"]["words"].split(), ("negation", "no")))
    return classes


def _pair(row: list[str]) -> tuple[str, str]:
    one, two = row
    return one, two


def _nouns(text: str) -> dict[str, str]:
    """Nouns by their verb: "create ~ion" is creation, "install -ation" adds to the whole verb."""
    nouns: dict[str, str] = {}
    for verb, noun in _rows(text):
        stem = {"-": verb, "~": verb[:-1]}.get(noun[0])
        nouns[verb] = noun if stem is None else stem + noun[1:]
    return nouns


def _spellings(words: dict[str, Any]) -> dict[str, str]:
    pairs: dict[str, str] = dict(map(_pair, _rows(words["spelling_pairs"])))
    for root in words["spelling_roots"].split():
        american = root[: root.rindex("our")] + "or"
        for ending in ("", "s", "ed", "ing", "ful", "able", "ite", "ites", "less", "ly", "ist"):
            pairs[root + ending] = american + ending
    for word in words["ise_words"].split():
        stem = word[:-2]
        for ending in ("e", "es", "ed", "er", "ers", "ing", "ation", "ations"):
            pairs[f"{stem}s{ending}"] = f"{stem}z{ending}"
    return pairs


@cache
def english() -> English:
    """The English rules."""
    table, words = rules_of("english"), rules_of("english_words")
    phrasal: dict[str, dict[str, str]] = {}
    for verb, particle, key in _rows(table["phrasal"]["rows"]):
        phrasal.setdefault(verb, {})[particle] = key
    irregular = {
        form: base for base, *forms in _rows(words["irregular"]) for form in [base, *forms]
    }
    return English(
        start=_phrases(table["start"]),
        opening=_phrases(table["opening"]),
        end=_phrases(table["end"]),
        task_verbs=frozenset(table["task"]["verbs"].split()),
        anywhere=_phrases(table["any"]),
        clause=_phrases(table["clause"]),
        closing=_phrases(table["closing"]),
        contractions={word: tuple(text.split()) for word, text in table["contractions"].items()},
        classes=_classes(table),
        prefixed=dict(map(_pair, _rows(table["negation"]["prefixed"]))),
        phrasal=phrasal,
        synonyms=_groups(words["synonyms"]),
        irregular=irregular,
        spellings=_spellings(words),
        nouns=_nouns(words["nouns"]),
        kept=frozenset(words["kept"].split()),
        cased=frozenset(table["cased"]["words"].split()),
        unaccented=frozenset(table["unaccented"]["words"].split()),
        symmetric=frozenset(table["symmetric"]["words"].split()),
        symmetric_with=frozenset(table["symmetric"]["with"].split()),
        floating=frozenset(table["floating"]["words"].split()),
        optional=frozenset(table["optional"]["words"].split()),
    )


@cache
def chinese() -> Chinese:
    """The Chinese rules."""
    table = rules_of("chinese")
    lexicon: dict[str, tuple[Rewrite, ...]] = {}
    for words in (table["function"]["words"], table["drop"]["any"]):
        lexicon.update((word, ()) for word in words.split())
    for row in _rows(table["antonyms"]["rows"]):
        lexicon.update((word, (("word", word),)) for word in row if len(word) > 1)
    for text in (table["synonyms"]["rows"], table["same"]["rows"]):
        for first, *rest in _rows(text):
            key = lexicon.get(first, (("word", first),))
            lexicon.update((word, key) for word in [first, *rest])
    lexicon.update((word, (("word", word),)) for word in table["kept"]["words"].split())
    for name, words in table["canonical"].items():
        lexicon.update((word, _items(name)) for word in words.split())
    return Chinese(
        start=_longest_first(table["drop"]["start"]),
        end=_longest_first(table["drop"]["end"]),
        end_alone=frozenset(table["drop"]["end_alone"].split()),
        kept=tuple(table["kept"]["words"].split()),
        lexicon=lexicon,
        longest=max(map(len, lexicon)),
    )


def _longest_first(words: str) -> tuple[str, ...]:
    return tuple(sorted(words.split(), key=len, reverse=True))


@cache
def others() -> dict[str, Language]:
    """The languages that are read in part, by ISO 639-1 code."""
    return {
        code: Language(
            function=frozenset(row.get("function", "").split()),
            drop=tuple(sorted(row.get("drop", "").split(","), key=len, reverse=True)),
            articles=frozenset(row.get("articles", "").split()),
            negation=frozenset(row.get("negation", "").split()),
            negation_pattern=row.get("negation_pattern", ""),
        )
        for code, row in rules_of("other").items()
    }


@cache
def opposites(language: str) -> dict[str, frozenset[str]]:
    """For each word of the language, the words that mean its opposite: in the lists, the first
    word of a line against each of the others.
    """
    if language == "en":
        rows = _rows(rules_of("english_words")["antonyms"])
    elif language == "zh":
        rows = _rows(rules_of("chinese")["antonyms"]["rows"])
    else:
        listed = rules_of("other").get(language, {}).get("antonyms", "")
        rows = [pair.split() for pair in listed.split(",") if pair]
    found: dict[str, set[str]] = {}
    for row in rows:
        for other in row[1:]:
            found.setdefault(row[0], set()).add(other)
            found.setdefault(other, set()).add(row[0])
    return {word: frozenset(words) for word, words in found.items()}
