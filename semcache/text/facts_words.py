"""One English word to the key under which its inflected and spelling forms meet.

Only inflection (plural, -s, -ed, -ing) and spelling variants are levelled. Derivation is not:
"policy" is not "police", "cheaper" is not "cheapest".
"""

from __future__ import annotations

import re
from functools import lru_cache

from semcache.text.facts_rules import english

__all__ = ["derived_alike", "lemma", "word_key"]

_VOWEL = re.compile("[aeiouy]")
_SHORT = re.compile(r"^[^aeiou]*[aeiouy][^aeiouywx]$")
_TAKES_E = re.compile(r"(?:[^l]l|[cgvzu]|[rn]s|dg|[lr]v|at|[iy]s|us|ur|ir|bl|dl|tl|pl|gl|fl|kl)$")
_NG = re.compile(r"ng$")
_MIN = 4


@lru_cache(maxsize=65536)
def word_key(word: str) -> str:
    """Key of a lower-case English word: spelling, inflection and synonyms levelled.

    >>> word_key("colours") == word_key("color"), word_key("purchasing") == word_key("buy")
    (True, True)
    """
    base = lemma(word)
    return _synonym_keys().get(base, base)


@lru_cache(maxsize=1)
def _synonym_keys() -> dict[str, str]:
    keys: dict[str, str] = {}
    for word, group in english().synonyms.items():
        keys.setdefault(lemma(word), lemma(group))
    return keys


@lru_cache(maxsize=65536)
def lemma(word: str) -> str:
    """The word without its inflection, in American spelling.

    >>> [lemma(word) for word in ("running", "makes", "stories", "organised", "desert")]
    ['run', 'make', 'story', 'organiz', 'desert']
    """
    rules = english()
    word = rules.spellings.get(word, word)
    if word in rules.irregular:
        return rules.irregular[word]
    if len(word) < _MIN or word in rules.kept or not word.isalpha():
        return word
    base = _strip(word)
    base = rules.irregular.get(base, base)
    return _without_e(rules.spellings.get(base, base))


def _without_e(word: str) -> str:
    """Longer words lose a final e, so that "creating" and "create" meet without a dictionary."""
    if word in english().kept or not word.endswith("e") or len(_syllables(word[:-1])) < 2:
        return word
    return word[:-1]


def _syllables(word: str) -> list[str]:
    return re.findall("[aeiouy]+", word)


def _strip(word: str) -> str:
    if word.endswith("ies") and len(word) > _MIN:
        return word[:-3] + "y"
    if word.endswith("ied") and len(word) > _MIN:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    for ending in ("ing", "ed"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and _VOWEL.search(stem) and stem[-1] != "e":
            return _restore(stem)
    return word


def _restore(stem: str) -> str:
    """The base form of a stem that lost -ing or -ed: doubled letters single, a lost e back."""
    last = stem[-1]
    if last == stem[-2] and last not in "lsz":
        return stem[:-1]
    if last == "l" == stem[-2] and len(_syllables(stem)) > 1:
        return stem[:-1]
    if last == stem[-2]:
        return stem
    if len(_syllables(stem)) == 1 and (
        _SHORT.match(stem) or (_TAKES_E.search(stem) and not _NG.search(stem))
    ):
        return stem + "e"
    return stem


def derived_alike(one: str, two: str) -> bool:
    """Say whether one key is the noun of what the other does ("install", "installation").

    A closed list: an ending alone would make a university the noun of the universe.

    >>> derived_alike(lemma("installation"), lemma("install")), derived_alike("station", "state")
    (True, False)
    """
    return one != two and _verb_of().get(one, one) == _verb_of().get(two, two)


@lru_cache(maxsize=1)
def _verb_of() -> dict[str, str]:
    return {lemma(noun): lemma(verb) for verb, noun in english().nouns.items()}
