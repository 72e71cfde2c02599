"""What a warm-up has to store: one item a question, most frequent first, nothing contradictory.

It reads rows and identities, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semcache.decision import Bypass
from semcache.errors import FileFormatError, ValueFormError
from semcache.warm.rows import Row

if TYPE_CHECKING:
    from semcache.cache import SemanticCache

__all__ = ["Item", "Plan", "plan"]

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Item:
    """One question under one identity, and its answer, None if it is to be asked for."""

    prompt: str
    key: bytes
    answer: Any
    count: int
    line: int
    model: str | None
    namespace: str
    tags: tuple[str, ...]

    @property
    def identity(self) -> dict[str, Any]:
        """The keywords that `lookup` and `put` take."""
        return {"model": self.model, "namespace": self.namespace}

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"line {self.line}, question {self.prompt[:_SHOWN_CHARACTERS]!r}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Items in the order in which they are stored, and what is wrong with rows left out."""

    items: tuple[Item, ...]
    skipped: tuple[str, ...]


def plan(
    cache: SemanticCache,
    rows: Iterable[Row],
    *,
    model: str | None,
    namespace: str | None,
    asking: bool,
    skip_bad: bool,
) -> Plan:
    """Turn rows into items. A question twice with one answer is one item with both counts.

    Raises FileFormatError for contradictory rows, and for rows without an answer unless `asking`.
    """
    items: dict[bytes, Item] = {}
    skipped = []
    for row in rows:
        for prompt in row.prompts:
            item = _item(cache, row, prompt, model, namespace)
            other = items.get(item.key)
            problem = _problem(item, other, asking=asking)
            if problem and not skip_bad:
                raise FileFormatError(problem)
            if problem:
                skipped.append(problem)
            else:
                items[item.key] = item if other is None else _merged(other, item)
    return Plan(tuple(sorted(items.values(), key=lambda item: -item.count)), tuple(skipped))


def _item(
    cache: SemanticCache, row: Row, prompt: str, model: str | None, namespace: str | None
) -> Item:
    model = row.model or model
    space = row.namespace or namespace or cache.config.namespace
    handle = cache.open(prompt, model=model, namespace=space, depends_on=row.tags)
    if isinstance(handle, Bypass):
        raise ValueFormError(handle.detail)
    key = handle.request.key
    return Item(prompt, key, row.answer, row.count, row.line, model, space, row.tags)


def _problem(item: Item, other: Item | None, *, asking: bool) -> str:
    if item.answer is None and not asking:
        return f"{item.place}: the answer is empty: give one, or ask for it with --call"
    if other is not None and other.answer != item.answer:
        return f"{item.place}: line {other.line} has another answer to it: keep one of the two"
    return ""


def _merged(one: Item, two: Item) -> Item:
    tags = tuple(dict.fromkeys((*one.tags, *two.tags)))
    return replace(one, count=one.count + two.count, tags=tags)
