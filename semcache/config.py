"""Settings: frozen, plain values, checked when made. From code, a TOML file or the environment.

Nothing here holds a collaborator: embedder, clock and guards are arguments of SemanticCache.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Final, Literal, get_args, get_type_hints

from semcache.arguments import check_flag, check_folder, check_kind, is_number
from semcache.errors import ArgumentError, FileFormatError

__all__ = [
    "USE_DEFAULT",
    "Config",
    "UseDefault",
    "check_cap",
    "check_lifetime",
    "check_renewal",
    "check_ttl",
]


class UseDefault:
    """The type of USE_DEFAULT: no lifetime was given, take the cache's own."""

    def __repr__(self) -> str:
        return "USE_DEFAULT"


USE_DEFAULT: Final = UseDefault()

_LONGEST_WAIT_SECONDS: Final = 1e6
"""What locks and databases can still count in milliseconds."""


def check_ttl(value: float | timedelta | None, argument: str = "ttl_seconds") -> float | None:
    """Give a lifetime in seconds; None is for ever. Zero, negatives and NaN are errors.

    >>> check_ttl(timedelta(minutes=2))
    120.0
    """
    if value is None:
        return None
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not is_number(value):
        raise ArgumentError(argument, value, "pass seconds, a timedelta, or None for no expiry")
    if value != value or value <= 0:  # noqa: PLR0124  # NaN, also where an int is past a float
        raise ArgumentError(argument, value, "pass more than 0 seconds, or None for no expiry")
    try:
        return None if math.isinf(value) else float(value)
    except OverflowError as error:
        raise ArgumentError(argument, value, "pass None for no expiry") from error


def check_lifetime(value: float | timedelta | UseDefault | None) -> float | UseDefault | None:
    """Check a lifetime that may have been left out."""
    return value if isinstance(value, UseDefault) else check_ttl(value)


def check_cap(value: float | timedelta | None) -> float | None:
    """Give the greatest age that hits may renew an answer to; None is no renewal.

    Infinity is an error: without a cap, a wrong answer that is asked for would never die.
    """
    seconds = check_ttl(value, "renew_up_to_seconds")
    if seconds is None and value is not None:
        raise ArgumentError("renew_up_to_seconds", value, "pass a finite age, or None for none")
    return seconds


