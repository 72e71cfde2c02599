"""Checks of the small words that turn a question round: not, all, must, was, why.

Each check returns the reason for a veto, "" if it has none.
"""

from __future__ import annotations

from collections.abc import Iterable

from semcache.judge.guards_explain import difference
from semcache.text.facts import Facts
from semcache.text.facts_rules import opposites
from semcache.text.facts_tokens import Token
from semcache.text.facts_words import word_key

__all__ = [
    "both_read",
    "check_antonyms",
    "check_modality",
    "check_negation",
    "check_quantifiers",
    "check_question",
    "check_tense",
    "differing",
    "quote",
    "texts",
]


def both_read(query: Facts, candidate: Facts) -> bool:
    """Whether the words of both texts can be compared."""
    return query.is_read and candidate.is_read


def quote(one: Iterable[str], two: Iterable[str]) -> str:
    """Both sides of a difference, in quotes."""
    left, right = " ".join(one), " ".join(two)
    return f"{left[:60]!r} / {right[:60]!r}"


def texts(tokens: Iterable[Token]) -> list[str]:
    """The tokens as they stand in the text."""
    return [token.text for token in tokens]


def differing(query: Facts, candidate: Facts, *kinds: str) -> str:
    """What is left over of some kinds of token, quoted; "" if nothing is."""
    found = difference(query, candidate)
    left = [token for token in found.left if token.kind in kinds]
    right = [token for token in found.right if token.kind in kinds]
    return quote(texts(left), texts(right)) if left or right else ""


def check_negation(query: Facts, candidate: Facts) -> str:
    """An odd number of negations more, or another part negated."""
    if query.negations % 2 != candidate.negations % 2:
        sides = (texts(query.of_kind("negation")), texts(candidate.of_kind("negation")))
        return quote(sides[0] or ["no negation"], sides[1] or ["no negation"])
    if _negation_scopes(query) != _negation_scopes(candidate):
        return "another part is negated"
    one, two = _negated_parts(query), _negated_parts(candidate)
    if not query.negations or one == two:
        return ""
    is_one_part = not one or not two
    if is_one_part and _around_negations(query) == _around_negations(candidate):
        return ""
    return "another part is negated"


def _negation_scopes(facts: Facts) -> list[tuple[int, tuple[str, ...]]]:
    """For each negation how many "to" and which quantifiers stand before it.

    "Is it legal to not vote" negates the vote, "is it not legal to vote" the law; "not all" is not
    "all not". "Not to vote" is "to not vote".
    """
    if facts.language != "en":
        return []
    scopes, infinitives, quantifiers = list[tuple[int, tuple[str, ...]]](), 0, list[str]()
    following = (*facts.tokens[1:], None)
    for token, after in zip(facts.tokens, following, strict=True):
        infinitives += _is_infinitive(token) and (after is None or after.kind != "article")
        if token.kind == "quantifier":
            quantifiers.append(token.key)
        if token.kind == "negation":
            comes = after is not None and after.kind == "preposition" and _is_infinitive(after)
            scopes.append((infinitives + comes, tuple(quantifiers)))
    return scopes


def _is_infinitive(token: Token) -> bool:
    """ "To", alone or at the end of "possible to"."""
    return token.kind in ("preposition", "modal") and token.text.lower().split()[-1] == "to"


def _negated_parts(facts: Facts) -> list[int]:
    part, parts = 0, list[int]()
    for token in facts.tokens:
        part += token.kind == "coordinator"
        if token.kind == "negation":
            parts.append(part)
    return parts if part else []


def _around_negations(facts: Facts) -> list[tuple[str, str]]:
    """The words before and after each negation: "the balance did not update"."""
    tokens = facts.tokens
    return [
        (_first_word(reversed(tokens[:place])), _first_word(tokens[place + 1 :]))
        for place, token in enumerate(tokens)
        if token.kind == "negation"
    ]


def _first_word(tokens: Iterable[Token]) -> str:
    return next((token.key for token in tokens if token.kind in ("word", "name")), "")


def check_antonyms(query: Facts, candidate: Facts) -> str:
    """A word on one side and its opposite on the other."""
    table = opposites(query.language)
    if not table or query.language != candidate.language:
        return ""
    left, right = _own_words(query, candidate), _own_words(candidate, query)
    for word in left:
        against = table.get(word, frozenset())
        for other in right:
            if other in against:
                return quote([word], [other])
    if not both_read(query, candidate):
        return _opposite_parts(left, right, table)
    return ""


