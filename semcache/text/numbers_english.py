"""English number words as plain digits: "twenty-five" is 25, "half an hour" is 0.5 hour.

A word that is no number here stays: "which one", "wait a second".
Long because it brings its word lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from semcache.text.units import UNIT_PATTERN

__all__ = ["level_english", "plain_digits"]

_ONES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: value
    for value, word in zip(
        range(20, 100, 10),
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        strict=True,
    )
} | {"fourty": 40}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
} | {
    "twentieth": 20,
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "sixtieth": 60,
    "seventieth": 70,
    "eightieth": 80,
    "ninetieth": 90,
    "hundredth": 100,
    "thousandth": 1000,
    "millionth": 10**6,
}
_PLAIN = _ONES | _TENS
_FRACTIONS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    word + plural: value
    for word, value in _ORDINALS.items()
    if 3 <= value <= 20
    for plural in ("", "s")
}

_WORDS = sorted({*_PLAIN, *_SCALES, *_ORDINALS, "dozen", "half"}, key=len, reverse=True)
_RUN = re.compile(
    r"\b(?:an?[ ](?=(?:hundred|thousand|million|billion|trillion|dozen)\b)"
    r"|half[ ]an?[ ](?=(?:hundred|thousand|million|billion|trillion|dozen)\b))?"
    rf"(?:{'|'.join(_WORDS)})(?:(?:[ -]|[ ]and[ -])(?:{'|'.join(_WORDS)}))*"
    rf"(?:[ ]point(?:[ ](?:{'|'.join(_ONES)}))+)?"
    r"(?:[ ]and[ ]an?[ ](?:half|quarter)\b)?(?![\w'’])",
    re.IGNORECASE,
)
_HAS_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)}|hal(?:f|ves)|dozen)\b", re.IGNORECASE)
_SCALED = re.compile(rf"(?<![\d.,])(\d+(?:\.\d+)?)[ -]?({'|'.join(_SCALES)})\b", re.IGNORECASE)
_FRACTION_TAIL = re.compile(
    rf"\b(an?|\d+)[ -]({'|'.join(sorted(_FRACTIONS, key=len, reverse=True))})\b"
    r"(?=[ ](?:of|an?)\b|$|[?.,])",
    re.IGNORECASE,
)
_HALF_UNIT = re.compile(rf"\bhalf[ -](?:an?[ ])?(?=(?:{UNIT_PATTERN})\b)", re.IGNORECASE)

_LONGEST_RUN = 120  # characters; what is longer is no number but a strain
# "one" is a pronoun after these words, or before those.
_ONE_AFTER = frozenset(
    "which this that the each every any another no some other same better best good new old only "
    "right wrong first last next such not what wanted big small cheap cheaper".split()
)
_ONE_BEFORE = frozenset(
    "of another is was are should can could would may might must will has have does do did who "
    "that which to in on at for with from by as and or but then's be goes gets use uses and".split()
)
# "second" counts things after these words; otherwise it is a unit of time.
_SECOND_AFTER = frozenset(
    "the my your his her its our their this that every world first and or as come came finish "
    "finished ranked placed".split()
)
_SECOND_BEFORE = frozenset(
    "world language law edition largest biggest hand half time child year wife husband person "
    "quarter "
    "step line row column place class opinion chance floor derivative".split()
)
_WORD_BEFORE = re.compile(r"([A-Za-z]+)[\s,]*$")
_WORD_AFTER = re.compile(r"\s*([A-Za-z']+)?")


def level_english(text: str) -> str:
    """Rewrite the English number words of a text.

    >>> level_english("twenty-five of the first 2 million")
    '25 of the 1st 2000000'
    """
    if not _HAS_WORD.search(text):
        return text
    text = _SCALED.sub(_rewrite_scaled, text)
    text = _RUN.sub(_rewrite_run, text)
    text = _HALF_UNIT.sub("0.5 ", text)
    return _FRACTION_TAIL.sub(_rewrite_fraction, text)


def plain_digits(value: Fraction) -> str:
    """A value in plain digits, six decimals at most."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def _words_around(match: re.Match[str]) -> tuple[str, str]:
    text = match.string
    before = _WORD_BEFORE.search(text[max(0, match.start() - 20) : match.start()])
    after = _WORD_AFTER.match(text, match.end())
    return (
        before.group(1).lower() if before else "",
        (after.group(1) or "").lower() if after else "",
    )


