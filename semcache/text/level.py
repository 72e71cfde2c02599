"""Level what a text carries without meaning: typography, zero-width marks, a smiley at the end.

Works for the embedder's eyes and as the first step of `fold`. A symbol that carries meaning stays
(operators, currency, units, ideographs, an emoji that the sentence is about), even where that
makes the text unreadable to the embedder: then the semantic tier stands aside.
"""

from __future__ import annotations

import re
import unicodedata

from semcache.text.courtesy import strip_politeness
from semcache.text.spans import pieces

__all__ = [
    "level_for_embedding",
    "level_typography",
    "strip_decoration",
    "strip_politeness",
]

_TYPOGRAPHY: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛`´ʼ＇"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»＂「」『』"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-"),
    **dict.fromkeys(map(ord, "。｡"), "."),
    **dict.fromkeys(map(ord, "、،"), ","),
    ord("؛"): ";",
    ord("؟"): "?",
    ord("…"): "...",
    ord("《"): "<",
    ord("》"): ">",
    # Soft hyphen, zero-width space, word joiner, marks of direction, byte order mark. The joiners
    # U+200C and U+200D stay: they shape Persian words and build emoji.
    **dict.fromkeys(
        (0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF), ""
    ),
    0xFE0E: "",
    0xFE0F: "",
    0x20E3: "",  # the box around a keycap digit
}
del _TYPOGRAPHY[ord("`")]

# NFKC in full would turn x² into x2, ½ into 1/2 and ℝ into R: only these kinds of it are harmless.
_HARMLESS_TAGS = frozenset(
    f"<{tag}>"
    for tag in (
        *("wide", "narrow", "noBreak", "vertical", "small", "square"),
        *("initial", "medial", "final", "isolated"),
    )
)


class _Levels(dict[int, str]):
    """A table for `str.translate` that works out each character once."""

    def __missing__(self, code: int) -> str:
        self[code] = level = _level_character(chr(code))
        return level


def _level_character(character: str) -> str:
    tag = unicodedata.decomposition(character).partition(" ")[0]
    is_harmless = tag in _HARMLESS_TAGS
    if tag == "<compat>":  # ligatures and the like, but not spacing accents or list numbers
        level = unicodedata.normalize("NFKC", character)
        is_harmless = level.isalpha() or level.isspace()
    elif tag == "<font>":  # styled letters, but not the double-struck names of number sets
        is_harmless = ord(character) >= 0x1D400
    if not is_harmless:
        return character
    level = unicodedata.normalize("NFKC", character)
    return level.translate(_TYPOGRAPHY)


_LEVELS = _Levels(_TYPOGRAPHY)


def level_typography(text: str) -> str:
    """Level quotes, dashes, full-width and styled letters, ligatures and zero-width marks.

    Superscripts, fractions, circled digits and number sets (x², ½, ①, ℝ) keep their meaning and
    stay.

    >>> level_typography("“Ｗｉｆｉ” — ﬁne…")
    '"Wifi" - fine...'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_LEVELS))


# Friendly faces, hands, hearts and sparkles: they colour a sentence. A sad or angry face is part of
# what is said; food, animals, flags and arrows are often what the sentence is about.
_FEELING = (
    "\U0001f600-\U0001f60e\U0001f617-\U0001f61a\U0001f642\U0001f64b\U0001f64c\U0001f64f\U0001f913"
    "\U0001f914\U0001f917\U0001f923\U0001f929\U0001f970\U0001f973\U0001f44b-\U0001f44d\U0001f44f"
    "\U0001f4aa\U0001f495-\U0001f49f\U0001f389\U0001f38a\U0001f525\U0001f4af\U0001f31f\U0001f4a1"
    "\U0001f680\u2728\u2764\u2665\u263a\U0001f90d"
)
_RUN = rf"(?:[{_FEELING}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d[\u2640\u2642]\ufe0f?)?\s*)+"
_DECORATION_END = re.compile(rf"(?P<before>\S)(?P<blank>\s*)(?P<run>{_RUN})\Z")
_DECORATION_START = re.compile(rf"\A{_RUN}(?=\w)")
_DECORATION_INSIDE = re.compile(rf"(?<=[.!?。！？])\s*{_RUN}(?=\s|\w)")
_FEELING_MARK = re.compile(f"[{_FEELING}]")
# The sentence may be about the emoji, or hold it as a message or an object.
_ABOUT_EMOJI = re.compile(
    r"emoji|emoticon|smil(?:ey|ies)|symbol|icon|\bmean|\breact|\bsent\b|\bsend|\brepl(?:y|ied)|"
    r"\btext(?:ed)?\b|translat|sentiment|classif|unicode|"
    r"表情|符号|意思|翻译|回复|发了?|图标|情感|分类|[:：]",
    re.IGNORECASE,
)
_OBJECT_BEFORE = re.compile(
    r"(?:^|\s)(?:with|of|by|as|a|an|the|this|and|or|than|like|use|using|is|are|type|add|vs|"
    r"between|not|no|me|feel|feeling|am|i'm)$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*[•●▪◦‣■◆►▶✦✧❖✅✔☑–—]+\ufe0f?[ \t]+", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*[─━═—_*~=\-]{4,}[ \t]*$\n?", re.MULTILINE)
_TILDES = re.compile(r"(?<=[\w?!。？！])[~～]+(?=\s*$)")


def strip_decoration(text: str) -> str:
    """Take off friendly faces, hands, hearts and sparkles that only colour the sentence.

    They go at the start of a text, after the end of a sentence, and after its last word; never
    where the sentence may be about them, and never so that nothing is left.

    >>> strip_decoration("How do I reset my password? 😊🙏")
    'How do I reset my password?'
    >>> strip_decoration("What does 😂 mean?")
    'What does 😂 mean?'
    """
    if text.isascii():
        return text
    text = _TILDES.sub("", text)
    if _FEELING_MARK.search(text) is None or _ABOUT_EMOJI.search(text) is not None:
        return text
    level = _DECORATION_INSIDE.sub(" ", _DECORATION_START.sub("", text))
    match = _DECORATION_END.search(level)
    if match is not None and not _OBJECT_BEFORE.search(level[: match.start("blank")]):
        level = level[: match.start("blank")]
    level = level.strip()
    return level if any(map(str.isalnum, level)) else text


def level_for_embedding(text: str) -> str:
    """Return `text` as the embedder should read it: no mark that would only be an unknown piece.

    Typography is levelled to ASCII, zero-width marks go, decoration goes (`strip_decoration`),
    bullets become hyphens and drawn rules vanish. Code and quoted parts keep their characters.

    >>> level_for_embedding("“Wi‑Fi” doesn’t work… 🙏")
    '"Wi-Fi" doesn\\'t work...'
    """
    if text.isascii():
        return text
    text = _RULE.sub("", _BULLET.sub("- ", strip_decoration(text))) or text
    return "".join(
        piece.text if _is_code(piece.text, piece.is_literal) else level_typography(piece.text)
        for piece in pieces(text)
    )


def _is_code(text: str, is_literal: bool) -> bool:
    return is_literal and text.lstrip(" ")[:1] in {"`", "~", "\t"}
