"""The levelled forms of a text by which the near-duplicate tier compares: fold and canonical.

Two texts share a form only if one right answer serves both. Punctuation inside numbers, code,
identifiers and operators, accents, inner commas and quoted words are never levelled. Nothing here
decides what is served.
"""

from __future__ import annotations

import re

from semcache.text.clauses import move_fronted_clause
from semcache.text.facts_language import level_for_language
from semcache.text.level import strip_decoration, strip_politeness
from semcache.text.normalize import normalize
from semcache.text.numbers import level_numbers
from semcache.text.tokens import CJK, Case, Kind, Token, lower, one_blank, parts_of, tokens_of
from semcache.text.variants import level_question_words

__all__ = ["Kind", "Token", "canonical", "canonical_tokens", "core", "fold", "join_tokens"]

_BLANKS = re.compile(r"\s+")
_BETWEEN = re.compile(rf"(?<=[{CJK}])[ ](?=[^\s{CJK}])|(?<=[^\s{CJK}])[ ](?=[{CJK}])")
_REPEATED_MARK = re.compile(r"(?<=[^\W\d_][^\W\d_])([?!])[?!]+(?=\s|\Z)")
# A mark ends the text only if it hangs on a word, a number, a bracket or a quote: "5!", "n!", ".."
# and "C++" keep theirs. A question mark may have a blank before it, as in French.
_END_MARK = re.compile(
    r"(?:\s?\?+|(?<=[^\W\d_][^\W\d_])(?:\.\.\.|[!.,;:])|(?<=[)\]\"'`%])[!.,;:]|(?<=\d)[.,;]"
    rf"|(?<=[{CJK}])[!.,;:~]+|(?<=\w)[।۔])\Z"
)
_LEADING_MARK = re.compile(r"\A[¿¡]\s*")
_END = ".?!,;:~।۔"
_ASKS = re.compile("什么|怎|为什|哪|谁|如何|多少|几|吗|啥")
_PARTICLES = frozenset("呢啊呀哦嘛哈")


def fold(text: str) -> str:
    """Return the form that forgives case, Unicode compatibility, typography and the final mark.

    Code, quoted parts and code-like words stay as they are; so do accents and inner commas.

    >>> fold("Is  “a > b” TRUE??"), fold("C++ or C#?"), fold("Let's eat, Grandpa!")
    ('is "a > b" true', 'c++ or c#', "let's eat, grandpa")
    """
    text = level_for_language(normalize(text))
    case = Case(text)
    parts = []
    for part, is_literal in parts_of(text):
        parts.append(part if is_literal else lower(_BLANKS.sub(one_blank, part), case))
        case = case.inside()
    folded = _BETWEEN.sub("", _LEADING_MARK.sub("", "".join(parts)))
    return _strip_end(_REPEATED_MARK.sub(r"\1", folded)).strip() or text


def _strip_end(text: str) -> str:
    """Take off final marks, looking at a short tail at a time: a pattern at the end is slow."""
    while True:
        tail = text[-64:]
        shorter = _END_MARK.sub("", tail)
        if shorter == tail or not (text[:-64] + shorter):
            return text
        text = text[:-64] + shorter


def core(text: str) -> str:
    """Return the plain question of `text`: no decoration, no politeness, phrase order levelled."""
    return move_fronted_clause(strip_politeness(strip_decoration(normalize(text))))


def canonical(text: str) -> str:
    """Return the form that forgives every difference known to be harmless.

    Beyond `fold`: numbers, British and American spelling, contractions, politeness, a fronted
    phrase, traditional characters. Texts of equal form are near-duplicates with score 1.0.

    >>> canonical("Please, what's the colour of twenty apples?")
    'what is the color of 20 apples'
    """
    return join_tokens(canonical_tokens(text)) or normalize(text)


def join_tokens(tokens: tuple[Token, ...]) -> str:
    """Return the tokens as one text: a blank between two of them unless both are ideographs."""
    if not any(token.kind is Kind.IDEOGRAPH for token in tokens):
        return " ".join(token.text for token in tokens)
    parts, was_ideograph = [], True
    for token in tokens:
        is_ideograph = token.kind is Kind.IDEOGRAPH
        parts.append(token.text if is_ideograph and was_ideograph else " " + token.text)
        was_ideograph = is_ideograph
    return "".join(parts).lstrip()


def canonical_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of `canonical`. One Chinese or Japanese character is one token.

    >>> [t.kind.value for t in canonical_tokens("Is C++ in 北京?")]
    ['word', 'literal', 'word', 'ideograph', 'ideograph']
    """
    plain = level_for_language(core(text))
    case = Case(plain)
    tokens: list[Token] = []
    for part, is_literal in parts_of(plain):
        if is_literal:
            tokens.append(Token(part, Kind.LITERAL))
        else:
            level = part if part.isascii() else level_question_words(part)
            tokens += tokens_of(level_numbers(level), case)
        case = case.inside()
    return _without_end(tokens, plain)


def _without_end(tokens: list[Token], text: str) -> tuple[Token, ...]:
    """Drop the marks that only end the text, and the particle that only softens a question."""
    end = len(tokens)
    while end > 1 and _ends(tokens[end - 1]):
        end -= 1
    if end > 1 and tokens[end - 1].text in _PARTICLES and _ASKS.search(text) is not None:
        end -= 1
    return tuple(tokens[:end])


def _ends(token: Token) -> bool:
    """Say whether a last token is only a final mark. "git add ." keeps its dot."""
    return token.text == "?" or (token.kind is Kind.MARK and token.text.strip(_END) == "")
