"""Number words and formats as plain digits, and the numbers of a text with their units.

Decides which words are numbers. It must never turn a pronoun ("which one"), a unit of time
("a second") or an adverb (一下, 万一) into a number: two different prompts would become one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from semcache.text.numbers_chinese import level_chinese
from semcache.text.numbers_english import level_english
from semcache.text.units import CURRENCY_SIGNS, UNIT_NAMES, UNIT_PATTERN, UNITS

__all__ = ["Number", "level_numbers", "read_numbers"]


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text.

    `value` is as written (20 for "20 %"), `unit` the canonical name of its unit or "", `span` the
    place in the levelled text (see `level_numbers`), `text` the digits as they stand there.
    """

    value: Fraction
    unit: str
    span: tuple[int, int]
    text: str

    @property
    def quantity(self) -> tuple[Fraction, str]:
        """Value in the base unit of its dimension: equal for 5 km and 5000 m.

        >>> read_numbers("5 km")[0].quantity == read_numbers("5000 m")[0].quantity
        True
        """
        if not self.unit:
            return self.value, ""
        unit = UNITS[self.unit]
        return self.value * unit.scale + unit.offset, unit.dimension


@lru_cache(maxsize=4096)
def level_numbers(text: str) -> str:
    """Return the text with number words and formats rewritten to plain digits.

    English and Chinese words, full-width digits, thousands separators and simple fractions.
    Levelling twice changes nothing more.

    >>> level_numbers("twenty-five of the first 1,000 members")
    '25 of the 1st 1000 members'
    >>> level_numbers("三百六十元，一九四九年")
    '360元，1949年'
    >>> level_numbers("Which one is it? Wait a second. 万一下雨")
    'Which one is it? Wait a second. 万一下雨'
    """
    for _ in range(_MOST_PASSES):
        before, text = text, level_chinese(level_english(_level_digits(text)))
        if text == before:
            break
    return text


# Digits made from words may complete a number beside them: "1,一百" is 1,100.
_MOST_PASSES = 5
_WIDE = {ord(wide): plain for wide, plain in zip("０１２３４５６７８９", "0123456789", strict=True)}
_WIDE_POINT = re.compile(r"(?<=\d)[．](?=\d)")
_WIDE_COMMA = re.compile(r"(?<=\d)，(?=\d{3}(?!\d))")
_GROUPS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,]\d|\d)")
_THIN_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:[\u00a0\u202f\u2009']\d{3})+(?!\d)")
_SPACED_ZEROS = re.compile(r"(?<![\d.,])(?<![\d.,][ ])\d{1,3}(?:[ ]000)+(?![ ]?\d)")
_DIGIT = re.compile(r"\d")
_NOT_DIGIT = re.compile(r"[^\d]")


def _level_digits(text: str) -> str:
    text = text.translate(_WIDE)
    if not _DIGIT.search(text):
        return text
    text = _WIDE_COMMA.sub(",", _WIDE_POINT.sub(".", text))
    for pattern in (_GROUPS, _THIN_GROUPS, _SPACED_ZEROS):
        text = pattern.sub(lambda match: _NOT_DIGIT.sub("", match.group()), text)
    return text


_DIGITS = re.compile(
    r"(?P<sign>(?<![\w.)\]])[-−](?=\d|\$))?(?P<money>[$€£¥￥₹])?[ ]?"
    r"(?<![A-Za-z_\d.])(?P<number>\d+(?:\.\d+)?(?:/\d+(?![\d/]))?)"
    r"(?P<kilo>[kK](?![A-Za-z\d]))?(?P<ordinal>st|nd|rd|th)?"
    rf"(?P<unit>[ ]?(?:{UNIT_PATTERN}))?"
)
_LONGEST_NUMBER = 300  # digits; what is longer is compared letter by letter
_WORD_NEXT = re.compile(r"[A-Za-z_]")


def read_numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text with their units, in order. The text is levelled first.

    Parts of words, versions ("1.2.3") and identifiers ("utf8") are not numbers.

    >>> [(str(n.value), n.unit) for n in read_numbers("five km in 20 %, $3 each")]
    [('5', 'kilometre'), ('20', 'percent'), ('3', 'dollar')]
    """
    text = level_numbers(text)
    found: list[Number] = []
    if not _DIGIT.search(text):
        return ()
    for match in _DIGITS.finditer(text):
        end = match.end()
        unit = (match["unit"] or "").strip()
        if unit and unit.isascii() and _WORD_NEXT.match(text, end) and unit[-1].isalpha():
            end, unit = match.start("unit"), ""
        if not unit and _WORD_NEXT.match(text, end):
            continue
        if len(match["number"]) > _LONGEST_NUMBER:
            continue
        if _in_version(text, match.start("number"), match.end("number")):
            continue
        found.append(_number(match, unit, end))
    return tuple(found)


def _in_version(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 2) : start]
    after = text[end : end + 2]
    return (len(before) == 2 and before[1] in ".:" and before[0].isdigit()) or (
        len(after) == 2 and after[0] in ".:" and after[1].isdigit()
    )


def _number(match: re.Match[str], unit: str, end: int) -> Number:
    top, _, bottom = match["number"].partition("/")
    value = Fraction(top) / (int(bottom) or 1) if bottom else Fraction(top)
    if match["kilo"]:
        value *= 1000
    if match["sign"]:
        value = -value
    name = UNIT_NAMES.get(unit) or UNIT_NAMES.get(unit.lower(), "") if unit else ""
    if match["money"] and not name:
        name = CURRENCY_SIGNS[match["money"]]
    if match["ordinal"] and not name:
        name = "ordinal"
    return Number(value, name, (match.start("number"), end), match["number"])