def _own_words(facts: Facts, other: Facts) -> list[str]:
    """Words, and the forms under which the list of opposites may know them, of one text only."""
    theirs = _word_forms(other)
    return [word for word in _word_forms(facts) if word not in theirs]


def _word_forms(facts: Facts) -> list[str]:
    if facts.language == "zh":
        return [token.text for token in facts.tokens]
    return [form for word in facts.words for form in {word, word_key(word)}]


def _opposite_parts(left: list[str], right: list[str], table: dict[str, frozenset[str]]) -> str:
    """For languages that inflect or do not part words: opposites as parts of differing words."""
    for word, against in table.items():
        mine = next((own for own in left if len(word) > 1 and word in own), "")
        if not mine:
            continue
        for opposite in against:
            theirs = next((own for own in right if len(opposite) > 1 and opposite in own), "")
            if theirs:
                return quote([mine], [theirs])
    return ""


_FREE_QUANTIFIERS = frozenset(("some", "several", "almost"))


def check_quantifiers(query: Facts, candidate: Facts) -> str:
    """All, some, only, at least: not the same on both sides."""
    one = [key for key in query.keys("quantifier") if key not in _FREE_QUANTIFIERS]
    two = [key for key in candidate.keys("quantifier") if key not in _FREE_QUANTIFIERS]
    return quote(one, two) if one != two else ""


def check_modality(query: Facts, candidate: Facts) -> str:
    """Can, must, should: not the same on both sides."""
    one, two = set(query.keys("modal")), set(candidate.keys("modal"))
    if one == two:
        return ""
    tenses = {*query.keys("tense"), *candidate.keys("tense")} & {"perfect", "past", "future"}
    both_open = query.asks == candidate.asks == "open"
    if both_open and not tenses and one | two == {"can"}:
        return ""
    return quote(sorted(one) or ["no modal"], sorted(two) or ["no modal"])


def check_tense(query: Facts, candidate: Facts) -> str:
    """Was against is, has been against can be, active against passive."""
    one, two = set(query.keys("tense")), set(candidate.keys("tense"))
    if query.language == "zh":
        return _check_chinese_tense(one, two)
    if _past_or_none(query, one, candidate, two) or _past_or_none(candidate, two, query, one):
        return quote(sorted(one) or ["present"], sorted(two) or ["present"])
    past = {"past", "perfect"}
    clash = one and two and not one & two and not (one <= past and two <= past)
    if clash and not _same_span(query, candidate) and not _same_report(query, candidate):
        return quote(sorted(one), sorted(two))
    if set(query.passive) != set(candidate.passive) and _same_order(query, candidate):
        return f"active / passive: {quote(query.passive, candidate.passive)}"
    return ""


def _check_chinese_tense(one: set[str], two: set[str]) -> str:
    loose = {"will", "done"}
    clash = one & loose and two & loose and not one & two & loose
    return quote(sorted(one), sorted(two)) if clash or one - loose != two - loose else ""


def _same_span(query: Facts, candidate: Facts) -> bool:
    """ "How long will it take" is "how long does it take"."""
    tenses = {*query.keys("tense"), *candidate.keys("tense")}
    return tenses == {"present", "future"} and all(
        "how long" in facts.keys("question") for facts in (query, candidate)
    )


def _same_report(query: Facts, candidate: Facts) -> bool:
    """ "Why am I being charged" is "why was I charged"."""
    present = query if "present" in query.keys("tense") else candidate
    is_asked = all(facts.keys("question") == ("why",) for facts in (query, candidate))
    is_passive = bool(query.passive) and set(query.passive) == set(candidate.passive)
    tenses = {*query.keys("tense"), *candidate.keys("tense")}
    return is_asked and is_passive and "being" in present.words and "future" not in tenses


def _past_or_none(own: Facts, tenses: set[str], other: Facts, others: set[str]) -> bool:
    """ "How did you become" against "how can I become"."""
    how = any(token.key == "how" for token in other.content)
    return tenses == {"past"} and not others and how and "did" in own.words


def _same_order(query: Facts, candidate: Facts) -> bool:
    found = difference(query, candidate)
    same = [item.key for item in found.query] == [item.key for item in found.candidate]
    return same and not found.left and not found.right


def check_question(query: Facts, candidate: Facts) -> str:
    """Yes-or-no against open, why against how."""
    kinds = {query.asks, candidate.asks}
    if kinds == {"yes or no", "open"}:
        return quote([query.asks], [candidate.asks])
    return differing(query, candidate, "question")
