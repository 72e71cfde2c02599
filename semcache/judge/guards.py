"""Guards: each looks at two texts that an embedder finds close and may veto, with a reason.

A guard never serves. What it cannot read it does not wave through: it says "unread".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from semcache.decision import Verdict
from semcache.judge.guards_explain import difference
from semcache.judge.guards_forms import check_forms
from semcache.judge.guards_meaning import (
    both_read,
    check_antonyms,
    check_modality,
    check_negation,
    check_quantifiers,
    check_question,
    check_tense,
    differing,
    quote,
    texts,
)
from semcache.judge.guards_order import marker_conflict, roles_kept
from semcache.judge.guards_pointing import check_persons, check_reference
from semcache.judge.guards_wording import check_wording
from semcache.text.facts import Facts, read
from semcache.text.misspelling import load_dictionary

__all__ = ["DEFAULT_GUARDS", "Guard", "judge_pair", "preload"]

Check = Callable[[Facts, Facts], str]
_UNREAD = "unread: "


@dataclass(frozen=True, slots=True)
class Guard:
    """A named check. `check` returns the reason for a veto, or "" to let the pair pass.

    A reason that begins with "unread: " means that the check cannot tell.

    >>> numbers = DEFAULT_GUARDS[1]
    >>> numbers(read("What is 48 + 27?"), read("What is 48 + 72?"))
    Verdict(outcome='veto', guard='numbers', reason="'27' / '72'")
    """

    name: str
    check: Check

    def __call__(self, query: Facts, candidate: Facts) -> Verdict:
        """Say whether this guard objects to serving the candidate's answer to the query."""
        reason = self.check(query, candidate)
        if not reason:
            return Verdict("pass", self.name)
        if reason.startswith(_UNREAD):
            return Verdict("unread", self.name, reason.removeprefix(_UNREAD))
        return Verdict("veto", self.name, reason)


def _check_language(query: Facts, candidate: Facts) -> str:
    if query.language != candidate.language and query.language and candidate.language:
        return quote([query.language], [candidate.language])
    if query.script != candidate.script and query.script and candidate.script:
        return quote([query.script], [candidate.script])
    return ""


def _check_numbers(query: Facts, candidate: Facts) -> str:
    return differing(query, candidate, "number")


def _check_dates(query: Facts, candidate: Facts) -> str:
    return differing(query, candidate, "date")


def _check_literals(query: Facts, candidate: Facts) -> str:
    one, two = _operators(query), _operators(candidate)
    if one != two:
        return quote(one, two)
    mine, theirs = _inner_capitals(query), _inner_capitals(candidate)
    for word in mine.keys() & theirs.keys():
        if mine[word] != theirs[word]:
            return quote([mine[word]], [theirs[word]])
    return differing(query, candidate, "literal")


def _operators(facts: Facts) -> list[str]:
    return [key for key in facts.keys("literal") if not any(map(str.isalnum, key))]


_INNER_CAPITAL = re.compile(r"\b\w*[a-z][A-Z]\w*")


def _inner_capitals(facts: Facts) -> dict[str, str]:
    """Words with a capital inside: userId is not userID, though youtube is YouTube."""
    return {word.lower(): word for word in _INNER_CAPITAL.findall(facts.text)}


def _check_code(query: Facts, candidate: Facts) -> str:
    if query.code != candidate.code:
        return quote(query.code, candidate.code)
    if query.layout != candidate.layout:
        return f"indents: {quote(map(str, query.layout), map(str, candidate.layout))}"
    both_quote = query.quotes and candidate.quotes
    if both_quote and sorted(query.quotes) != sorted(candidate.quotes):
        return quote(query.quotes, candidate.quotes)
    return differing(query, candidate, "quote")


def _check_names(query: Facts, candidate: Facts) -> str:
    return differing(query, candidate, "name") if both_read(query, candidate) else ""


def _check_direction(query: Facts, candidate: Facts) -> str:
    if not both_read(query, candidate):
        return ""
    found = difference(query, candidate)
    if found.left or found.right:
        return ""
    if not roles_kept(query, candidate, found):
        one = [item.key for item in found.query]
        two = [item.key for item in found.candidate]
        return f"order: {quote(one, two)}"
    conflict = marker_conflict(query, candidate, found)
    return quote([conflict[0]], [conflict[1]]) if conflict else ""


def _check_scope(query: Facts, candidate: Facts) -> str:
    if not both_read(query, candidate):
        return ""
    found = difference(query, candidate)
    if bool(found.left) == bool(found.right):
        return ""
    return f"only one side says {quote(texts(found.left), texts(found.right))}"


def _check_content(query: Facts, candidate: Facts) -> str:
    found = difference(query, candidate)
    if not found.left and not found.right:
        is_clear = both_read(query, candidate) or _is_equal(query, candidate)
        return "" if is_clear else f"{_UNREAD}order"
    reason = quote(texts(found.left), texts(found.right))
    return f"content differs: {reason}" if both_read(query, candidate) else f"{_UNREAD}{reason}"


def _is_equal(query: Facts, candidate: Facts) -> bool:
    return _worded(query) == _worded(candidate)


def _worded(facts: Facts) -> list[str]:
    """The words in order, without those that may be missing."""
    return [token.key for token in facts.content if token.kind != "optional"]


DEFAULT_GUARDS: tuple[Guard, ...] = (
    Guard("language", _check_language),
    Guard("numbers", _check_numbers),
    Guard("dates", _check_dates),
    Guard("literals", _check_literals),
    Guard("code", _check_code),
    Guard("wording", check_wording),
    Guard("negation", check_negation),
    Guard("antonyms", check_antonyms),
    Guard("forms", check_forms),
    Guard("quantifiers", check_quantifiers),
    Guard("modality", check_modality),
    Guard("tense", check_tense),
    Guard("question", check_question),
    Guard("persons", check_persons),
    Guard("reference", check_reference),
    Guard("names", _check_names),
    Guard("direction", _check_direction),
    Guard("scope", _check_scope),
    Guard("content", _check_content),
)


def preload() -> None:
    """Load the word lists and the dictionary now (about 0.5 s), so that no look-up waits for them.

    Safe to call from any thread and more than once.
    """
    judge_pair("How do I fix it?", "How do I fxi it?")
    judge_pair("怎么修", "怎样修理")
    load_dictionary()


def judge_pair(
    query_text: str,
    candidate_text: str,
    guards: Iterable[Callable[[Facts, Facts], Verdict]] = DEFAULT_GUARDS,
) -> Verdict:
    """Ask every guard: the first veto, else the first "unread", else a pass.

    Raises nothing for any text. The verdict quotes both sides of the difference.

    >>> judge_pair("How do I close my account?", "How do I open my account?").outcome
    'veto'
    >>> judge_pair("What is the capital of Ghana?", "Can you tell me the capital city of Ghana?")
    Verdict(outcome='pass', guard='all', reason='')
    """
    if query_text == candidate_text:
        return Verdict("pass", "all")
    query, candidate = read(query_text), read(candidate_text)
    unread: Verdict | None = None
    for guard in guards:
        verdict = guard(query, candidate)
        if verdict.outcome == "veto":
            return verdict
        if verdict.outcome == "unread" and unread is None:
            unread = verdict
    return unread or Verdict("pass", "all")
