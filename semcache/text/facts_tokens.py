"""Cut a levelled prompt into raw pieces: words, numbers, dates, literals, quotes, operators.

Decides where a piece ends and what sort it is, not what it means. Code, paths, flags, versions and
identifiers are one piece each and keep their case. No character that can be seen is lost: what no
rule knows is a literal, so that two texts are never equal because neither was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from semcache.text.level import level_typography
from semcache.text.numbers import Number, read_numbers

__all__ = ["Piece", "Token", "level_marks", "pieces_of"]

_MARKS = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "＇": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "＂": '"',
        "«": '"',
        "»": '"',
        "「": '"',
        "」": '"',
        "『": '"',
        "』": '"',
        "《": '"',
        "》": '"',
        "〈": '"',
        "〉": '"',
        "–": "-",
        "—": "-",
        "−": "-",
        "‐": "-",
        "‑": "-",
        "，": ",",
        "；": ";",
        "：": ":",
        "。": ".",
        "？": "?",
        "！": "!",
        "（": "(",
        "）": ")",
        "～": "~",
        "＋": "+",
        "＝": "=",
        "＜": "<",
        "＞": ">",
        "％": "%",
        "＆": "&",
        "\u00a0": " ",
        "\u3000": " ",
        "…": ".",
    }
    | {code: chr(code - 0xFEE0) for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A raw piece. `kind`: word, cjk, number, date, literal, quote, code, mark or stop."""

    kind: str
    text: str
    number: Number | None = None
    quoted: bool = False
    spaced: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A piece after reading: `key` is what is compared, `text` what stood there.

    `kind`: word, name, number, date, literal, quote, negation, quantifier, modal, tense,
    preposition, question, person, coordinator, optional, article or stop. `marker` is the
    preposition that governs a content token, "" without one; `head` says it stands right after it.
    """

    kind: str
    key: str
    text: str
    marker: str = ""
    is_head: bool = False


def level_marks(text: str) -> str:
    """Write quotation marks, dashes, full-width signs and drawn forms of letters plainly.

    Bold of Markdown loses its stars; a power or an unpacking (2**3, **options) keeps them.
    """
    if "**" in text and "`" not in text:
        text = _BOLD.sub(r"\1", text)
    return text if text.isascii() else level_typography(text.translate(_MARKS))


_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*\*(?![\w*])")


_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_CJK = "\u3400-\u9fff\uf900-\ufaff\u3041-\u30ff々〇"
_PATTERN = rf"""
(?P<code>```[\s\S]*?```|`[^`\n]+`)
|(?P<url>(?a:(?:https?://|www\.)[^\s{_CJK}"'<>]+|[\w.+-]{{1,64}}@[\w-]{{1,64}}\.[\w.-]{{0,64}}\w))
|(?P<quote>"[^"\n]{{1,400}}"|(?<![\w'])'[^'\n]{{1,400}}'(?![\w']))
|(?P<date>(?a:
  (?<!\d)\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)
  |\d{{4}}年\d{{1,2}}月(?:\d{{1,2}}[日号號])?|\d{{1,2}}月\d{{1,2}}[日号號]?
  |(?i:\b(?:{_MONTHS})\.?\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?\b(?!\ ?[ap]m))
  |(?i:\b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTHS})\b(?:,?\ \d{{4}}\b)?)
  |(?i:\b(?:{_MONTHS})\ \d{{4}}\b)
  |(?i:\b(?:{_DAYS})s?\b)
  |(?<!\d)\d{{1,2}}/\d{{1,2}}/\d{{2,4}}(?!\d)
  |(?i:\b(?:\d{{1,2}}(?:st|nd|rd|th)|\d{{1,2}}世纪)\ centur(?:y|ies)\b)|\d{{1,2}}世纪
  |\b\d{{3}}0'?s\b
))
|(?P<time>(?a:
  \b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\ ?(?i:[ap]\.?m\b\.?)?
  |\b(?:0?[1-9]|1[0-2])\ ?(?i:[ap]\.?m\b\.?)
  |(?:上午|下午|早上|晚上|凌晨|中午)\d{{1,2}}(?:点|:\d\d|点半|时)(?:\d{{1,2}}分|半)?
))
|(?P<version>(?a:(?<![\w.])[vV]?\d{{1,9}}(?:\.\d{{1,9}}){{2,9}}(?:[-.]?\w{{1,64}})?
  |\b[vV]\d{{1,9}}(?:\.\d{{1,9}})*\b))
|(?P<flag>(?a:(?<![\w-])--?[A-Za-z][\w-]{{0,64}}(?:=[^\s{_CJK}]{{1,64}})?(?![\w-])))
|(?P<path>(?a:(?:~|\.{{0,2}})(?:/[\w.@-]{{1,64}}){{2,}}/?|\.{{1,2}}/[\w.@-]{{1,64}}
  |[A-Za-z]:\\[\w\\.-]{{1,64}}
  |(?<![\w.])[\w@-]{{1,64}}(?:/[\w-]{{1,64}}){{1,9}}\.\w{{1,64}}))
|(?P<name>(?a:(?<![^\s{_CJK}])(?=[^\s{_CJK}]{{0,200}}(?:[\\^]|[\])}}*+]\$))[^\s{_CJK}]+
  |[A-Za-z]\+\+|\b[A-Za-z]\#|(?<!\w)\.(?:NET|net|env|git\w{{0,16}})\b
  |\$[A-Za-z_]\w{{0,64}}(?:\{{[^}}]{{0,64}}\}})?
  |(?<!\w)[A-Za-z_]\w{{0,64}}(?:\.\w{{1,64}}){{0,5}}\([^()\s]{{0,40}}\)
  |\b[A-Za-z]\w{{0,64}}_\w{{1,64}}\b|\b_{{1,4}}[A-Za-z]\w{{0,64}}\b|\b[a-z]{{1,64}}[A-Z]\w{{0,64}}\b
  |\b[A-Za-z][\w-]{{0,64}}(?:\.[A-Za-z]\w{{0,64}}){{1,5}}\b
  |\b[A-Za-z]{{1,64}}-?\d[A-Za-z\d]{{0,64}}(?:-\d{{1,64}}){{0,5}}\b))
|(?P<word>[A-Za-zÀ-ɏḀ-ỿ]+(?:'[A-Za-zÀ-ɏ]+)*)
|(?P<digit>\d+(?:\.\d+)?)
|(?P<cjk>[{_CJK}]+)
|(?P<other>[\u0370-\u1dff\uac00-\ud7a3]+)
|(?P<mark>>=|<=|!=|==|=>|->|&&|\|\||:=|\*\*|//|[-+*/^%<>=&|~@\#]+|[×÷≤≥≠±√])
|(?P<sign>[^\w\s.?!,;:()\[\]{{}}、"'`$€£¥￥₹¿¡\\·]+)
|(?P<stop>[.?!,;:()、\n]+)
|(?P<aside>[¿¡]|(?<=\d)'(?=s\b)|(?<=[A-Za-z][A-Za-z])'(?=[\s.,;:?!)]|\Z)|(?<=[^\W\d])·(?=[^\W\d])
  |[$€£¥￥₹](?=[ ]?\d))
