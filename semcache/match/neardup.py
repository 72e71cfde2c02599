"""Near-duplicates inside one scope: equal canonical forms, and MinHash LSH for slips of the pen.

LSH only proposes. A candidate is returned when the true Jaccard share of the shingles reaches
`THRESHOLD` and the typed difference is harmless; nothing else is. Not safe for threads: the caller
holds the lock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from semcache.heavy import imported
from semcache.text.difference import Difference, compare_tokens, name_levels
from semcache.text.fold import Kind, Token, canonical_tokens, join_tokens
from semcache.text.misspelling import load_dictionary, meant
from semcache.text.normalize import is_blank, normalize
from semcache.text.shingles import jaccard, shingles, signature

if TYPE_CHECKING:
    from datasketch import MinHash, MinHashLSH

__all__ = ["NearDuplicates", "Prepared", "preload", "prepare"]

# Chosen by benchmarks/neardup.py (benchmarks/results/neardup.json): at 0.6 one slip of the pen in a
# text of 30 characters or more keeps it a candidate in 99.7 of 100 cases, two slips in 98; LSH then
# finds 98 to 99.8 of 100 pairs over the threshold, by script. A low threshold is safe, since the
# typed difference decides.
SHINGLE_SIZE = 3
THRESHOLD = 0.6
NUM_PERM = 128
# 25 bands of 5 rows. Given outright, so that nothing is optimised when an index is made.
BANDS, ROWS = 25, 5
# Texts that share a long template fill one bucket: only so many of them are compared, only those
# that differ in few enough words to be slips.
MOST_CANDIDATES = 128
MOST_SLIPS = 3
# Under this many characters one slip sinks any Jaccard share: only equal forms count there.
SHORTEST_LSH = 30


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was computed once for a text, so that a miss's work serves the later `add`.

    `tokens` and `canonical` are the levelled text; `signature` is None where LSH does not apply
    (a blank or short text).
    """

    text: str
    tokens: tuple[Token, ...]
    canonical: str
    signature: MinHash | None = field(repr=False, compare=False)

    @property
    def shingles(self) -> frozenset[bytes]:
        """The shingles of the canonical form. Made anew each time: keeping them costs 7 kB."""
        return shingles(self.canonical, SHINGLE_SIZE)


def prepare(text: str) -> Prepared:
    """Level `text` and take its signature. About 0.2 ms for 70 characters.

    >>> prepare("What's NEW?").canonical
    'what is new'
    """
    if is_blank(text):
        return Prepared(text, (), "", None)
    tokens = canonical_tokens(text)
    canonical = join_tokens(tokens) or normalize(text)
    if len(canonical) < SHORTEST_LSH:
        mended = join_tokens(tuple(map(_mended, tokens)))
        return Prepared(text, tokens, mended or canonical, None)
    return Prepared(text, tokens, canonical, signature(shingles(canonical, SHINGLE_SIZE), NUM_PERM))


def preload() -> None:
    """Import datasketch (about 0.8 s) and read the dictionary (about 0.3 s) ahead of need."""
    signature(frozenset((b"any",)), NUM_PERM)
    _new_lsh()
    load_dictionary()


class NearDuplicates:
    """The near-duplicate index of one scope: keys of entries by their text.

    >>> index = NearDuplicates()
    >>> index.add(b"1", "How do I reset my password?")
    >>> index.search("how do I reset my passwrod")
    [(b'1', 1.0, 'misspelling: passwrod / password')]
    >>> index.search("Please, how do I reset my password?")
    [(b'1', 1.0, 'politeness, decoration or word order; case or punctuation')]
    """

    def __init__(self) -> None:
        self._texts: dict[bytes, Prepared] = {}
        self._by_form: dict[str, dict[bytes, None]] = {}
        self._lsh: MinHashLSH | None = None

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def add(self, key: bytes, text: str | Prepared) -> None:
        """Hold `key` under `text`, in place of what it was held under. Blank text is not held."""
        self.remove(key)
        prepared = _prepared(text)
        if not prepared.canonical:
            return
        self._texts[key] = prepared
        self._by_form.setdefault(prepared.canonical, {})[key] = None
        if prepared.signature is not None:
            if self._lsh is None:
                self._lsh = _new_lsh()
            self._lsh.insert(key, prepared.signature)

    def remove(self, key: bytes) -> None:
        """Let go of `key`; an unknown key is no error."""
        prepared = self._texts.pop(key, None)
        if prepared is None:
            return
        keys = self._by_form[prepared.canonical]
        del keys[key]
        if not keys:
            del self._by_form[prepared.canonical]
        if prepared.signature is not None and self._lsh is not None:
            self._lsh.remove(key)

    def search(self, text: str | Prepared, limit: int = 8) -> list[tuple[bytes, float, str]]:
        """Return up to `limit` (key, Jaccard share, difference in words), best first.

        Equal canonical forms come first with 1.0. Blank text finds nothing.
        """
        prepared = _prepared(text)
        if not prepared.canonical or limit < 1:
            return []
        equal = list(self._by_form.get(prepared.canonical, ()))[-limit:][::-1]
        found = [(key, 1.0, _what_differs(prepared, self._texts[key])) for key in equal]
        if len(found) < limit:
            found += self._slips(prepared)[: limit - len(found)]
        return found

    def _slips(self, prepared: Prepared) -> list[tuple[bytes, float, str]]:
        """Return the candidates of LSH that hold: share first, newest first among equals."""
        if self._lsh is None or prepared.signature is None:
            return []
        own = prepared.shingles
        found = []
        for key in islice(self._lsh.query(prepared.signature), MOST_CANDIDATES):
            other = self._texts[key]
            if other.canonical == prepared.canonical or not _differ_little(prepared, other):
                continue
            difference = Difference(compare_tokens(prepared.tokens, other.tokens))
            score = jaccard(own, other.shingles) if difference.harmless else 0.0
            if score >= THRESHOLD:
                found.append((key, min(score, 1.0), str(difference)))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))


def _mended(token: Token) -> Token:
    """Mend a plain slip: in a short text it would sink any Jaccard share."""
    if token.kind not in (Kind.WORD, Kind.NAME):
        return token
    return token._replace(text=meant(token.text, is_name=token.kind is Kind.NAME))


def _what_differs(left: Prepared, right: Prepared) -> str:
    changes = compare_tokens(left.tokens, right.tokens) or name_levels(left.text, right.text)
    return str(Difference(changes))


def _differ_little(left: Prepared, right: Prepared) -> bool:
    """Say whether a few slips could explain the difference: quick, before anything is typed."""
    if len(left.tokens) != len(right.tokens):
        return False
    pairs = zip(left.tokens, right.tokens, strict=True)
    differing = (1 for one, other in pairs if one.text != other.text)
    return sum(islice(differing, MOST_SLIPS + 1)) <= MOST_SLIPS


def _prepared(text: str | Prepared) -> Prepared:
    return text if isinstance(text, Prepared) else prepare(text)


def _new_lsh() -> MinHashLSH:
    made: MinHashLSH = imported("datasketch").MinHashLSH(num_perm=NUM_PERM, params=(BANDS, ROWS))
    return made
