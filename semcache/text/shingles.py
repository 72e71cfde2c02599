"""Character shingles of a levelled text, their MinHash signature and their exact Jaccard share.

Characters, not words: every script has them, so no text has an empty set. Repeated shingles are
counted, so that "very very hot" is not the set of "very hot".
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from semcache.heavy import imported

if TYPE_CHECKING:
    from datasketch import MinHash

__all__ = ["jaccard", "shingles", "signature"]


def shingles(text: str, size: int) -> frozenset[bytes]:
    """Return the set of `size` neighbouring characters of `text`, as UTF-8.

    The n-th occurrence of a shingle carries n, so the set is a multiset in disguise. A text of at
    most `size` characters is its own only shingle; the empty text has none.

    >>> sorted(shingles("abab", 2))
    [b'ab', b'ab\\x001', b'ba']
    """
    if len(text) <= size:
        return frozenset((text.encode("utf-8", "surrogatepass"),)) if text else frozenset()
    windows = _windows(text, size)
    found = frozenset(windows)
    return found if len(found) == len(windows) else _numbered(windows)


def _windows(text: str, size: int) -> list[bytes]:
    if text.isascii():
        raw = text.encode("ascii")
        return [raw[start : start + size] for start in range(len(raw) - size + 1)]
    return [
        text[start : start + size].encode("utf-8", "surrogatepass")
        for start in range(len(text) - size + 1)
    ]


def _numbered(windows: list[bytes]) -> frozenset[bytes]:
    counts = Counter(windows)
    repeats = (
        window + b"\x00%d" % occurrence
        for window, count in counts.items()
        if count > 1
        for occurrence in range(1, count)
    )
    return frozenset(chain(counts, repeats))


@lru_cache(maxsize=8)
def _permutations(num_perm: int) -> Any:
    return imported("datasketch").MinHash(num_perm=num_perm, scheme="affine32").permutations


def signature(found: AbstractSet[bytes], num_perm: int = 128) -> MinHash:
    """Return the MinHash of a shingle set: uint32 of shape (num_perm,), scheme "affine32".

    Each shingle is hashed by CRC-32 (one to one up to four bytes), which datasketch mixes before it
    permutes. The permutations are made once and shared.

    >>> signature(shingles("how do I sort a list", 4)).jaccard(
    ...     signature(shingles("how do I sort a list", 4)))
    1.0
    """
    result: MinHash = imported("datasketch").MinHash(
        num_perm=num_perm,
        hashfunc=zlib.crc32,
        permutations=_permutations(num_perm),
        scheme="affine32",
    )
    # In blocks that stay in the processor's cache: a third faster than one matrix for a long text.
    block, values = 512, list(found)
    for start in range(0, len(values), block):
        result.update_batch(values[start : start + block])
    return result


def jaccard(a: AbstractSet[bytes], b: AbstractSet[bytes]) -> float:
    """Return the share of common shingles, 0.0 to 1.0. Two empty sets have nothing in common.

    >>> jaccard({b"a", b"b"}, {b"b", b"c"})
    0.3333333333333333
    """
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
