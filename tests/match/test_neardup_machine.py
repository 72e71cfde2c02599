"""NearDuplicates against a plain dict: whatever is put, replaced and taken out."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from semcache.match.neardup import THRESHOLD, NearDuplicates
from semcache.text.difference import type_difference
from semcache.text.fold import canonical
from semcache.text.normalize import is_blank

KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
TEXTS = st.sampled_from(
    [
        "",
        " \u200b",
        "C#",
        "C++",
        "c++?",
        "What's the colour of it?",
        "what is the color of it",
        "怎么退货",
        "请问怎么退货？",
        "怎么换货",
        "How do I change the delivery address of my order",
        "how do I change the delivery adress of my order?",
        "How do I change the billing address of my order",
    ]
)


class NearDuplicatesMachine(RuleBasedStateMachine):
    """The oracle is a dict of key and text, searched by comparing every pair."""

    def __init__(self) -> None:
        super().__init__()
        self.index = NearDuplicates()
        self.texts: dict[bytes, str] = {}

    @rule(key=KEYS, text=TEXTS)
    def add(self, key: bytes, text: str) -> None:
        """Put or replace."""
        self.index.add(key, text)
        self.texts.pop(key, None)
        if not is_blank(text):
            self.texts[key] = text

    @rule(key=KEYS)
    def remove(self, key: bytes) -> None:
        """Take out what may not be there."""
        self.index.remove(key)
        self.texts.pop(key, None)

    @rule(text=TEXTS)
    def search(self, text: str) -> None:
        """Equal forms are all found; all that is found is held and harmless."""
        found = {key: score for key, score, _ in self.index.search(text)}

        assert set(found) <= set(self.texts)
        for key, held in self.texts.items():
            if not is_blank(text) and canonical(held) == canonical(text):
                assert found[key] == 1.0
        for key, score in found.items():
            assert score >= THRESHOLD
            assert type_difference(text, self.texts[key]).harmless

    @invariant()
    def holds_what_the_dict_holds(self) -> None:
        """One entry a live key."""
        assert len(self.index) == len(self.texts)
        assert all(key in self.index for key in self.texts)


NearDuplicatesMachine.TestCase.settings = settings(max_examples=60, deadline=None)
TestNearDuplicates = NearDuplicatesMachine.TestCase
