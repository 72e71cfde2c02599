"""Say whether two orders of the same content words give the words the same roles.

Fronted phrases, swapped sides of "and", "+" or "between", and the passive keep the roles; any other
change of order is taken for a change of roles.
Long because each kind of order that keeps the roles is a function of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from semcache.judge.guards_align import Difference, Placed
from semcache.text.facts import Facts
from semcache.text.facts_rules import english
from semcache.text.facts_tokens import Token
from semcache.text.facts_words import word_key

__all__ = ["marker_conflict", "roles_kept"]

_SEQUENCE_WORDS = frozenset("first then respectively 1 ordinal 2 ordinal".split())
_OPEN_MARKERS = frozenset(
    "in with before after during if when because while until since by from on for of as about "
    "except without than to".split()
)
# Prepositions that change the sense even where the other side has none.
_STRONG = frozenset(
    "from before after except until since over under above below than against without instead "
    "outside take by give toward".split()
)
_ALIKE = tuple(map(frozenset, (("in", "of", "to"), ("of", "with"), ("with", "by"), ("like", "as"))))
_SIDES = frozenset(("with", "to", "by", "from", "than", "of", "and", "between", "vs"))
_TOGETHER = frozenset(("with", "and", "between"))
_LONGEST_BLOCK = 7
_LONGEST_TEXT = 80  # content words; in longer texts any change of order is taken for a change


def roles_kept(query: Facts, candidate: Facts, found: Difference) -> bool:
    """Whether the words that both texts have stand in an order that keeps their roles."""
    floating = english().floating
    questions = _asked(query, candidate)
    one = [item for item in found.query if item.key not in floating and item.key not in questions]
    two = [
        item for item in found.candidate if item.key not in floating and item.key not in questions
    ]
    keys, others = [item.key for item in one], [item.key for item in two]
    if not _floats_alike(query, candidate):
        return False
    if keys == others:
        return True
    if len(keys) > _LONGEST_TEXT:
        return False
    if _is_rotation(one, two) or _is_rotation(two, one):
        return True
    return (
        _same_chunks(one, two)
        or _swapped_sides(query, one, others)
        or _swapped_sides(candidate, two, keys)
        or _same_but_passive(query, candidate, one, two)
        or _compound(one, two)
        or (query.language == "zh" and _chinese_order(query, candidate, one, two))
        or (query.language == "zh" and _topic_fronted(found.query, found.candidate, questions))
        or (query.language == "zh" and _topic_fronted(found.candidate, found.query, questions))
    )


def _floats_alike(query: Facts, candidate: Facts) -> bool:
    """Words that may stand anywhere stay in their sentence, and in order where there are two."""
    one, two = _floats(query), _floats(candidate)
    both = {key for key, _ in one} & {key for key, _ in two}
    one, two = [f for f in one if f[0] in both], [f for f in two if f[0] in both]
    return one == two or (len(both) < 2 and _sentences(query) != _sentences(candidate))


def _floats(facts: Facts) -> list[tuple[str, int]]:
    """Each word that may stand anywhere, with the number of its sentence."""
    floating, found, sentence = english().floating, list[tuple[str, int]](), 0
    for token in facts.tokens:
        sentence += _ends(token)
        if token.kind == "word" and token.key in floating:
            found.append((token.key, sentence))
    return found


def _sentences(facts: Facts) -> int:
    return sum(map(_ends, facts.tokens))


def _ends(token: Token) -> bool:
    return token.kind == "stop" and token.key[:1] in (".", "?", "!")


def _asked(query: Facts, candidate: Facts) -> set[str]:
    """Keys of question words: they may stand anywhere."""
    both = (*query.content, *candidate.content)
    return {token.key for token in both if token.kind == "question"}


def _labels(items: Sequence[Placed]) -> list[str]:
    """Keys, with the preposition where one opens a phrase."""
    return [f"{item.marker} {item.key}" if item.is_head else item.key for item in items]


def _is_rotation(items: Sequence[Placed], moved: Sequence[Placed]) -> bool:
    """A phrase that opens with a preposition moved from the end to the front."""
    keys, others = _labels(items), _labels(moved)
    return any(
        items[cut].is_head
        and items[cut].marker in _OPEN_MARKERS
        and keys[cut:] + keys[:cut] == others
        for cut in range(1, len(items))
    )


def _chunks(items: Sequence[Placed]) -> tuple[list[str], dict[str, list[tuple[str, ...]]]]:
    core: list[str] = []
    governed: dict[str, list[list[str]]] = defaultdict(list)
    before = ""
    for item in items:
        if not item.marker:
            core.append(item.key)
        elif item.is_head or item.marker != before:
            governed[item.marker].append([item.key])
        else:
            governed[item.marker][-1].append(item.key)
        before = item.marker
    return core, {marker: [tuple(keys) for keys in runs] for marker, runs in governed.items()}


def _same_chunks(one: Sequence[Placed], two: Sequence[Placed]) -> bool:
    """The same core and, under each preposition, the same phrases in the same order."""
    return _chunks(one) == _chunks(two)


@cache
def _symmetric() -> dict[str, frozenset[str]]:
    """Words that let the sides of a preposition change places, with those prepositions."""
    any_side = {word_key(word) for word in english().symmetric} | {"how far", "距离"}
    with_only = {word_key(word) for word in english().symmetric_with}
    return dict.fromkeys(with_only, _TOGETHER) | dict.fromkeys(any_side, _SIDES)


def _free_sides(facts: Facts, keys: list[str]) -> frozenset[str]:
    found = (_symmetric().get(key, frozenset()) for key in (*keys, *_asked(facts, facts)))
    between = _SIDES if "between" in facts.words else frozenset[str]()
    return between.union(*found)


def _swapped_sides(facts: Facts, items: Sequence[Placed], others: list[str]) -> bool:
    keys = [item.key for item in items]
    if any(key in _SEQUENCE_WORDS for key in keys) or "then" in facts.words:
        return False
    places = [item.place for item in items]
    joints = {sum(place < joint for place in places) for joint in facts.joints if joint > 0}
    if sides := _free_sides(facts, keys):
        first = next((i for i, key in enumerate(keys) if key in _symmetric()), 0)
        heads = (i for i, item in enumerate(items) if item.is_head and item.marker in sides)
        joints |= {i for i in heads if i > first}
    for joint in joints:
        for before in range(1, min(joint, _LONGEST_BLOCK) + 1):
            for after in range(1, min(len(keys) - joint, _LONGEST_BLOCK) + 1):
                start, end = joint - before, joint + after
                if keys[:start] + keys[joint:end] + keys[start:joint] + keys[end:] == others:
                    return True
    return (
        len(facts.joints) > 1
        and max(facts.joints) > 0
        and sorted(keys) == sorted(others)
        and _is_list(facts, items, others)
    )


def _is_list(facts: Facts, items: Sequence[Placed], others: list[str]) -> bool:
    """A list of three or more single words in another order."""
    keys = [item.key for item in items]
    moved = [i for i, (a, b) in enumerate(zip(keys, others, strict=True)) if a != b]
    places = {items[i].place for i in range(moved[0], moved[-1] + 1)}
    inside = {abs(joint) for joint in facts.joints if min(places) < abs(joint) <= max(places)}
    return len(inside) >= len(places) - 1


def _same_but_passive(
    query: Facts, candidate: Facts, one: Sequence[Placed], two: Sequence[Placed]
) -> bool:
    """ "How is bread made" is "how do you make bread"; "made by Ann" is "Ann made"."""
    verbs = set(query.passive) ^ set(candidate.passive)
    if not verbs or (query.passive and candidate.passive):
        return False
    passive, active = (one, two) if verbs & set(query.passive) else (two, one)
    keys = [item.key for item in active]
    by_words = query.words if passive is one else candidate.words
    if "by" not in by_words:
        rest = [item.key for item in passive if item.key not in verbs]
        return rest == [key for key in keys if key not in verbs]
    agent = [item.key for item in passive if item.marker == "by"]
    verb = [item.key for item in passive if item.key in verbs and item.marker != "by"]
    rest = [item.key for item in passive if item.key not in verbs and item.marker != "by"]
    return agent + verb + rest == keys


def _compound(one: Sequence[Placed], two: Sequence[Placed]) -> bool:
    """ "battery life of the phone" is "phone battery life", "a job at sea" is "a sea job"."""
    return any(
        _is_compound_of(items, others, marker)
        for items, others in ((one, two), (two, one))
        for marker in ("of", "in")
    )


def _opens(items: Sequence[Placed], place: int, marker: str) -> bool:
    """Whether a phrase governed by the marker begins at the place (a possessive has no head)."""
    if items[place].marker != marker:
        return False
    return items[place].is_head or place == 0 or items[place - 1].marker != marker


def _heads_of(items: Sequence[Placed], marker: str) -> int:
    return sum(_opens(items, place, marker) for place in range(len(items)))


def _is_compound_of(items: Sequence[Placed], others: Sequence[Placed], marker: str) -> bool:
    keys = [item.key for item in others]
    if _heads_of(others, marker) >= _heads_of(items, marker):
        return False
    for start in range(len(items)):
        if not _opens(items, start, marker):
            continue
        end = start + 1
        while end < len(items) and items[end].marker == marker and not items[end].is_head:
            end += 1
        for stop in range(end, start, -1):
            block = [i.key for i in items[start:stop]]
            rest = [i.key for i in (*items[:start], *items[stop:])]
            places = range(len(keys) if stop == end else start)
            place = next((i for i in places if keys[i : i + len(block)] == block), -1)
            if place >= 0 and keys[:place] + keys[place + len(block) :] == rest:
                return not others[place].marker or others[place].marker == marker
    return False


_TOPICAL = frozenset(("how", "what", "where", "when", "how much", "how many", "how long"))
_CLEFT = re.compile(r"是(?:谁|哪位|什么人|什么时候|哪年|哪里|在哪).*的\W*$")


def _chinese_order(
    query: Facts, candidate: Facts, one: Sequence[Placed], two: Sequence[Placed]
) -> bool:
    if _block_moved(one, _labels(two)) or _block_moved(two, _labels(one)):
        return True
    return _is_cleft(query, one, two) or _is_cleft(candidate, two, one)


def _topic_fronted(items: Sequence[Placed], others: Sequence[Placed], asked: set[str]) -> bool:
    """新浪微博怎么注销 is 怎么注销新浪微博: the topic stands right before the question word."""
    keys, other_keys = _labels(items), _labels(others)
    place = next((i for i, item in enumerate(items) if item.key in asked), 0)
    if not place or items[place].key not in _TOPICAL:
        return False
    for start in range(place):
        topic, rest = keys[start:place], keys[:start] + keys[place:]
        for after in range(start + 1, len(rest) + 1):
            if rest[:after] + topic + rest[after:] == other_keys:
                return True
    return False


def _is_cleft(facts: Facts, items: Sequence[Placed], others: Sequence[Placed]) -> bool:
    """电话是谁发明的 is 谁发明了电话: what stands before the question word goes to the end."""
    if not _CLEFT.search(facts.text):
        return False
    asked = next((i for i, token in enumerate(facts.content) if token.kind == "question"), 0)
    before = [item.key for item in items if item.place < asked]
    after = [item.key for item in items if item.place > asked]
    return after + before == [item.key for item in others]


def _block_moved(items: Sequence[Placed], others: list[str]) -> bool:
    """Chinese: a phrase with 用, 在 or 把 stands before or after what it belongs to."""
    keys = _labels(items)
    for start, item in enumerate(items):
        if item.marker not in ("with", "in", "take", "about") or not item.is_head:
            continue
        for end in range(start + 1, len(items) + 1):
            rest = keys[:start] + keys[end:]
            block = keys[start:end]
            if any(rest[:i] + block + rest[i:] == others for i in range(len(rest) + 1)):
                return True
    return False


def marker_conflict(query: Facts, candidate: Facts, found: Difference) -> tuple[str, str] | None:
    """The first word that the two texts govern by prepositions of different sense."""
    asked = _asked(query, candidate)
    ours = [item for item in found.query if item.key not in asked]
    theirs = [item for item in found.candidate if item.key not in asked]
    for one, two in zip(ours, theirs, strict=False):
        if one.key != two.key or one.marker == two.marker:
            continue
        if one.is_head and two.is_head:
            if not any({one.marker, two.marker} <= group for group in _ALIKE):
                return f"{one.marker} {one.key}", f"{two.marker} {two.key}"
        elif (one.is_head and one.marker in _STRONG) or (two.is_head and two.marker in _STRONG):
            return f"{one.marker} {one.key}".strip(), f"{two.marker} {two.key}".strip()
    return None
