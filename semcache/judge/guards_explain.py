"""What two prompts say differently, after what is only said in another form has been explained.

A joined word, an abbreviation, a noun of the same verb, a misspelling, an article for "one" explain
a leftover token. It vetoes nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from semcache.judge.guards_align import Difference, Pair
from semcache.text.facts import Facts
from semcache.text.facts_rules import english
from semcache.text.facts_tokens import Token
from semcache.text.facts_words import derived_alike
from semcache.text.misspelling import is_misspelling

__all__ = ["difference"]

_MOST_EXPLAINED = 16  # two texts with more differing words are two texts


@lru_cache(maxsize=4096)
def difference(query: Facts, candidate: Facts) -> Difference:
    """Align the content tokens of two texts."""
    pair = Pair(query, candidate)
    if max(len(pair.left), len(pair.right)) <= _MOST_EXPLAINED:
        for explain in _EXPLANATIONS:
            explain(pair)
    return pair.result()


_JOINTS = re.compile("[-' ]")


def _letters(token: Token) -> str:
    """The token without hyphens and apostrophes; other marks belong to a version or a path."""
    return _JOINTS.sub("", token.text.lower())


def _explain_optional(pair: Pair) -> None:
    """Frames such as "explain" or "list" may be missing, but do not stand for one another."""
    optional = english().optional
    for own, places, _, _ in pair.sides():
        for place in list(places):
            token = own.content[place]
            if token.kind == "word" and token.key in optional and own.language == "en":
                pair.drop(places, place)
    kinds = [
        {own.content[place].key for place in places if own.content[place].kind == "optional"}
        for own, places, _, _ in pair.sides()
    ]
    if kinds[0] and kinds[1]:
        return
    for own, places, _, _ in pair.sides():
        for place in list(places):
            if own.content[place].kind == "optional":
                pair.drop(places, place)


def _explain_have(pair: Pair) -> None:
    """Chinese 有 adds nothing to an open question; in a yes-or-no it is the question."""
    if pair.query.language != "zh" or not pair.query.asks == pair.candidate.asks == "open":
        return
    for own, places, other, _ in pair.sides():
        for place in list(places):
            around = own.content[max(0, place - 1) : place + 2]
            asked = any(token.kind == "question" and token.key != "who" for token in around)
            key = own.content[place].key
            used = key == "用" and any(token.key == "with" for token in other.tokens)
            if used or (key == "有" and asked):
                pair.drop(places, place)


def _explain_what(pair: Pair) -> None:
    """ "What" alone asks nothing that "tell me" does not; it is not "why" or a yes-or-no."""
    for own, places, other, others in pair.sides():
        if other.asks == "yes or no" or own.asks == "yes or no":
            continue
        if any(other.content[place].kind == "question" for place in others):
            continue
        for place in list(places):
            if own.content[place].kind == "question" and own.content[place].key in _NULL_QUESTIONS:
                pair.drop(places, place)
    for own, places, _, _ in pair.sides():
        for place in list(places):
            if own.content[place].key == "yesno":
                pair.drop(places, place)


_WISH = re.compile(
    r"\W*(?:i(?:'d| would) like|i (?:just |really )?(?:want|need)|i(?:'m| am) (?:trying|looking)|"
    r"need|want) to (?!know|ask|understand)|(?:please )?help me\b",
    re.IGNORECASE,
)


def _explain_wish(pair: Pair) -> None:
    """ "I want to open an account" asks how to open one."""
    for own, places, other, others in pair.sides():
        if other.asks or other.language != "en" or not _WISH.match(other.text):
            continue
        if any(other.content[place].kind == "question" for place in others):
            continue
        for place in list(places):
            if own.content[place].kind == "question" and own.content[place].key == "how":
                pair.drop(places, place)


_NULL_QUESTIONS = frozenset(("what",))


def _explain_joined(pair: Pair) -> None:
    """ "log in" is "login", "GPT-4" is "GPT 4"."""
    for own, places, other, others in pair.sides():
        for place in list(places):
            token = own.content[place]
            whole = _letters(token)
            run = [] if token.kind == "number" else _run_of(whole, other, others)
            if run and _letters(other.content[run[0]]) in _PREFIXES:
                continue  # "re-sign" is not "resign"
            if run:
                pair.match(places, place, others, run)


_PREFIXES = frozenset("re un co de".split())


def _run_of(whole: str, other: Facts, places: list[int]) -> list[int]:
    for start in range(len(places)):
        text, run = "", list[int]()
        for following in places[start:]:
            if run and following != run[-1] + 1:
                break
            text += _letters(other.content[following])
            run.append(following)
            if text == whole and len(run) > 1:
                return run
            if not whole.startswith(text):
                break
    return []


_ONE_OF = re.compile("(?<!第)[一1] ?[个種种款次位名份张条件台部家只本杯点些下首篇段句]")


def _explain_one(pair: Pair) -> None:
    """ "one" may stand for "a"; in Chinese 一个 adds nothing, the 1 of 1号线 is a name."""
    for own, places, other, _ in pair.sides():
        if own.language == "zh":
            has_article = _ONE_OF.search(own.text) is not None
        else:
            has_article = any(word in ("a", "an") for word in other.words)
        for place in list(places):
            token = own.content[place]
            if token.kind == "number" and token.key == "1" and has_article:
                pair.drop(places, place)


def _explain_year(pair: Pair) -> None:
    """1949 and 1949年 are one year."""
    for own, places, other, others in pair.sides():
        for place in list(places):
            token = own.content[place]
            if token.kind != "number" or not token.key.endswith(" months"):
                continue
            same = [
                p for p in others if other.content[p].key == token.text and len(token.text) == 4
            ]
            if same:
                pair.match(places, place, others, same[:1])


def _explain_initials(pair: Pair) -> None:
    """ "WHO" is "World Health Organization": the first letters of words on the other side.

    Two letters stand for too many names ("SA", "LA").
    """
    for own, places, other, others in pair.sides():
        for place in list(places):
            token = own.content[place]
            letters = _letters(token)
            if not 3 <= len(letters) <= 6 or not token.text.isupper():
                continue
            for start in range(len(others) - len(letters) + 1):
                run = others[start : start + len(letters)]
                first = "".join(_letters(other.content[p])[:1] for p in run)
                if first == letters and run[-1] - run[0] == len(run) - 1:
                    pair.match(places, place, others, run)
                    break


_MOST_LEFT = 4  # more differences than this are no slips of the pen


def _explain_forms(pair: Pair) -> None:
    """A noun of the same verb, a misspelling of the same word."""
    if len(pair.left) > _MOST_LEFT or len(pair.right) > _MOST_LEFT:
        return
    for alike in (_derived, _misspelled):
        for place in list(pair.left):
            token = pair.query.content[place]
            for other in pair.right:
                if alike(token, pair.candidate.content[other]):
                    pair.match(pair.left, place, pair.right, [other])
                    break


_PLAIN = frozenset(("word", "name"))


def _derived(one: Token, two: Token) -> bool:
    return one.kind in _PLAIN and two.kind in _PLAIN and derived_alike(one.key, two.key)


def _misspelled(one: Token, two: Token) -> bool:
    kinds = {one.kind, two.kind}
    if not kinds <= {"word", "name", "question"} or kinds == {"question"}:
        return False
    return is_misspelling(one.text.lower(), two.text.lower(), is_name="name" in kinds)


def _explain_small_words(pair: Pair) -> None:
    """A misspelling of a small word that the other text has and that is no content there."""
    if len(pair.left) > _MOST_LEFT or len(pair.right) > _MOST_LEFT:
        return
    for own, places, other, _ in pair.sides():
        if own.language != "en":
            continue
        content = {token.text.lower() for token in other.content}
        spare = [word for word in other.words if word not in own.words and word not in content]
        for place in list(places):
            text = own.content[place].text.lower()
            if any(is_misspelling(text, word) for word in spare):
                pair.drop(places, place)


_EXPLANATIONS = (
    _explain_optional,
    _explain_joined,
    _explain_initials,
    _explain_forms,
    _explain_what,
    _explain_wish,
    _explain_have,
    _explain_one,
    _explain_year,
    _explain_small_words,
)
