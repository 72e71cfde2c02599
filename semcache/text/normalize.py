"""The form of a text that the exact tier compares, and what counts as blank.

"safe" levels only what no reader could see: Unicode form, line ends, outer blanks. It must never
merge two texts that look different: case, accents and inner blanks count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal, TypeAlias

from semcache.errors import ArgumentError
from semcache.text.spans import pieces

__all__ = ["Form", "is_blank", "normalize", "normalizer_name"]

Form: TypeAlias = Literal["safe", "loose"] | Callable[[str], str]

# Unicode's Default_Ignorable_Code_Point, plus the Braille blank, which draws nothing either.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BLANK = re.compile(rf"[\s{_IGNORABLE}]*")
# What is stripped at the ends. Not variation selectors: they end an emoji.
_OUTER_BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\xad\u061c\u200b\u200c\u200d\u200e\u200f\u202a"
    "\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3164\ufeff"
)
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")
_BLANK_RUN = re.compile(r"\s+")


def normalize(text: str, form: Form = "safe") -> str:
    """Return the form of `text` that identifies it in the exact tier.

    "safe": Unicode NFC, line ends as ``\\n``, outer blanks off (zero-width and ideographic blanks
    too). "loose": also runs of blanks as one blank (a run with a line end as one line end) and
    lower case; code spans, fenced and indented code and quoted parts stay as they are. A callable
    gets the safe form. All forms are stable: normalizing twice changes nothing more.

    Lower case, not `str.casefold`: that would merge German "Maße" and "Masse".

    Raises:
        ArgumentError: an unknown form, a callable without a name, or one that returns no text.

    >>> normalize("  Cafe\\u0301\\r\\n")
    'Café'
    >>> normalize("How  do I run `Foo  bar`?", "loose")
    'how do i run `Foo  bar`?'
    """
    if form == "safe":
        return _safe(text)
    if form == "loose":
        return _loose(_safe(text))
    normalizer_name(form)
    result = form(_safe(text))
    if not isinstance(result, str):
        raise ArgumentError("normalize", form, f"must return text, not {type(result).__name__}")
    return result


def normalizer_name(form: Form, option: str = "normalize") -> str:
    """Return the name of a form, which enters the digest of each request.

    A callable goes by its module and qualified name. Lambdas, nested functions, bound methods and
    nameless objects are refused: what they do hangs on more than their name, so two of them could
    share a digest.

    Raises:
        ArgumentError: the form is unknown or its name does not say what it does.

    >>> normalizer_name("safe")
    'safe'
    """
    if form in ("safe", "loose"):
        return str(form)
    if not callable(form):
        raise ArgumentError(option, form, 'pass "safe", "loose" or a function of one text')
    name = getattr(form, "__qualname__", "")
    owner = getattr(form, "__self__", None)
    if not name or "<" in name or not (owner is None or isinstance(owner, type)):
        raise ArgumentError(
            option, form, "pass a function defined at the top of a module: its name is keyed"
        )
    module = getattr(form, "__module__", None) or "builtins"
    return f"{module}.{name}"


def is_blank(text: str) -> bool:
    """Say whether nothing of `text` can be seen: blanks, zero-width and other ignorable marks.

    >>> is_blank(" \\u3000\\u200b"), is_blank(".")
    (True, False)
    """
    return _BLANK.fullmatch(text) is not None


def _safe(text: str) -> str:
    return _LINE_ENDS.sub("\n", unicodedata.normalize("NFC", text)).strip(_OUTER_BLANKS)


def _loose(text: str) -> str:
    level = "".join(
        piece.text if piece.is_literal else _BLANK_RUN.sub(_one_blank, piece.text).lower()
        for piece in pieces(text)
    )
    return _safe(level)


def _one_blank(match: re.Match[str]) -> str:
    return "\n" if "\n" in match.group() else " "
