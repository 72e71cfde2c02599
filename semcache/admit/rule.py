"""What a rule is, and how the packaged rule files are read.

A `Rule` says which wording needs something that a stored answer cannot have; a `Frame` says which
wording takes that pull away (quoted text, a title, a how-to). Both are plain values. Nothing here
looks at a prompt; reading the packaged files is the only I/O of the gate and happens once.
Longer than most modules: five value types, their reader and their stable form go together.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from types import CodeType
from typing import Any, Literal, TypeAlias

from semcache.errors import ArgumentError

__all__ = [
    "CustomRule",
    "DynamicKind",
    "Frame",
    "Lead",
    "Rewrite",
    "Rule",
    "RuleSet",
    "as_rule",
    "packaged_rules",
    "plain_form",
]

_PLACEHOLDER = re.compile(r"(?<!\?P)<([a-z_]+)>")


class DynamicKind(StrEnum):
    """What a request needs that a stored answer cannot have."""

    CLOCK = "clock"
    WEATHER = "weather"
    PRICE = "price"
    SCORE = "score"
    NEWS = "news"
    VERSION = "version"
    HOLDER = "holder"
    OWN_DATA = "own data"
    PLACE = "place"
    SERVICE = "service"
    RANDOM = "random"
    CONVERSATION = "conversation"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Rule:
    r"""A wording that makes a request dynamic: any of `patterns`, and none of `unless`.

    Patterns are regular expressions over one lower-case sentence without its end mark; those of
    the kind CONVERSATION meet the whole text. `words` makes the rule cheap: it is tried only when
    one of them is in the text (empty: always). `perishable` says that a short lifetime would do.

    >>> Rule("menu", DynamicKind.NEWS, (r"\bmenu\b.*\btoday\b",), words=("menu",)).perishable
    False
    """

    name: str
    kind: DynamicKind
    patterns: tuple[str, ...]
    unless: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    language: str = "*"
    perishable: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise ArgumentError("name", self.name, "a rule needs a name that is not empty")
        if not self.patterns:
            raise ArgumentError("patterns", self.patterns, "a rule needs at least one pattern")


@dataclass(frozen=True, slots=True)
class Frame:
    """A wording that takes the pull out of words.

    `action` "mask" hides the group named `mask` (or the whole match) from the rules;
    "exempt-sentence" and "exempt-text" lift `kinds` off the sentence or the whole text. A `cased`
    frame reads the text before it is lowered, and leaves texts alone that are all in title case.
    """

    name: str
    action: Literal["mask", "exempt-sentence", "exempt-text"]
    patterns: tuple[str, ...]
    unless: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    kinds: frozenset[DynamicKind] = frozenset()
    language: str = "*"
    cased: bool = False


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A rule given as a callable: true, or a text that says what it found, means dynamic."""

    name: str
    function: Callable[[str], bool | str | None]
    kind: DynamicKind = DynamicKind.CUSTOM
    perishable: bool = False


AnyRule: TypeAlias = Rule | CustomRule


def as_rule(rule: Rule | CustomRule | Callable[[str], bool | str | None]) -> AnyRule:
    """Take a rule as it is; name a plain callable after its module and qualified name.

    >>> as_rule(str.isupper).name
    'builtins.str.isupper'
    """
    if isinstance(rule, Rule | CustomRule):
        return rule
    if not callable(rule):
        raise ArgumentError("rule", rule, "pass a Rule, a CustomRule or a callable (text) -> bool")
    name = getattr(rule, "__qualname__", type(rule).__qualname__)
    module = getattr(rule, "__module__", None) or "builtins"
    return CustomRule(f"{module}.{name}", rule)


@dataclass(frozen=True, slots=True)
class Lead:
    """Polite openings that are taken off a sentence. `words`: what such a sentence starts with."""

    pattern: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An indirect question put straight; the sentence is then read in both forms."""

    pattern: str
    to: str
    words: tuple[str, ...]
    after_lead: bool = False


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules, frames, polite openings and rewrites of all languages."""

    rules: tuple[Rule, ...]
    frames: tuple[Frame, ...]
    leads: tuple[Lead, ...]
    rewrites: tuple[Rewrite, ...]


