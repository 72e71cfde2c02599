"""The gate: what may be looked up (`dynamic`) and what may be stored (`response`, `personal`)."""

from semcache.admit.dynamic import DynamicKind, DynamicRules, Finding
from semcache.admit.personal import personal_data
from semcache.admit.response import Admission
from semcache.admit.rule import CustomRule, Rule, as_rule
from semcache.admit.shape import answer_text, has_tool_calls

__all__ = [
    "Admission",
    "CustomRule",
    "DynamicKind",
    "DynamicRules",
    "Finding",
    "Rule",
    "answer_text",
    "as_rule",
    "has_tool_calls",
    "personal_data",
]
