"""Fills a cache ahead of its callers, from files of questions with their approved answers."""

from __future__ import annotations

from semcache.warm.callers import caller
from semcache.warm.fill import WarmReport, warm
from semcache.warm.limits import Budget, Pace
from semcache.warm.rows import Columns, Row, Sheet, read_rows

__all__ = [
    "Budget",
    "Columns",
    "Pace",
    "Row",
    "Sheet",
    "WarmReport",
    "caller",
    "read_rows",
    "warm",
]