@lru_cache(maxsize=1)
def packaged_rules() -> RuleSet:
    """Read the rule files that ship with the package, once per process."""
    folder = files("semcache.admit") / "rules"
    texts = {
        item.name: item.read_text(encoding="utf-8")
        for item in folder.iterdir()
        if item.name.endswith(".toml")
    }
    rules: list[Rule] = []
    frames: list[Frame] = []
    leads: list[Lead] = []
    rewrites: list[Rewrite] = []
    for name in sorted(texts):
        book = tomllib.loads(texts[name])
        expand = _expander(book.get("words", {}))
        language = book["language"]
        if "lead" in book:
            leads.append(Lead(expand(book["lead"]), tuple(book["lead_words"])))
        rewrites += [_rewrite(row) for row in book.get("rewrite", ())]
        rules += [_rule(row, language, expand) for row in book.get("rule", ())]
        frames += [_frame(row, language, expand) for row in book.get("frame", ())]
    return RuleSet(tuple(rules), tuple(frames), tuple(leads), tuple(rewrites))


def _expander(words: Mapping[str, str | Sequence[str]]) -> Callable[[str], str]:
    """Return a function that puts the entries of [words] in place of their <names>."""
    groups = {
        name: entry if isinstance(entry, str) else f"(?:{'|'.join(entry)})"
        for name, entry in words.items()
    }

    def expand(pattern: str) -> str:
        while (found := _PLACEHOLDER.search(pattern)) is not None:
            start, end = found.span()
            pattern = f"{pattern[:start]}{groups[found[1]]}{pattern[end:]}"
        return pattern

    return expand


def _texts(row: Mapping[str, Any], key: str, expand: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(expand(text) for text in row.get(key, ()))


def _rewrite(row: Mapping[str, Any]) -> Rewrite:
    after_lead = bool(row.get("after_lead", False))
    return Rewrite(row["pattern"], row["to"], tuple(row["words"]), after_lead)


def _rule(row: Mapping[str, Any], language: str, expand: Callable[[str], str]) -> Rule:
    return Rule(
        name=f"{language}: {row['name']}",
        kind=DynamicKind(row["kind"]),
        patterns=_texts(row, "patterns", expand),
        unless=_texts(row, "unless", expand),
        words=tuple(row.get("words", ())),
        language=language,
        perishable=bool(row.get("perishable", False)),
    )


def _frame(row: Mapping[str, Any], language: str, expand: Callable[[str], str]) -> Frame:
    return Frame(
        name=f"{language}: {row['name']}",
        action=row["action"],
        patterns=_texts(row, "patterns", expand),
        unless=_texts(row, "unless", expand),
        words=tuple(row.get("words", ())),
        kinds=frozenset(_kinds(row.get("kinds", ()))),
        language=language,
        cased=bool(row.get("cased", False)),
    )


def _kinds(names: Iterable[str]) -> Iterable[DynamicKind]:
    return (DynamicKind(name) for name in names)


def plain_form(part: Rule | CustomRule | Frame | Lead | Rewrite) -> str:
    """A text that is the same in every process for the same rule."""
    if isinstance(part, CustomRule):
        code = getattr(part.function, "__code__", None)
        return repr((part.name, part.kind.value, part.perishable, _code_form(code)))
    if isinstance(part, Frame):
        kinds = sorted(kind.value for kind in part.kinds)
        rest = (part.name, part.action, part.patterns, part.unless, part.words, part.cased)
        return repr((kinds, rest))
    return repr(part)


def _code_form(code: object) -> object:
    if not isinstance(code, CodeType):
        is_plain = code is None or isinstance(code, str | int | float | bytes)
        return repr(code) if is_plain else type(code).__name__
    constants = tuple(_code_form(constant) for constant in code.co_consts)
    return (code.co_code.hex(), code.co_names, constants)
