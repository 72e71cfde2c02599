"""Brings a prompt into the one form that the rules read: levelled, unquoted, cut into sentences.

Pure text work, linear in the length of the prompt. It knows no rule and decides nothing.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["OBJECT", "bare", "sentences", "unquoted", "words_of"]

_END_CHARS = 1000
OBJECT = "\ufffc"
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTED = re.compile(
    r'"[^"\n]{1,400}"|“[^”\n]{1,400}”|「[^」\n]{1,400}」|『[^』\n]{1,400}』|《[^》\n]{1,80}》'
    r"|〈[^〉\n]{1,80}〉|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|`[^`\n]{1,400}`"
    r"|(?<!\w)'(?!s\b)[^'\n]{1,200}'(?!\w)|‘[^’\n]{1,200}’(?!\w)|【[^】\n]{1,200}】"
)
_QUOTE_MARKS = re.compile(r"[\"“「『《〈«„`'‘【]")
_SENTENCE = re.compile(r"[.!?。！？؟;；]+(?=[\s\x80-\U0010ffff]|$)")
# Chinese, Japanese and Korean are looked up by letter, so they are no part of a word here.
_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?:'[^\W_]+)?")
_LETTER = re.compile(r"[^\W_]")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_BLANKS = re.compile(r"[^\S\n]+")
_THANKS = ("please", "pls", "thanks", "thank you")
_PLEASE = re.compile(r",? (?:please|pls|thanks|thank you)$")
_TRIM = " \t.!?¿¡。！？…~～,，、:-"


def bare(text: str) -> str:
    """Take end marks, blanks and a closing "please" off a text."""
    text = text.strip(_TRIM)
    return _PLEASE.sub("", text) if text.endswith(_THANKS) else text


def sentences(text: str) -> list[str]:
    """Cut a text into sentences without their end marks.

    >>> sentences("Is it 3.5 km? Go on, please.")
    ['Is it 3.5 km', 'Go on']
    """
    parts = (part for line in text.split("\n") for part in _SENTENCE.split(line))
    return [part for part in map(bare, parts) if part]


def unquoted(text: str) -> str:
    """Level the text, cut it to its ends and put U+FFFC in place of code and quotations."""
    view = _level(_ends(_FENCE.sub(OBJECT, text) if "```" in text or "~~~" in text else text))
    if not _QUOTE_MARKS.search(view):
        return view
    hidden = _QUOTED.sub(OBJECT, view)
    # A prompt that is nothing but a quotation means what it quotes.
    return hidden if _LETTER.search(hidden) else view.strip("\"“”'‘’「」『』`«»„【】 ")


def words_of(lowered: str) -> set[str]:
    """The words of a text, the first one also as "^word"; "<year>" for a number of four digits."""
    found = _WORD.findall(lowered)
    words = set(found)
    words.update(word.partition("'")[0] for word in found if "'" in word)
    if found:
        words.add(f"^{found[0]}")
    if _YEAR.search(lowered):
        words.add("<year>")
    return words


def _ends(text: str) -> str:
    if len(text) <= 2 * _END_CHARS:
        return text
    return f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"


def _level(text: str) -> str:
    """One form for letters, apostrophes and blanks, so that patterns need to know only one."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’s", "'s").replace("’", "'")
    if "\n" in text:
        return _BLANKS.sub(" ", text).strip()
    return " ".join(text.split())