def _rewrite_run(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) > _LONGEST_RUN:
        return run
    words = re.split(r"[ -]", run.lower())
    if len(words) == 1 and not _is_number(words[0], match):
        return run
    if words[-1] == "half" and words[-2:-1] != ["a"]:
        return run
    return _parse_run(words) or run


def _is_number(word: str, match: re.Match[str]) -> bool:
    if word not in ("one", "second", "dozen", "half", *_SCALES):
        return True
    if word in ("dozen", "half") or word in _SCALES:
        return False
    before, after = _words_around(match)
    if word == "one":
        return before not in _ONE_AFTER and after not in _ONE_BEFORE and bool(after)
    return bool(after) and (before in _SECOND_AFTER or after in _SECOND_BEFORE)


def _ordinal(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return f"{value}th"
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10, 'th') }"


def _parse_run(words: list[str]) -> str:
    """Digits for a run of number words; the empty string if it is not one well-formed number."""
    tail = Fraction(0)
    if words[-3:-1] == ["and", "a"] or words[-3:-1] == ["and", "an"]:
        tail = Fraction(1, 4) if words[-1] == "quarter" else Fraction(1, 2)
        words = words[:-3]
    digits = ""
    if "point" in words:
        cut = words.index("point")
        digits = "".join(str(_ONES[word]) for word in words[cut + 1 :])
        words = words[:cut]
    parts = _parse_numbers(words)
    if parts is None:
        return ""
    if not digits and _is_year(parts):
        return f"{parts[0][0]}{parts[1][0]}"
    *front, (last, is_ordinal) = parts
    shown = _ordinal(int(last)) if is_ordinal else plain_digits(last + tail)
    if digits:
        shown = f"{shown}.{digits}"
    return " ".join([*(plain_digits(value) for value, _ in front), shown])


def _is_year(parts: list[tuple[Fraction, bool]]) -> bool:
    """ "nineteen eighty-four" is 1984."""
    if len(parts) != 2 or parts[1][1]:
        return False
    return 13 <= parts[0][0] <= 20 and 10 <= parts[1][0] <= 99


@dataclass(slots=True)
class _Sum:
    """A number while its words are added up: `total` holds the finished thousands."""

    total: Fraction = Fraction(0)
    current: Fraction = Fraction(0)
    last: int = 0
    is_open: bool = False

    @property
    def value(self) -> Fraction:
        return self.total + self.current

    def scale(self, size: int) -> None:
        self.current = (self.current or Fraction(1)) * size
        if size >= 1000:
            self.total, self.current = self.value, Fraction(0)
        self.last, self.is_open = size, True

    def fits(self, value: int) -> bool:
        follows_tens = self.last in _TENS.values() and value < 10
        return not self.is_open or follows_tens or self.last >= 100

    def add(self, value: int) -> None:
        self.current += value
        self.last, self.is_open = value, True


def _parse_numbers(words: list[str]) -> list[tuple[Fraction, bool]] | None:
    """Read words as one number, or as several side by side ("one two three")."""
    done: list[tuple[Fraction, bool]] = []
    number = _Sum()
    for position, word in enumerate(words):
        if word in _ORDINALS:
            is_last = position == len(words) - 1
            return [*done, (_with_ordinal(number, _ORDINALS[word]), True)] if is_last else None
        if word == "and" and number.last < 100:
            return None
        if word in _FIRST_WORDS:
            number.current, number.is_open = number.current or _FIRST_WORDS[word], True
        elif word in _MULTIPLIERS:
            number.scale(_MULTIPLIERS[word])
        elif word in _PLAIN:
            if not number.fits(_PLAIN[word]):
                done.append((number.value, False))
                number = _Sum()
            number.add(_PLAIN[word])
    return [*done, (number.value, False)]


_FIRST_WORDS = {"a": Fraction(1), "an": Fraction(1), "half": Fraction(1, 2)}
_MULTIPLIERS = _SCALES | {"dozen": 12}


def _with_ordinal(number: _Sum, value: int) -> Fraction:
    return (number.value or Fraction(1)) * value if value >= 100 else number.value + value


def _rewrite_scaled(match: re.Match[str]) -> str:
    if len(match.group(1)) > _LONGEST_RUN:
        return match.group()
    return plain_digits(Fraction(match.group(1)) * _SCALES[match.group(2).lower()])


def _rewrite_fraction(match: re.Match[str]) -> str:
    count, word = match.group(1), match.group(2).lower()
    if len(count) > _LONGEST_RUN:
        return match.group()
    top = 1 if count.lower() in ("a", "an") else int(count)
    if top == 1 and word == "second":
        return match.group()
    return f"{top}/{_FRACTIONS[word]}"
