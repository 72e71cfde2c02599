"""The filter before the disk: it may let too much through, never too little."""

from __future__ import annotations

import os
import threading

from hypothesis import given
from hypothesis import strategies as st

from semcache.store.bloom import RotatingBloom

KEYS = st.lists(st.binary(min_size=16, max_size=16), max_size=200)


@given(KEYS, KEYS)
def test_it_knows_every_key_it_was_given(at_once: list[bytes], one_by_one: list[bytes]) -> None:
    """Whether rebuilt from many or told one by one."""
    bloom = RotatingBloom()

    bloom.rebuild(lambda: at_once)
    for key in one_by_one:
        bloom.add(key)

    assert all(key in bloom for key in at_once + one_by_one)


def test_it_refuses_nearly_all_other_keys() -> None:
    """The estimated and the observed rate are both below a hundredth when it is full."""
    bloom = RotatingBloom()
    for _ in range(8_000):
        bloom.add(os.urandom(16))

    through = sum(os.urandom(16) in bloom for _ in range(5_000))
    for _ in range(through):
        bloom.note_false_alarm()

    assert through < 50
    assert 0.0 < bloom.false_positive_rate < 0.01
    assert bloom.observed_rate == through / 5_000


def test_it_asks_to_be_rebuilt_when_overfull_or_outlived() -> None:
    """Growth and deletes make it stale; a rebuild makes it fresh."""
    keys = [os.urandom(16) for _ in range(10_000)]
    bloom = RotatingBloom()
    for key in keys:
        bloom.add(key)
    assert bloom.is_stale

    bloom.rebuild(lambda: keys)
    assert not bloom.is_stale
    bloom.note_deleted(10_001)
    assert bloom.is_stale


def test_a_key_added_during_a_rebuild_is_kept() -> None:
    """What comes after the keys were read is not lost with the old filter."""
    bloom = RotatingBloom()
    late = os.urandom(16)

    def read() -> list[bytes]:
        bloom.add(late)
        return []

    bloom.rebuild(read)

    assert late in bloom


def test_threads_do_not_undo_each_other() -> None:
    """Bits set at once by four threads are all there."""
    bloom = RotatingBloom()
    keys = [os.urandom(16) for _ in range(4_000)]

    def add(part: list[bytes]) -> None:
        for key in part:
            bloom.add(key)

    threads = [threading.Thread(target=add, args=(keys[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(key in bloom for key in keys)
