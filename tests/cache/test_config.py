"""Settings: checked when made, read from code, a TOML file or the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache import Bypass, Config, Hit, Refused, SemanticCache, Stored
from semcache.errors import ArgumentError, FileFormatError
from tests.fakes import Clock


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", 1.2),
        ("ttl_seconds", 0),
        ("ttl_jitter", -0.1),
        ("stale_seconds", -1),
        ("stale_seconds", "60"),
        ("semantic_max_turns", 0),
        ("max_temperature", "hot"),
        ("enabled", "no"),
        ("serve_share", True),
        ("max_entries", 0),
        ("queue_size", 1.5),
        ("store_timeout_seconds", 0),
        ("normalize", "loud"),
        ("namespace", ""),
    ],
)
def test_a_value_that_cannot_work_is_an_error_that_names_it(name: str, value: Any) -> None:
    """Before anything is opened."""
    with pytest.raises(ArgumentError, match=f"{name}={value!r}: "):
        Config(**{name: value})


@pytest.mark.parametrize(
    ("file", "table"),
    [("pyproject.toml", "[tool.semcache]"), ("app.toml", "[semcache]"), ("flat.toml", "")],
)
def test_a_toml_file_holds_settings_in_its_table(file: str, table: str, tmp_path: Path) -> None:
    """In the table of a shared file, or flat in one of their own."""
    path = tmp_path / file
    path.write_text(f"{table}\nstale_seconds = 60\nsemantic = false\n")

    with SemanticCache.from_config(path) as cache:
        assert cache.config == Config(stale_seconds=60, semantic=False)


def test_a_pyproject_without_the_table_says_what_to_add(tmp_path: Path) -> None:
    """Its other tables are not taken for settings."""
    path = tmp_path / "pyproject.toml"
    path.write_text("[project]\nname = 'app'\n")

    with pytest.raises(FileFormatError, match=r"no table \[tool\.semcache\]: add one"):
        Config.from_toml(path)


def test_an_unknown_setting_lists_the_known(tmp_path: Path) -> None:
    """A slip of the keyboard is not ignored."""
    path = tmp_path / "app.toml"
    path.write_text("treshold = 0.9\n")

    with pytest.raises(ArgumentError, match=r"treshold=0\.9: unknown in .*'threshold'"):
        Config.from_toml(path)


def test_the_environment_is_read_by_the_kind_of_each_setting() -> None:
    """Numbers, yes and no, names, and none."""
    found = Config.from_environment(
        {
            "SEMCACHE_STALE_SECONDS": "60",
            "SEMCACHE_MAX_ENTRIES": "5",
            "SEMCACHE_TTL_SECONDS": "none",
            "SEMCACHE_ENABLED": "no",
            "SEMCACHE_NORMALIZE": "loose",
            "HOME": "/root",
        }
    )

    assert found == Config(
        stale_seconds=60.0, max_entries=5, ttl_seconds=None, enabled=False, normalize="loose"
    )


@pytest.mark.parametrize(("name", "text"), [("MAX_ENTRIES", "many"), ("ENABLED", "perhaps")])
def test_an_environment_that_cannot_be_read_is_named(name: str, text: str) -> None:
    """By the variable, as it has to be mended there."""
    with pytest.raises(ArgumentError, match=f"SEMCACHE_{name}='{text}'"):
        Config.from_environment({f"SEMCACHE_{name}": text})


def test_what_is_perishable_may_be_kept_for_a_while() -> None:
    """Not at all by default; for the time given, where one is."""
    price = "What is the current price of the iPhone 15?"
    clock = Clock()
    with SemanticCache(embedder=False) as plain:
        refused = plain.put(price, "999")
        aside = plain.lookup(price)
    short = Config(perishable_ttl_seconds=60)
    with SemanticCache(embedder=False, config=short, clock=clock) as cache:
        cache.put(price, "999")
        clock.advance(50)
        soon = cache.lookup(price)
        clock.advance(20)
        late = cache.lookup(price)

    assert isinstance(refused, Refused)
    assert isinstance(aside, Bypass)
    assert isinstance(soon, Hit)
    assert not isinstance(late, Hit)


def test_a_ceiling_holds_over_every_lifetime() -> None:
    """Also over one that was to be for ever."""
    clock = Clock()
    with SemanticCache(embedder=False, config=Config(max_ttl_seconds=100), clock=clock) as cache:
        cache.put("How do I cook rice?", "In twice its water.", ttl_seconds=None)
        clock.advance(101)

        assert not isinstance(cache.lookup("How do I cook rice?"), Hit)


def test_personal_data_that_the_prompt_lacks_can_be_kept_from_sharing() -> None:
    """What the prompt itself says may be said again."""
    with SemanticCache(embedder=False, config=Config(share_personal=False)) as cache:
        leaked = cache.put("How do I reach the shop?", "Call 415-555-2671.")
        known = cache.put("Is 415-555-2671 a valid number?", "415-555-2671 is well formed.")

        assert isinstance(leaked, Refused)
        assert leaked.private
        assert isinstance(known, Stored)
