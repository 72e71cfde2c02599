"""The judge decides whether a candidate may be served: guards first, then a policy.

It finds no candidates and keeps nothing.
"""

from semcache.judge.guards import DEFAULT_GUARDS, Guard, judge_pair, preload
from semcache.judge.threshold import Threshold

__all__ = ["DEFAULT_GUARDS", "Guard", "Threshold", "judge_pair", "preload"]
