"""Time as properties: whatever the lifetimes and clocks, what is served is alive."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from semcache import Config, Hit, SemanticCache
from semcache.entry import CLOCK_SKEW_SECONDS, RENEWAL_STEP
from tests.contracts.store import make_entry
from tests.fakes import Clock

QUESTION = "Which tax form do I file in spring?"
START = 1_700_000_000.0

# Sixteenths of a second are exact beside a clock of this size: "at the second" means at it.
moments = st.integers(1, 16 * 4000).map(lambda sixteenths: sixteenths / 16)
on_disk = st.booleans()
few = settings(max_examples=20, deadline=None)


@contextmanager
def opener(*, on_disk: bool, clock: Clock) -> Iterator[Any]:
    """Give a function that opens a cache: on one folder each time, or one in memory for good."""
    opened: list[SemanticCache] = []
    with tempfile.TemporaryDirectory() as folder:

        def open_one(**options: Any) -> SemanticCache:
            if opened and not on_disk:
                return opened[0]
            for cache in opened:
                cache.close()
            place = Path(folder) / "c" if on_disk else None
            opened.append(SemanticCache(place, embedder=False, clock=clock, **options))
            return opened[-1]

        try:
            yield open_one
        finally:
            for cache in opened:
                cache.close()


def is_served(cache: SemanticCache) -> bool:
    return isinstance(cache.lookup(QUESTION), Hit)


@few
@given(ttl=moments, form=st.sampled_from([float, timedelta, None]), disk=on_disk, own=st.booleans())
def test_a_lifetime_ends_at_its_second(ttl: float, form: Any, disk: bool, own: bool) -> None:
    """As a number, a timedelta or None; of the cache or of one put; before, at and after; also
    across a restart."""
    given = None if form is None else timedelta(seconds=ttl) if form is timedelta else ttl
    clock = Clock(START)
    config = Config(ttl_seconds=1.0 if own else given, ttl_jitter=0.0, store_timeout_seconds=30.0)
    with opener(on_disk=disk, clock=clock) as open_one:
        options = {"ttl_seconds": given} if own else {}
        open_one(config=config).put(QUESTION, "A", **options)

        served = {}
        for offset in (-1 / 16, 0.0, 1 / 16):
            clock.now = START + ttl + offset
            served[offset] = is_served(open_one(config=config))

    assert served == {-1 / 16: True, 0.0: form is None, 1 / 16: form is None}


@few
@given(ttl=st.integers(60, 4000), jitter=st.integers(0, 16), seed=st.integers(0, 9), disk=on_disk)
def test_jitter_only_shortens_and_keeps_its_share(
    ttl: int, jitter: int, seed: int, disk: bool
) -> None:
    """The end lies between the jittered share and the lifetime; one given at a call is kept."""
    clock = Clock(START)
    config = Config(ttl_seconds=float(ttl), ttl_jitter=jitter / 16, store_timeout_seconds=30.0)
    with opener(on_disk=disk, clock=clock) as open_one:
        cache = open_one(config=config, seed=seed)
        cache.put(QUESTION, "A")
        cache.put(QUESTION, "B", ttl_seconds=ttl, model="kept")

        ends = {entry.model: entry.expires_at - START for entry in cache.entries()}

    assert (1 - jitter / 16) * ttl <= ends[None] <= ttl
    assert ends["kept"] == ttl


@few
@given(ttl=moments, steps=st.lists(st.integers(-5000, 5000), min_size=1, max_size=6), disk=on_disk)
def test_a_clock_that_jumps_serves_nothing_past_its_end_or_from_the_future(
    ttl: float, steps: list[int], disk: bool
) -> None:
    """Set back and forward at will, with a restart at each jump: only the moment decides."""
    clock = Clock(START)
    config = Config(store_timeout_seconds=30.0)
    with opener(on_disk=disk, clock=clock) as open_one:
        open_one(config=config).put(QUESTION, "A", ttl_seconds=ttl)

        for step in steps:
            clock.advance(step / 4)
            age = clock.now - START
            assert is_served(open_one(config=config)) == (-CLOCK_SKEW_SECONDS <= age < ttl)


@few
@given(
    ttl=moments,
    cap=moments,
    steps=st.lists(st.integers(0, 100), min_size=1, max_size=12),
    disk=on_disk,
    asked=st.booleans(),
)
def test_hits_renew_within_the_cap_and_only_where_asked(
    ttl: float, cap: float, steps: list[int], disk: bool, asked: bool
) -> None:
    """A hit assures nine tenths of a lifetime, gives no more than one, and ends at the cap; a
    restart at each step changes nothing of that."""
    clock = Clock(START)
    config = Config(store_timeout_seconds=30.0)
    latest = ttl  # no later than this may it end, by the last hit
    assured = ttl  # it lives until then at least
    dead = False
    with opener(on_disk=disk, clock=clock) as open_one:
        cap_option = {"renew_up_to_seconds": cap} if asked else {}
        open_one(config=config).put(QUESTION, "A", ttl_seconds=ttl, **cap_option)

        for step in steps:
            clock.advance(step / 50 * ttl)
            age = clock.now - START
            served = is_served(open_one(config=config))

            assert not (served and (dead or age >= latest))
            assert served or age >= assured
            dead = dead or not served
            if served and asked and cap > ttl:
                latest = max(latest, min(age + ttl, cap))
                assured = max(assured, min(age + (1 - RENEWAL_STEP) * ttl, cap) - 1e-6)


@given(
    lifetime=moments, cap=moments, ages=st.lists(moments, max_size=20), backward=st.integers(0, 3)
)
def test_a_renewed_entry_never_outlives_its_cap(
    lifetime: float, cap: float, ages: list[float], backward: int
) -> None:
    """In whatever order the moments come, an end only moves forward, and never past the cap."""
    entry = make_entry(
        "a",
        created_at=START,
        expires_at=START + lifetime,
        lifetime_seconds=lifetime,
        renewable_until=START + cap,
    )
    for age in [*ages, *ages[:backward]]:
        renewed = entry.renewed(START + age)
        if renewed is None:
            continue
        assert entry.is_live(START + age)
        assert entry.expires_at is not None
        assert renewed.expires_at is not None
        assert entry.expires_at < renewed.expires_at <= START + min(cap, age + lifetime)
        entry = renewed