def check_renewal(value: float | timedelta | UseDefault | None) -> float | UseDefault | None:
    """Check an age that may have been left out."""
    return value if isinstance(value, UseDefault) else check_cap(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of a cache. Change one with `dataclasses.replace`.

    >>> Config(threshold=0.9).threshold
    0.9
    """

    threshold: float | None = None
    """Lowest cosine served by the semantic tier. None: what was measured for the embedder; where
    nothing was, the tier stands aside. A threshold given here is a floor under any policy."""
    ttl_seconds: float | None = 3600.0
    ttl_jitter: float = 0.05
    """Share of the cache's own lifetime by which it may end early, drawn per entry, so that entries
    stored together do not all expire together. A lifetime given at a call is kept, and so is one
    of less than a minute."""
    max_ttl_seconds: float | None = None
    """Ceiling over every lifetime, also over `ttl_seconds=None` given at a call."""
    renew_up_to_seconds: float | None = None
    """How old an answer may become by being asked for: a hit lets it live for its lifetime from
    then on, never past this age. None: a hit renews nothing, and a wrong answer dies on time."""
    stale_seconds: float = 0.0
    """How long after expiry an answer may still be served while one caller refreshes it."""
    perishable_ttl_seconds: float | None = None
    """Store what is merely perishable (prices, newest versions) this long, not at all if None."""
    namespace: str = "default"
    max_entries: int = 1000
    """Bound of the memory tier; of the whole cache when there is no directory."""
    max_bytes: int = 256 * 1024 * 1024
    max_disk_bytes: int = 2 * 1024 * 1024 * 1024
    normalize: Literal["safe", "loose"] = "safe"
    top_k: int = 8
    semantic: bool = True
    near_duplicates: bool = True
    semantic_max_turns: int | None = None
    """Conversations of more messages than this are not asked of the semantic tier. All messages
    count, a system prompt and the last one included."""
    cache_sampled: bool = True
    max_temperature: float | None = None
    """Cache only calls at this temperature or below; a call that names none does not qualify."""
    dynamic_filter: bool = True
    store_empty: bool = False
    """Whether None, blank texts and empty collections are stored; 0 and False always are."""
    store_refusals: bool = True
    share_personal: bool = True
    """Whether an answer with personal data that the prompt lacks may be stored at all."""
    enabled: bool = True
    serve_share: float = 1.0
    """Share of would-be hits that are served; the rest are decided, counted and called."""
    embed_timeout_seconds: float = 1.0
    load_timeout_seconds: float = 60.0
    store_timeout_seconds: float = 0.2
    queue_size: int = 1000
    durability: Literal["process", "power"] = "process"
    """What a stored answer survives once `put` or `flush` has returned: the death of the process,
    or a power cut as well. With "process" a power cut may take the answers of the last moments;
    with "power" each write waits for the disk itself. What was invalidated, forgotten or taken out
    stays so after a power cut with either."""

    def __post_init__(self) -> None:
        _share("threshold", self.threshold)
        _share("ttl_jitter", self.ttl_jitter)
        _share("serve_share", self.serve_share)
        for name in ("ttl_seconds", "max_ttl_seconds", "perishable_ttl_seconds"):
            object.__setattr__(self, name, check_ttl(getattr(self, name), name))
        object.__setattr__(self, "renew_up_to_seconds", check_cap(self.renew_up_to_seconds))
        for name in ("max_entries", "max_bytes", "max_disk_bytes", "top_k", "queue_size"):
            _whole(name, getattr(self, name))
        for name in ("embed_timeout_seconds", "load_timeout_seconds", "store_timeout_seconds"):
            _positive(name, getattr(self, name))
        if not is_number(self.stale_seconds) or not self.stale_seconds >= 0:
            raise ArgumentError("stale_seconds", self.stale_seconds, "pass 0 or more seconds")
        if self.normalize not in ("safe", "loose"):
            raise ArgumentError(
                "normalize", self.normalize, 'pass "safe", "loose", or a callable to SemanticCache'
            )
        if self.durability not in ("process", "power"):
            raise ArgumentError("durability", self.durability, 'pass "process" or "power"')
        if not isinstance(self.namespace, str) or not self.namespace:
            raise ArgumentError("namespace", self.namespace, "pass a non-empty string")
        self._check_switches()

    def _check_switches(self) -> None:
        if self.max_temperature is not None and not is_number(self.max_temperature):
            raise ArgumentError("max_temperature", self.max_temperature, "pass a number or None")
        if self.semantic_max_turns is not None:
            _whole("semantic_max_turns", self.semantic_max_turns)
        for field in fields(self):
            if field.type == "bool":
                check_flag(field.name, getattr(self, field.name))

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], source: str = "settings") -> Config:
        """Make settings from plain values; an unknown name is an error that lists the known.

        >>> Config.from_mapping({"threshold": 0.9}) == Config(threshold=0.9)
        True
        """
        check_kind("values", values, Mapping, f"pass a table of names and values from {source}")  # type: ignore[type-abstract]  # only asked for
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise ArgumentError(name, values[name], f"unknown in {source}: {sorted(known)}")
        return cls(**values)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Config:
        """Read `[semcache]`, or `[tool.semcache]` of a pyproject.toml, or a flat file.

        Raises:
            ArgumentError: a name or a value that cannot work.
            FileFormatError: not a TOML file, or a pyproject.toml without the table.
        """
        file = check_folder("path", path)
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise FileFormatError(f"{path}: not a readable TOML file: {error}") from error
        table = document.get("tool", {}).get("semcache", document.get("semcache", document))
        if table is document and file.name == "pyproject.toml":
            raise FileFormatError(f"{path}: there is no table [tool.semcache]: add one")
        return cls.from_mapping(table, str(path))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Config:
        """Read SEMCACHE_THRESHOLD, SEMCACHE_TTL_SECONDS and so on; "none" means None.

        Raises ArgumentError, which names the variable.

        >>> Config.from_environment({"SEMCACHE_TTL_SECONDS": "none"}).ttl_seconds is None
        True
        """
        source = os.environ if environment is None else environment
        check_kind("environment", source, Mapping, "pass a mapping of names to texts")  # type: ignore[type-abstract]  # only asked for
        hints = get_type_hints(cls)
        values = {
            name: _parse(f"SEMCACHE_{name.upper()}", source[f"SEMCACHE_{name.upper()}"], hint)
            for name, hint in hints.items()
            if f"SEMCACHE_{name.upper()}" in source
        }
        return cls.from_mapping(values, "the environment")


def _parse(name: str, text: str, hint: Any) -> Any:
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and text.strip().lower() in ("none", ""):
        return None
    if bool in kinds:
        if text.strip().lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise ArgumentError(name, text, "pass true or false")
        return text.strip().lower() in ("1", "true", "yes")
    try:
        return int(text) if int in kinds else float(text) if float in kinds else text
    except ValueError as error:
        raise ArgumentError(name, text, "pass a number") from error


def _share(name: str, value: float | None) -> None:
    if value is None:
        return
    if not is_number(value) or not 0 <= value <= 1:
        raise ArgumentError(name, value, "pass a number from 0 to 1")


def _whole(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(name, value, "pass a whole number of 1 or more")


def _positive(name: str, value: float) -> None:
    if not is_number(value) or not value > 0:
        raise ArgumentError(name, value, "pass more than 0 seconds")
    if value > _LONGEST_WAIT_SECONDS:
        raise ArgumentError(name, value, f"pass at most {_LONGEST_WAIT_SECONDS:,.0f} seconds")
