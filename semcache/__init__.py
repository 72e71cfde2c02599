"""semcache: answers an LLM call from an earlier answer when, and only when, that answer is right.

Names only. Importing this imports neither torch nor faiss.
"""

from semcache.admit.dynamic import DynamicRules
from semcache.admit.response import Admission
from semcache.cache import SemanticCache
from semcache.config import USE_DEFAULT, Config
from semcache.decision import Bypass, Decision, Hit, Miss, Reason, Refused, Step, Stored, Tier
from semcache.embed.sentence_transformers import SentenceTransformerEmbedder
from semcache.entry import Entry
from semcache.errors import SemcacheError
from semcache.protocols import Embedder
from semcache.value import register

__all__ = [
    "USE_DEFAULT",
    "Admission",
    "Bypass",
    "Config",
    "Decision",
    "DynamicRules",
    "Embedder",
    "Entry",
    "Hit",
    "Miss",
    "Reason",
    "Refused",
    "SemanticCache",
    "SemcacheError",
    "SentenceTransformerEmbedder",
    "Step",
    "Stored",
    "Tier",
    "register",
]
__version__ = "0.1.0"
