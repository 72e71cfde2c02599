"""Dates and times of day to one written form, so that two spellings of a day are equal.

Reads what `facts_tokens` found to look like a date. A date of unclear order (3/4/2024) stays as it
stands.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["date_key", "is_month", "time_key"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_HALF_OF_DAY = {"下午": 12, "晚上": 12, "中午": 12, "上午": 0, "早上": 0, "凌晨": 0}


def is_month(word: str) -> bool:
    """Say whether a lower-case English word is a month name that is nothing else."""
    return len(word) > 4 and word[:3] in _MONTHS and word in _FULL_MONTHS


_FULL_MONTHS = frozenset(
    "january february april june july august september october november december".split()
)


@lru_cache(maxsize=4096)
def date_key(text: str) -> str:
    """Key of a date: year, month and day as far as they are given.

    >>> date_key("March 5th, 2024"), date_key("2024年3月5日"), date_key("5 March")
    ('2024-3-5', '2024-3-5', '-3-5')
    """
    lower = text.lower()
    numbers = [int(digits) for digits in _DIGITS.findall(text)]
    if "centur" in lower or "世纪" in text:
        return f"century {numbers[0]}"
    if lower.rstrip("s")[:3] in _DAYS and not numbers:
        return f"weekday {_DAYS.index(lower[:3]) + 1}"
    if re.fullmatch(r"\d{3}0'?s", lower):
        return f"decade {numbers[0]}"
    if "月" in text:
        return _joined(numbers if "年" in text else [None, *numbers])
    word = _WORD.search(lower)
    if word and word.group()[:3] in _MONTHS:
        return _named_month(_MONTHS.index(word.group()[:3]) + 1, numbers)
    if len(numbers) == 3 and numbers[0] > 999:
        return _joined(list(numbers))
    return lower


def _named_month(month: int, numbers: list[int]) -> str:
    years = [number for number in numbers if number > 31]
    days = [number for number in numbers if number <= 31]
    return _joined([years[0] if years else None, month, *days[:1]])


def _joined(parts: list[int] | list[int | None]) -> str:
    return "-".join("" if part is None else str(part) for part in parts)


@lru_cache(maxsize=4096)
def time_key(text: str) -> str:
    """Key of a time of day, in minutes after midnight.

    >>> time_key("5 pm") == time_key("17:00") == time_key("下午5点")
    True
    """
    lower = text.lower().replace(".", "")
    numbers = [int(digits) for digits in _DIGITS.findall(lower)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 30 if "半" in text else 0
    half = next((value for name, value in _HALF_OF_DAY.items() if text.startswith(name)), None)
    if half is None and ("am" in lower or "pm" in lower):
        half = 12 if "pm" in lower else 0
    if half is not None and hour <= 12:
        hour = hour % 12 + half if half else hour % 12
    seconds = f":{numbers[2]}" if len(numbers) > 2 else ""
    return f"time {hour * 60 + minute}{seconds}"
