"""Everything semcache raises on purpose.

    SemcacheError
    ├── ArgumentError (ValueError)       an argument or setting has a value that cannot work
    ├── MissingExtraError (ImportError)  an optional package is not installed
    ├── EmbedderError
    │   ├── DimensionError               vectors of another width than the index
    │   └── ModelDigestError             weights on disk are not the published ones
    ├── StoreError
    │   ├── ForeignDirectoryError        the folder holds something that is not ours
    │   ├── CorruptRecordError           a stored record does not match its checksum
    │   └── StoreTimeoutError
    ├── ValueFormError (TypeError)       a value has no stable or storable form
    ├── FileFormatError (ValueError)     an import, warm or data file cannot be read
    └── endpoint.EndpointError           a model behind an address did not answer

Each message names the argument, the value and the remedy. None of them reaches the caller of a
decorated function: there the cache turns a failure into a Miss or a Bypass and counts it.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "CorruptRecordError",
    "DimensionError",
    "EmbedderError",
    "FileFormatError",
    "ForeignDirectoryError",
    "MissingExtraError",
    "ModelDigestError",
    "SemcacheError",
    "StoreError",
    "StoreTimeoutError",
    "ValueFormError",
]


class SemcacheError(Exception):
    """The root of all errors that semcache raises on purpose."""


class ArgumentError(SemcacheError, ValueError):
    """An argument has a value that cannot work. Says which, what it was and what to pass."""

    def __init__(self, argument: str, value: object, remedy: str) -> None:
        super().__init__(f"{argument}={value!r}: {remedy}")
        self.argument = argument
        self.value = value
        self.remedy = remedy


class MissingExtraError(SemcacheError, ImportError):
    """An optional package is missing. The message has the exact command."""

    def __init__(self, package: str, command: str) -> None:
        super().__init__(f"{package} is not installed. Install it with: {command}")
        self.package = package
        self.command = command


class EmbedderError(SemcacheError):
    """The embedder failed or returned something that is not a batch of vectors."""


class DimensionError(EmbedderError):
    """Vectors have another width than the index."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(
            f"the index holds vectors of width {expected}, the embedder gave width {got}: "
            "pass the embedder the cache was filled with, or open another directory"
        )
        self.expected = expected
        self.got = got


class ModelDigestError(EmbedderError):
    """The weights on disk are not the published ones."""


class StoreError(SemcacheError):
    """The store could not do what was asked."""


class ForeignDirectoryError(StoreError):
    """The folder holds something that semcache did not write and will not touch."""


class CorruptRecordError(StoreError):
    """A stored record does not match its checksum or its format."""


class StoreTimeoutError(StoreError):
    """The store did not answer in time."""


class ValueFormError(SemcacheError, TypeError):
    """A value has no stable form to be keyed by, or no form in which it can be stored."""


class FileFormatError(SemcacheError, ValueError):
    """A file cannot be read: names the file, the line where known, and what was expected."""
