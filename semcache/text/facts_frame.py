"""The frame of an English prompt: contractions written out, courtesy and openings set aside.

Decides which words at the start and the end of a prompt ask for nothing, and whether it asks a
yes-or-no question.
"""

from __future__ import annotations

from dataclasses import dataclass

from semcache.text.facts_rules import English, Phrase, Rewrite
from semcache.text.facts_tokens import Piece

__all__ = ["Item", "items_of", "match_phrase", "without_frame"]

_IS_AFTER = frozenset(
    "what how where who when why that it there he she here let which this everything".split()
)
_SUFFIXES = {"re": "are", "m": "am", "ve": "have", "ll": "will", "d": "would"}
_ACRONYMS = frozenset(("us", "it", "who", "aids"))
_LONGEST_PHRASE = 16


@dataclass(slots=True)
class Item:
    """One word as it is matched: `norm` is its lower-case form, "" for what is no word."""

    norm: str
    piece: Piece
    possessive: bool = False
    opens: bool = False


def items_of(pieces: tuple[Piece, ...], rules: English) -> list[Item]:
    """The pieces as items: contractions are written out, silent marks left out."""
    items: list[Item] = []
    opens = True
    for position, piece in enumerate(pieces):
        if piece.kind == "word" and not piece.quoted:
            items.extend(_word_items(piece, rules, opens))
        elif piece.kind == "mark" and _is_silent(piece, pieces, position):
            continue
        else:
            items.append(Item("", piece))
        if piece.kind != "mark":
            opens = piece.kind == "stop" and piece.text[0] in ".?!\n:"
    return items


def _is_silent(mark: Piece, pieces: tuple[Piece, ...], position: int) -> bool:
    if mark.text in ("*", "#", "##", "###"):
        return position == 0
    if mark.text not in ("-", "~"):
        return False
    after = pieces[position + 1] if position + 1 < len(pieces) else None
    if after is not None and after.number is not None and after.number.value < 0:
        return True
    before = pieces[position - 1] if position else None
    if before is None or after is None:
        return not mark.spaced
    return not mark.spaced and not (_is_operand(before) and _is_operand(after))


def _is_operand(piece: Piece) -> bool:
    """A number or a single letter: "x-y" is a difference, "x-ray" is a word."""
    return piece.kind == "number" or len(piece.text) == 1


def _word_items(piece: Piece, rules: English, opens: bool) -> list[Item]:
    word = piece.text.lower()
    if word in rules.contractions:
        words = rules.contractions[word]
        return [Item(part, piece, opens=opens) for part in words]
    if word in _ACRONYMS and piece.text.isupper():
        return [Item(f"{word}^", piece, opens=opens)]
    if "'" not in word:
        return [Item(word, piece, opens=opens)]
    if word.endswith("n't"):
        return [Item(word[:-3], piece, opens=opens), Item("not", piece)]
    base, _, suffix = word.rpartition("'")
    if suffix == "s" and base not in _IS_AFTER:
        return [Item(base, piece, possessive=True, opens=opens)]
    if suffix == "s" or suffix in _SUFFIXES:
        return [Item(base, piece, opens=opens), Item(_SUFFIXES.get(suffix, "is"), piece)]
    return [Item(word, piece, opens=opens)]


def match_phrase(
    items: list[Item], position: int, phrases: Phrase
) -> tuple[int, tuple[Rewrite, ...]] | None:
    """The longest phrase at a position: how many items it covers, and what it becomes."""
    node, found = phrases, None
    for size, item in enumerate(items[position : position + _LONGEST_PHRASE], 1):
        following = node.following.get(item.norm)
        if following is None:
            break
        node = following
        if node.becomes is not None:
            found = size, node.becomes
    return found


def without_frame(items: list[Item], rules: English) -> tuple[list[Item], str]:
    """The items without courtesy at either end, and "yes or no", "open" or "" for the question."""
    start = 0
    while start < len(items):
        if items[start].piece.kind == "stop":
            start += 1
            continue
        found = match_phrase(items, start, rules.start)
        if found is None or start + found[0] >= len(items):
            break
        is_task = found[1] == (("task", ""),)
        if is_task and items[start + found[0]].norm not in rules.task_verbs:
            break
        start += found[0]
    items = items[start:]
    while items and (size := _ending(items, rules)):
        items = items[:-size]
    return items, _question_kind(items)


def _ending(items: list[Item], rules: English) -> int:
    if items[-1].piece.kind == "stop":
        return 1
    for size in range(min(6, len(items) - 1), 0, -1):
        found = match_phrase(items, len(items) - size, rules.end)
        if found is not None and found[0] == size:
            return size
    return 0


_YES_NO = frozenset(
    "is are am was were do does did has have had can could will would should must may might".split()
)
_OPEN = frozenset("what which who when where why how whose whom".split())


def _question_kind(items: list[Item]) -> str:
    if not items:
        return ""
    if items[0].norm in _YES_NO or items[0].norm in ("if", "whether"):
        return "yes or no"
    return "open" if any(item.norm in _OPEN for item in items[:3]) else ""
