"""Shows a cache at work on real questions, and says plainly which part of the show is simulated."""

from __future__ import annotations

from semcache.demo.replay import ReplayResult, WrongHit, replay
from semcache.demo.show import Demo, Settings, run_demo, run_live

__all__ = ["Demo", "ReplayResult", "Settings", "WrongHit", "replay", "run_demo", "run_live"]