|(?P<rest>\w+|\S)
"""


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)


# Most pieces are words between blanks: seen here, they need not pass the long pattern.
_PLAIN_WORD = re.compile(r"\s*([A-Za-z]+)(?=[ ?!,\n]|$)")
_CALENDAR = frozenset(
    "jan january feb february mar march apr april may jun june jul july aug august sep sept "
    "september oct october nov november dec december "
    "monday tuesday wednesday thursday friday saturday sunday "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays".split()
)
_LITERALS = frozenset(("url", "version", "flag", "path", "name", "sign", "rest"))
_PLAIN_QUOTE = re.compile(rf"^[\w\s,.!?'{_CJK}-]+$")
_VERSIONED = re.compile(r"(?:[A-Z]\S*|\b(?:version|release|python|java|node|django|php|ruby|go)) $")


def pieces_of(text: str) -> tuple[Piece, ...]:
    """Cut a levelled text into pieces, in order."""
    numbers = {number.span[0]: number for number in read_numbers(text)}
    found: list[Piece] = []
    position, pattern = 0, _pattern()
    while True:
        if (word := _PLAIN_WORD.match(text, position)) and word[1].lower() not in _CALENDAR:
            found.append(Piece("word", word[1]))
            position = word.end()
            continue
        match = pattern.search(text, position)
        if match is None:
            break
        kind = match.lastgroup or ""
        position = match.end()
        if kind == "digit":
            number = numbers.get(match.start())
            position = max(position, number.span[1]) if number else position
            found.append(_number_piece(text, match, number))
        elif kind == "aside":
            continue
        elif kind == "quote":
            found.extend(_quote_pieces(match.group()[1:-1]))
        else:
            found.append(_piece(kind, match))
    return tuple(found)


def _piece(kind: str, match: re.Match[str]) -> Piece:
    text = match.group()
    if kind in _LITERALS:
        return Piece("literal", text.rstrip(".") or text)
    if kind == "stop" and _is_sign(match):
        return Piece("literal", text)
    if kind == "other":
        return Piece("word", text)
    around = match.string[max(0, match.start() - 1) : match.end() + 1]
    return Piece(kind, text, spaced=around[:1] == " " or around[-1:] == " ")


_OPERATORS = frozenset("+-*/^=<>[]{}")
# Alone between blanks a mark is a slip of the pen, unless these words lead up to it.
_NAMES_A_SIGN = re.compile(
    r"\b(?:does|do|is|are|a|an|the|of|uses?|using|between|and|or|vs|with|by|on|in|to|operator|symbol|"
    r"sign|mark|character)\s+\Z",
    re.IGNORECASE,
)
_REPEATED = re.compile(",,|;;|::")


def _is_sign(match: re.Match[str]) -> bool:
    """Say whether a mark that mostly ends a clause is a sign here: "5!", "(2+3)*4", " : "."""
    run, text = match.group(), match.string
    if "\n" in run:
        return False
    before, after = text[: match.start()][-2:], text[match.end() : match.end() + 1]
    last = before[-1:]
    if last.isspace() and after.isspace() and _NAMES_A_SIGN.search(text[: match.start()][-20:]):
        return bool(text[match.end() :].strip())
    if run[0] == "!" and (last.isdigit() or (last.isalpha() and not before[:-1].isalnum())):
        return True
    opens = run[-1] == "(" and (after.isdigit() or after in _OPERATORS)
    closes = run[0] == ")" and (last.isdigit() or last in _OPERATORS or after in _OPERATORS)
    return opens or closes or _REPEATED.search(text, match.start(), match.end() + 2) is not None


def _number_piece(text: str, match: re.Match[str], number: Number | None) -> Piece:
    if number is None:
        return Piece("literal", match.group())
    is_version = "." in number.text and not number.unit
    if is_version and _VERSIONED.search(text[max(0, match.start() - 16) : match.start()]):
        return Piece("literal", number.text)
    return Piece("number", number.text, number)


def _quote_pieces(inner: str) -> list[Piece]:
    """A short quotation counts by its words, a long or odd one as a whole."""
    inner = inner.strip(" .,!?;:")
    words = inner.split()
    if not inner:
        return []
    if len(words) > 3 or len(inner) > 40 or not _PLAIN_QUOTE.match(inner):
        return [Piece("quote", inner, quoted=True)]
    return [Piece(p.kind, p.text, p.number, quoted=True) for p in pieces_of(inner)]
