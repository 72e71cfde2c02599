"""Raw pieces of a Chinese prompt to tokens, by longest match against the word lists.

Characters that no list knows stay single tokens: a difference in one of them is a difference.
Latin words, numbers and dates inside the text are read as elsewhere.
"""

from __future__ import annotations

import re

from semcache.text.facts_literal import Reading, literal_token
from semcache.text.facts_rules import Chinese, chinese
from semcache.text.facts_tokens import Piece, Token
from semcache.text.facts_words import word_key
from semcache.text.mention import about

__all__ = ["read_chinese"]

_YES_NO = re.compile(
    r"吗|么\W*$|是否|能否|可否|是不是|有没有|会不会|能不能|可不可以|要不要|该不该|行不行|对不对|好不好|需不需要"
)


def read_chinese(pieces: tuple[Piece, ...], text: str) -> Reading:
    """Read the pieces of a Chinese prompt."""
    rules = chinese()
    runs = [piece.text if piece.kind == "cjk" else "" for piece in pieces]
    _strip_start(pieces, runs, rules)
    _strip_end(pieces, runs, rules)
    keeps_all = bool(about(text, "zh"))
    tokens: list[Token] = []
    for piece, run in zip(pieces, runs, strict=True):
        if piece.kind == "cjk":
            tokens.extend(_segment(run, rules, keeps_all))
        elif piece.kind == "word":
            tokens.append(_latin(piece.text, rules))
        elif piece.kind != "mark" or piece.text not in ("-", "~"):
            tokens.extend(literal_token(piece))
    while tokens and tokens[-1].kind == "stop":
        tokens.pop()
    tokens = [_in_place(tokens, position) for position in range(len(tokens))]
    tokens = [token for token in tokens if token.kind != "dropped"]
    return Reading(tuple(tokens), _question_kind(tokens, text))


_HOW_GOOD = frozenset(("怎么样", "怎样", "如何", "咋样"))


def _in_place(tokens: list[Token], position: int) -> Token:
    """A token as its place makes it: 怎么样 at the end asks how good, 用 at the end is a verb."""
    token = tokens[position]
    is_last = position + 1 == len(tokens) or tokens[position + 1].kind in ("stop", "question")
    if token.kind == "question" and token.text in _HOW_GOOD and is_last:
        return Token("question", "how good", token.text)
    if token.kind == "preposition" and is_last:
        return Token("word", token.text.removeprefix("使"), token.text)
    if token.key == "里" and any(t.key == "in" for t in tokens[max(0, position - 6) : position]):
        return Token("dropped", "", token.text)
    return token


# In a question about words the small ones are what it asks about.
_SMALL = frozenset(("negation", "pronoun"))
_SILENT = frozenset("的 了 是 这 这个 一下 用 一个 个 就 也 还 又".split())


def _latin(text: str, rules: Chinese) -> Token:
    known = rules.lexicon.get(text.lower())
    if known:
        return Token(known[0][0], known[0][1], text)
    return Token("name" if text[0].isupper() else "word", word_key(text.lower()), text)


def _question_kind(tokens: list[Token], text: str) -> str:
    if any(token.kind == "question" and token.key != "yesno" for token in tokens):
        return "open"
    return "yes or no" if _YES_NO.search(text) else ""


def _strip_start(pieces: tuple[Piece, ...], runs: list[str], rules: Chinese) -> None:
    for position, piece in enumerate(pieces):
        if piece.kind == "stop":
            continue
        if piece.kind != "cjk":
            return
        run = runs[position]
        while found := next((p for p in rules.start if run.startswith(p)), ""):
            if len(found) == 1 and run.startswith(rules.kept):
                break
            run = run[len(found) :]
        runs[position] = run
        if run:
            return


def _strip_end(pieces: tuple[Piece, ...], runs: list[str], rules: Chinese) -> None:
    for position in range(len(pieces) - 1, -1, -1):
        if pieces[position].kind == "stop":
            continue
        if pieces[position].kind != "cjk":
            return
        run = runs[position]
        while found := next((p for p in rules.end if run.endswith(p)), ""):
            if len(found) == 1 and run.endswith(rules.kept):
                break
            run = run[: -len(found)]
        runs[position] = "" if run in rules.end_alone and position else run
        if runs[position]:
            return


def _segment(run: str, rules: Chinese, keeps_all: bool) -> list[Token]:
    tokens: list[Token] = []
    position, lexicon = 0, rules.lexicon
    while position < len(run):
        for size in range(min(rules.longest, len(run) - position), 0, -1):
            word = run[position : position + size]
            items = lexicon.get(word)
            if items is not None:
                tokens.extend(Token(kind, key, word) for kind, key in items)
                if keeps_all and word not in _SILENT and (not items or items[0][0] in _SMALL):
                    tokens.append(Token("word", f"={word}", word))
                break
        else:
            size, word = 1, run[position]
            tokens.append(Token("word", word, word))
        position += size
    return tokens
