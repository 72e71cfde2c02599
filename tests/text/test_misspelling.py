"""Slips of the pen: mended where one word was plainly meant, left alone in what is no word."""

from __future__ import annotations

from semcache.text.misspelling import correct, is_misspelling, meant


def test_a_run_of_letters_that_is_no_word_costs_nothing() -> None:
    """A megabyte of letters has a million edits; none of them is tried."""
    letters = "xy" * 500_000

    assert correct(f"What is the captial? {letters}") == f"What is the capital? {letters}"
    assert meant(letters) == letters
    assert not is_misspelling(letters, letters[:-1])
