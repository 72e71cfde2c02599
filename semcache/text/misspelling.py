"""Whether one word is plainly a slip for another, by an English dictionary.

One side must be in the dictionary and common, the other in no list of words or names, and the edit
one that fingers and memory make: two letters swapped, a letter doubled or not, and in longer words
an inner letter lost, added or a wrong vowel. The shorter the word, the more common it must be.
It must never call two words of the language, or a word and a product, the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec

from semcache.text.spelling import level_spelling

__all__ = ["correct", "is_misspelling", "load_dictionary", "meant"]

# How often a word must stand in the dictionary's corpus ("password" 7,868, "from" 5.4 million) to
# be what a writer meant.
_COMMON, _VERY_COMMON = 1000, 100_000
# Shorter words are too near to names and terms ("mole" and "molle", "next" and "nuxt"), unless one
# of them is very common.
_SHORTEST, _SHORTEST_DOUBLED, _SHORTEST_INNER = 4, 5, 7
_SHORTEST_INNER_VERY_COMMON = 5
_LONGEST = 32
"""No word is longer: a run of letters past this is data, and trying its edits takes minutes."""
_PLAIN_WORD = re.compile(r"(?<![\w.@/#-])[a-z]{4,}(?![\w@/#(-]|\.\w)")
_VOWELS = frozenset("aeiou")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Names and terms one slip away from a word, which the dictionary does not know.
_NAME_LIST = (
    "flickr tumblr grindr scribd fiverr lyft canva figma trello vercel netlify twilio shopify "
    "spotify klarna venmo zelle paypal ebay etsy reddit redit hulu roku fitbit garmin nginx redis "
    "numpy scipy scikit pytest mongo mongodb mysql sqlite postgres kafka celery django fastapi "
    "jupyter pandas polars keras pytorch tensorflow struct structs const consts params kwargs "
    "async await enum enums regex typedef println printf elif stdin stdout mutex config configs "
    "micheal mathew jonathon kathrine sulfite sulphite phosphite nitrite chlorite ethyne ethene "
    "methene propyne butyne butene pentene hexene alkyne alkene ethanal methanal propanal"
)
_NAMES = frozenset(_NAME_LIST.split())


@lru_cache(maxsize=1)
def load_dictionary() -> Mapping[str, int]:
    """Return words and how common they are: 160,000 English words, read in about 0.3 s.

    Empty where pyspellchecker is not installed: then no difference is a misspelling, which costs
    hits and nothing else.
    """
    if find_spec("spellchecker") is None:
        return {}
    from spellchecker import SpellChecker

    return dict(SpellChecker(language="en").word_frequency.dictionary)


def is_misspelling(one: str, other: str, *, is_name: bool = False) -> bool:
    """Say whether one of two different lower-case words is plainly a slip for the other.

    `is_name`: the word was capitalised inside a sentence. Then only swapped letters count, since
    Hanna and Hannah are two people.

    >>> is_misspelling("recieve", "receive"), is_misspelling("causal", "casual")
    (True, False)
    """
    if min(len(one), len(other)) < _SHORTEST or max(len(one), len(other)) > _LONGEST:
        return False
    if not (one + other).isascii():
        return False
    if not (one + other).isalpha() or abs(len(one) - len(other)) > 1:
        return False
    words = load_dictionary()
    slip, word = (one, other) if other in words else (other, one)
    if words.get(word, 0) < _COMMON or not _is_unknown(slip, words):
        return False
    is_usual = words[word] >= _VERY_COMMON
    if word in _swapped(slip):
        return _only(word, _swapped(slip), words)
    if is_name:
        return False
    if word in _redoubled(slip):
        is_long = is_usual or len(word) >= _SHORTEST_DOUBLED
        return is_long and _only(word, _swapped(slip) | _redoubled(slip), words)
    if not _is_inner_slip(slip, word, is_usual=is_usual):
        return False
    return _only(word, frozenset(_all_edits(slip)), words)


def _is_inner_slip(slip: str, word: str, *, is_usual: bool) -> bool:
    if len(word) >= _SHORTEST_INNER:
        return word in _inner_edits(slip)
    is_long = is_usual and len(word) >= _SHORTEST_INNER_VERY_COMMON
    return is_long and len(slip) != len(word) and word in _inner_edits(slip)


def meant(word: str, *, is_name: bool = False) -> str:
    """Return the one common word that a lower-case slip plainly stands for, else the word itself.

    >>> meant("recieve"), meant("receive"), meant("kubectl")
    ('receive', 'receive', 'kubectl')
    """
    return word if len(word) > _LONGEST else _meant(word, is_name=is_name)


@lru_cache(maxsize=65_536)
def _meant(word: str, *, is_name: bool) -> str:
    words = load_dictionary()
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()) or word in words:
        return word
    near = _swapped(word)
    if not is_name:
        near |= _redoubled(word) | _inner_edits(word)
    common = sorted(near & words.keys(), key=words.__getitem__, reverse=True)
    fits = (other for other in common if is_misspelling(word, other, is_name=is_name))
    return next(fits, word)


def correct(text: str) -> str:
    """Return a text with its plain slips mended, for a reader that stumbles over them.

    Only lower-case words are touched: names and identifiers are nobody's slips.

    >>> correct("What is the captial of Peru?")
    'What is the capital of Peru?'
    """
    return _PLAIN_WORD.sub(lambda found: meant(found.group()), text)


def _is_unknown(slip: str, words: Mapping[str, int]) -> bool:
    stems = {slip, level_spelling(slip), slip.removesuffix("s")}
    return not any(stem in words or stem in _NAMES for stem in stems)


def _only(word: str, near: frozenset[str], words: Mapping[str, int]) -> bool:
    """Say whether no other word that `near` holds could have been meant."""
    rivals = (words.get(rival, 0) for rival in near if rival != word)
    return all(count * 20 < words[word] for count in rivals)


def _swapped(text: str) -> frozenset[str]:
    return frozenset(
        text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)
    ) - {text}


def _redoubled(text: str) -> frozenset[str]:
    doubled = {text[:i] + text[i] + text[i:] for i in range(1, len(text))}
    single = {text[:i] + text[i + 1 :] for i in range(1, len(text)) if text[i] == text[i - 1]}
    return frozenset(doubled | single)


def _inner_edits(text: str) -> frozenset[str]:
    inner = range(1, len(text) - 1)
    lost = {text[:i] + letter + text[i:] for i in range(1, len(text)) for letter in _LETTERS}
    added = {text[:i] + text[i + 1 :] for i in inner}
    vowel = {
        text[:i] + letter + text[i + 1 :] for i in inner if text[i] in _VOWELS for letter in _VOWELS
    }
    return frozenset(lost | added | vowel)


def _all_edits(text: str) -> Iterator[str]:
    for i in range(len(text) + 1):
        yield text[:i] + text[i + 1 :]
        for letter in _LETTERS:
            yield text[:i] + letter + text[i:]
            yield text[:i] + letter + text[i + 1 :]
    yield from _swapped(text)
