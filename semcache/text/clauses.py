"""Move an adverbial phrase from the front of a question to its end, where that changes nothing.

"In Python, how do I X?" is "How do I X in Python?". Only a short phrase of tool, language or place
before one plain question moves: with a verb of saying or a second clause the phrase could attach
elsewhere ("In 2020, how many said they would vote?").
"""

from __future__ import annotations

import re

__all__ = ["move_fronted_clause"]

# "In that case," and the like are no phrase of place or tool.
_NO_PHRASE = (
    r"that|this|which|case|order|fact|general|short|addition|other|particular|contrast|brief|"
    r"summary|total|average|theory|practice|the end"
)
_FRONTED = re.compile(
    rf"\A(?P<phrase>(?:in|on|with|using|under) (?!(?:{_NO_PHRASE})\b)"
    r"[^\W\d_][\w.+#]*(?:[ -][^\W\d_][\w.+#]*){0,2}), "
    r"(?P<rest>(?:how (?:do|can|should|would) (?:i|you|we|one)|how to|what (?:is|are)|what's|"
    r"which|where (?:do|can) (?:i|you)|is|are|does|do|can (?:i|you)) [^,;:.?!\n()\"'`]+)"
    r"(?P<end>[?.!]*)\Z",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(
    r"\b(?:that|said|says?|think|thought|claim\w*|believe\w*|expect\w*|told|tell|know|who|whose|"
    r"because|when|while|if|unless|until|before|after|since|and|or|but|than|in|on|with|using|under|"
    r"like|such|not|without|except|called|named|when)\b",
    re.IGNORECASE,
)


def move_fronted_clause(text: str) -> str:
    """Return `text` with a fronted phrase at its end, or as it was.

    >>> move_fronted_clause("In Python, how do I sort a list?")
    'how do I sort a list in Python?'
    """
    match = _FRONTED.match(text)
    if match is None or _SECOND_CLAUSE.search(match["rest"]) is not None:
        return text
    phrase = match["phrase"]
    return f"{match['rest']} {phrase[0].lower()}{phrase[1:]}{match['end']}"
