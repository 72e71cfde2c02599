"""Say whether one word is a misspelling of another, with a dictionary that is loaded on first need.

Two words that are both in the dictionary are two words ("desert", "dessert"). Without the optional
package pyspellchecker nothing is a misspelling.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Protocol

__all__ = ["is_misspelling", "load_dictionary"]


class _Dictionary(Protocol):
    def __contains__(self, word: str, /) -> bool: ...
    def __getitem__(self, word: str, /) -> int: ...


@cache
def load_dictionary() -> _Dictionary | None:
    """The English dictionary, loaded once; None without the package."""
    try:
        from spellchecker import SpellChecker
    except ImportError:
        return None
    words: _Dictionary = SpellChecker(language="en", distance=1).word_frequency
    return words


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RARE = 20  # a word this seldom in the dictionary's corpus may be a misspelling itself


@lru_cache(maxsize=8192)
def is_misspelling(one: str, two: str) -> bool:
    """Say whether just one of two lower-case words is known and the other a slip away from it.

    >>> is_misspelling("recieve", "receive"), is_misspelling("desert", "dessert")
    (True, False)
    """
    if min(len(one), len(two)) < 3 or one == two or not (one + two).isalpha():
        return False
    if not _is_near(one, two):
        return False
    words = load_dictionary()
    if words is None:
        return False
    known = [word in words and words[word] > _RARE for word in (one, two)]
    if known[0] == known[1]:
        return False
    right, wrong = (one, two) if known[0] else (two, one)
    return _is_best_guess(wrong, right, words)


def _is_near(one: str, two: str) -> bool:
    limit = 1 if min(len(one), len(two)) < 7 else 2
    if abs(len(one) - len(two)) > limit or len(set(one) ^ set(two)) > 2 * limit:
        return False
    return _edits(one, two) <= limit


def _edits(one: str, two: str) -> int:
    """Edits (insert, delete, replace, swap neighbours) that turn one word into the other."""
    before, last = list[int](), list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def _is_best_guess(wrong: str, right: str, words: _Dictionary) -> bool:
    """No other word one edit away is far commoner: "desser" may be two things."""
    if _edits(wrong, right) > 1:
        return not any(word in words and words[word] > _RARE for word in _one_edit(wrong))
    own = words[right]
    return all(
        words[word] < 5 * own for word in _one_edit(wrong) if word != right and word in words
    )


def _one_edit(word: str) -> set[str]:
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        *(left + right[1:] for left, right in splits if right),
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + letter + right[1:] for left, right in splits if right for letter in _LETTERS),
        *(left + letter + right for left, right in splits for letter in _LETTERS),
    }
