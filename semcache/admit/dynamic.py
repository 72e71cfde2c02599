"""Decides whether a request needs what a stored answer cannot have.

Three steps: hide what is only quoted, named or to be worked on; match what is left, sentence by
sentence; lift the kinds that the sentence's frame (a how-to, a point in the past, a value that is
given) takes back. No clock, no log, no model. A long text is judged by its two ends, because a
request stands at one of them and what lies between is material: this bounds the cost as well.
Longer than most modules: the lookup by words, the masks and the verdict share one view of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Generic, TypeVar

from semcache.admit.pattern import Searches, compiled, finder
from semcache.admit.rule import (
    CustomRule,
    DynamicKind,
    Frame,
    Rule,
    RuleSet,
    as_rule,
    packaged_rules,
    plain_form,
)
from semcache.admit.view import OBJECT, bare, sentences, unquoted, words_of
from semcache.errors import ArgumentError

__all__ = ["CustomRule", "DynamicKind", "DynamicRules", "Finding", "Rule", "as_rule"]

_NOT_TITLE = re.compile(r"(?<![\w'])(?!(?:of|the|and|a|an|in|to|for|at|on|is|by|with)\b)[a-z]{2,}")
_KANA = re.compile(r"[\u3040-\u30ff]")

T = TypeVar("T", Rule, Frame)


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a request is dynamic. `perishable` says that a short lifetime would do."""

    kind: DynamicKind
    rule: str
    quote: str
    perishable: bool

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.quote!r} ({self.rule})"


class _Probe(Generic[T]):
    """A rule or frame with its searches."""

    __slots__ = ("item", "search", "unless")

    def __init__(self, item: T) -> None:
        self.item: T = item
        self.search = Searches(item.patterns)
        self.unless = Searches(item.unless)

    def match(self, text: str) -> re.Match[str] | None:
        found = self.search(text)
        return None if found is None or self.unless(text) else found


class _Lookup(Generic[T]):
    """Finds the rules that a text could concern, by its words; without spaces, by first letter."""

    def __init__(self, items: Sequence[T]) -> None:
        self._items: list[_Probe[T]] = [_Probe(item) for item in items]
        self._always = [number for number, item in enumerate(items) if not item.words]
        self._by_word: dict[str, list[int]] = {}
        self._by_letter: dict[str, list[tuple[str, int]]] = {}
        for number, item in enumerate(items):
            for word in item.words:
                if _is_spaceless(word):
                    self._by_letter.setdefault(word[0], []).append((word, number))
                else:
                    self._by_word.setdefault(word, []).append(number)

    def candidates(self, text: str, words: set[str]) -> list[_Probe[T]]:
        """Return the items that `text` could concern, in their order."""
        numbers = set(self._always)
        by_word = self._by_word
        for word in words:
            if word in by_word:
                numbers.update(by_word[word])
        if text.isascii():
            return [self._items[number] for number in sorted(numbers)]
        for letter in set(text) & self._by_letter.keys():
            numbers.update(n for word, n in self._by_letter[letter] if word in text)
        # Chinese and Japanese share letters; kana tell them apart.
        foreign = "zh" if _KANA.search(text) else "ja"
        found = (self._items[number] for number in sorted(numbers))
        return [probe for probe in found if probe.item.language != foreign]


def _is_spaceless(word: str) -> bool:
    """Chinese, Japanese and Korean: words are not set apart, or carry endings."""
    return word[0] >= "\u1100"


