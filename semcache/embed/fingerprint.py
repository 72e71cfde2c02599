"""The name of a model as an embedder: whatever could change a vector is in it.

Two embedders with one name may share a cache, so the name is built from digests of the weights and
the tokenizer, not from what a folder is called.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from semcache.embed.pieces import Pieces

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["effective_prompt", "fingerprint", "parameters_digest"]


def fingerprint(
    model: SentenceTransformer, label: str, sha256: str, prompt: str, pieces: Pieces | None
) -> str:
    """Name weights, tokenizer, width, pooling, prompt, window and precision."""
    pooling = next((m.pooling_mode for m in model if hasattr(m, "pooling_mode")), "own")
    precision = next((str(p.dtype) for p in model.parameters()), "none").removeprefix("torch.")
    vocabulary = "none"
    window = "all"
    if pieces is not None:
        vocabulary = hashlib.sha256(pieces.settings.encode()).hexdigest()[:8]
        window = str(pieces.max_tokens)
    return (
        f"{label}@{sha256[:16]} tokenizer={vocabulary} "
        f"dimension={model.get_embedding_dimension()} pooling={pooling} prompt={prompt!r} "
        f"window={window} precision={precision}"
    )


def effective_prompt(model: SentenceTransformer, prompt: str | None) -> str:
    """The text that `encode` will put before every text; None: the model's own default."""
    if prompt is not None:
        return prompt
    default = model.default_prompt_name
    return "" if default is None else str(model.prompts.get(default) or "")


def parameters_digest(model: SentenceTransformer) -> str:
    """The sha256 of a model given as an object: of its parameters by name."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().float().contiguous().numpy().tobytes())
    return digest.hexdigest()