class DynamicRules:
    """The dynamic-query filter: rules as data, to be extended or thinned out.

    >>> rules = DynamicRules.default()
    >>> str(rules.check("今天的天气怎么样").kind)
    'weather'
    >>> rules.check("What is photosynthesis?") is None
    True
    """

    def __init__(self, rules: Iterable[Rule | CustomRule], book: RuleSet) -> None:
        everything = tuple(rules)
        self._rules = everything
        self._book = book
        # Not a cached_property: its lock, held by another thread at a fork, would stay held.
        self._fingerprint = ""
        self._custom = [rule for rule in everything if isinstance(rule, CustomRule)]
        # What can never be shared is looked for first: it outweighs what is merely perishable.
        plain = sorted(
            (rule for rule in everything if isinstance(rule, Rule)), key=lambda r: r.perishable
        )
        self._talk = _Lookup([rule for rule in plain if rule.kind is DynamicKind.CONVERSATION])
        self._plain = _Lookup([rule for rule in plain if rule.kind is not DynamicKind.CONVERSATION])
        self._titles = _Lookup([frame for frame in book.frames if frame.cased])
        lowered = [frame for frame in book.frames if not frame.cased]
        self._masks = _Lookup([frame for frame in lowered if frame.action == "mask"])
        self._texts = _Lookup([frame for frame in lowered if frame.action == "exempt-text"])
        self._sentences = _Lookup([f for f in lowered if f.action == "exempt-sentence"])

    @classmethod
    def default(cls) -> DynamicRules:
        """Return the rules that ship with the package (read on the first call)."""
        return _default()

    def extended(
        self, rules: Iterable[Rule | CustomRule | Callable[[str], bool | str | None]]
    ) -> DynamicRules:
        """Return these rules and more: `Rule` values or callables `(text) -> bool | str | None`.

        >>> lunch = DynamicRules.default().extended([lambda text: "canteen" in text])
        >>> str(lunch.check("canteen soup").kind)
        'custom'
        """
        more = [as_rule(rule) for rule in rules]
        for rule in more:
            _validate(rule)
        return DynamicRules((*self._rules, *more), self._book)

    def without(self, *names: str) -> DynamicRules:
        """Return these rules less those named; a kind's value takes all of that kind.

        Raises ArgumentError for a name that no rule or kind has.

        >>> dry = DynamicRules.default().without("weather")
        >>> dry.check("How is the weather in Oslo?") is None
        True
        """
        known = {rule.name for rule in self._rules} | {rule.kind.value for rule in self._rules}
        for name in names:
            if name not in known:
                remedy = "no rule or kind has this name; see DynamicRules.names"
                raise ArgumentError("names", name, remedy)
        kept = [r for r in self._rules if r.name not in names and r.kind.value not in names]
        return DynamicRules(kept, self._book)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all rules, in the order in which they were given."""
        return tuple(rule.name for rule in self._rules)

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any rule changes. Closed-over values do not count."""
        if not self._fingerprint:
            digest = sha256()
            book = self._book
            for part in (*self._rules, *book.frames, *book.leads, *book.rewrites):
                digest.update(plain_form(part).encode())
                digest.update(b"\0")
            self._fingerprint = digest.hexdigest()[:16]
        return self._fingerprint

    def check(self, text: str, has_history: bool = False) -> Finding | None:
        """Return why `text` must not be answered from the cache, or None.

        With `has_history` the earlier turns are part of the scope, so that "continue" is well
        defined and the kind CONVERSATION does not apply.
        """
        for custom in self._custom:
            if found := custom.function(text):
                quote = found if isinstance(found, str) else text[:80]
                return Finding(custom.kind, custom.name, quote, custom.perishable)
        view = unquoted(text)
        lowered = view.lower()
        if not self._may_match(lowered, has_history):
            return None
        view = self._masked(view, lowered)
        words = words_of(view)
        if not has_history and (finding := self._talk_finding(view, words)) is not None:
            return finding
        return self._plain_finding(view, words)

    def _may_match(self, lowered: str, has_history: bool) -> bool:
        """Say whether any rule could match: most prompts end here, before anything is masked."""
        words = words_of(lowered)
        if not has_history:
            whole = bare(lowered)
            if any(probe.search(whole) for probe in self._talk.candidates(lowered, words)):
                return True
        probes = self._plain.candidates(lowered, words)
        if not probes:
            return False
        return any(probe.search(part) for part in self._split(lowered) for probe in probes)

    def _masked(self, view: str, lowered: str) -> str:
        """Lower the text and put U+FFFC in place of titles, words meant as such and material."""
        words = words_of(lowered)
        titles = self._titles.candidates(lowered, words)
        if titles and _NOT_TITLE.search(view):
            lowered = _mask(titles, view).lower()
        return _mask(self._masks.candidates(lowered, words), lowered)

    def _talk_finding(self, view: str, words: set[str]) -> Finding | None:
        whole = bare(view)
        for probe in self._talk.candidates(view, words):
            if (found := probe.match(whole)) is not None:
                return _finding(probe.item, found)
        return None

    def _plain_finding(self, view: str, words: set[str]) -> Finding | None:
        probes = self._plain.candidates(view, words)
        if not probes:
            return None
        weaker: Finding | None = None
        for sentence in self._split(view):
            lifted: frozenset[DynamicKind] | None = None
            for probe in probes:
                if (found := probe.match(sentence)) is None:
                    continue
                # Frames are asked late: most prompts match no rule at all.
                if lifted is None:
                    lifted = self._lifted(view, sentence, words)
                if probe.item.kind in lifted:
                    continue
                if not probe.item.perishable:
                    return _finding(probe.item, found)
                weaker = weaker or _finding(probe.item, found)
        return weaker

    def _split(self, view: str) -> Iterator[str]:
        for sentence in sentences(view):
            rest = self._without_lead(sentence)
            if not rest:
                continue
            yield rest
            for rewrite in self._book.rewrites:
                if rewrite.after_lead and rest is sentence:
                    continue
                if rest.startswith(rewrite.words) and compiled(rewrite.pattern).match(rest):
                    yield compiled(rewrite.pattern).sub(rewrite.to, rest)

    def _without_lead(self, sentence: str) -> str:
        for lead in self._book.leads:
            if sentence.startswith(lead.words):
                opening = compiled(lead.pattern).match(sentence)
                sentence = sentence[opening.end() :] if opening else sentence
        return sentence

    def _lifted(self, view: str, sentence: str, words: set[str]) -> frozenset[DynamicKind]:
        lifted: frozenset[DynamicKind] = frozenset()
        for frames, text in ((self._texts, view), (self._sentences, sentence)):
            for probe in frames.candidates(view, words):
                if not probe.item.kinds <= lifted and probe.match(text):
                    lifted |= probe.item.kinds
        return lifted


def _finding(rule: Rule, found: re.Match[str]) -> Finding:
    return Finding(rule.kind, rule.name, found[0].strip(), rule.perishable)


@lru_cache(maxsize=1)
def _default() -> DynamicRules:
    book = packaged_rules()
    return DynamicRules(book.rules, book)


def _mask(probes: Iterable[_Probe[Frame]], text: str) -> str:
    for probe in probes:
        for pattern in probe.item.patterns:
            if finder(pattern)(text) is not None:
                text = compiled(pattern).sub(_hide, text)
    return text


def _hide(found: re.Match[str]) -> str:
    named = found.groupdict().get("mask")
    if named is None:
        return OBJECT
    start, end = (edge - found.start() for edge in found.span("mask"))
    return f"{found[0][:start]}{OBJECT}{found[0][end:]}"


def _validate(rule: Rule | CustomRule) -> None:
    if isinstance(rule, CustomRule):
        return
    for pattern in (*rule.patterns, *rule.unless):
        try:
            compiled(pattern)
        except re.error as error:
            raise ArgumentError("patterns", pattern, f"not a regular expression: {error}") from None
