"""What the cache asks for vectors: an answer or a reason, always in bounded time.

A slow or broken embedder costs a call its deadline at most, then nothing while it stays that way:
nobody waits for the one thread that is stuck, and five failures in a row close the way for 30
seconds. Nothing here decides what a vector is used for.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias
from weakref import WeakSet, finalize

from semcache.decision import Reason
from semcache.embed.batching import (
    BATCH_CHARACTERS,
    BATCH_TEXTS,
    Batch,
    Embedded,
    Job,
    NoEmbedding,
    Worker,
    is_loaded,
)
from semcache.errors import ArgumentError, MissingExtraError
from semcache.protocols import Embedder

__all__ = ["EmbeddingService", "State"]

State: TypeAlias = Literal["absent", "unloaded", "loading", "ready", "failed", "closed"]

_FAILURES_TO_OPEN = 5
_OPEN_SECONDS = 30.0

_log = logging.getLogger("semcache")


class EmbeddingService:
    """An embedder with a deadline, a worker thread and a circuit breaker.

    Args:
        embedder: None for no semantic tier at all.
        embed_timeout_seconds: how long a call may wait for vectors once the model is loaded.
        load_timeout_seconds: how long `preload()` waits, and after which a load counts as stuck.
        clock: monotonic seconds, for the circuit breaker and the age of a load.

    Example:
        >>> service = EmbeddingService(None)
        >>> service.state, service.embed("hello").reason.name
        ('absent', 'NO_EMBEDDER')
    """

    def __init__(
        self,
        embedder: Embedder | None,
        *,
        embed_timeout_seconds: float = 1.0,
        load_timeout_seconds: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for argument, seconds in (
            ("embed_timeout_seconds", embed_timeout_seconds),
            ("load_timeout_seconds", load_timeout_seconds),
        ):
            if not 0 < seconds <= threading.TIMEOUT_MAX:
                raise ArgumentError(argument, seconds, "pass a finite number of seconds above 0")
        self.embedder = embedder
        self._embed_timeout = embed_timeout_seconds
        self._load_timeout = load_timeout_seconds
        self._clock = clock
        self._closed = False
        self._counts = dict.fromkeys(("texts", "failures", "timeouts", "refused"), 0)
        self._batches = 0
        self._logged: set[str] = set()
        self._begin()
        _SERVICES.add(self)

    @property
    def state(self) -> State:
        """Whether vectors can be had. "absent": there is no model; "failed": it did not load."""
        if self._closed:
            return "closed"
        if self.embedder is None:
            return "absent"
        worker = self._worker
        if worker is None:
            return "ready" if is_loaded(self.embedder) else "unloaded"
        if isinstance(worker.error, MissingExtraError):
            return "absent"
        return worker.state

    @property
    def name(self) -> str | None:
        """The embedder's fingerprint; None until it is loaded or first used."""
        return None if self._worker is None else self._worker.name

    @property
    def dimension(self) -> int | None:
        """The width of its vectors; None until it is loaded or first used."""
        return None if self._worker is None else self._worker.dimension

    def start(self) -> None:
        """Begin loading, if that has not begun. Returns at once."""
        self._started()

    def preload(self, timeout_seconds: float | None = None) -> bool:
        """Load and wait, `load_timeout_seconds` by default. Say whether vectors can be had."""
        worker = self._started()
        if worker is not None:
            worker.loaded.wait(self._load_timeout if timeout_seconds is None else timeout_seconds)
        return self.state == "ready"

    def embed(self, text: str) -> Embedded:
        """Return the vectors of one text, one a window, or why there are none.

        Never raises for what the embedder does, never waits longer than `embed_timeout_seconds`,
        and not at all while the model loads.
        """
        return self._embed([text])[0]

    def embed_many(self, texts: Sequence[str]) -> list[Embedded]:
        """Return one answer a text, in order. The deadline holds for each batch of them."""
        results: list[Embedded] = []
        chunk: list[str] = []
        characters = 0
        for text in texts:
            if chunk and (len(chunk) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
                results += self._embed(chunk)
                chunk, characters = [], 0
            chunk.append(text)
            characters += len(text)
        return results + self._embed(chunk) if chunk else results

    def stats(self) -> dict[str, int]:
        """Counts of texts asked for, failed, timed out and refused calls, and forward batches."""
        with self._lock:
            batches = self._batches + (0 if self._worker is None else self._worker.batches)
            return {**self._counts, "batches": batches}

    def close(self) -> None:
        """End the worker thread. Later calls get a reason."""
        with self._lock:
            self._closed = True
            self._retire()

    def _begin(self) -> None:
        """Start from nothing: at birth, and in a forked child, where no other thread exists."""
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._stop: finalize[[], EmbeddingService] | None = None
        self._load_began = 0.0
        self._failures = 0
        self._open_until = 0.0
        self._last = NoEmbedding(Reason.EMBEDDER_FAILED)

    def _started(self) -> Worker | None:
        worker = self._worker
        if worker is not None or self._closed or self.embedder is None:
            return worker
        with self._lock:
            if self._worker is None and not self._closed:
                self._load_began = self._clock()
                self._worker = Worker(self.embedder)
                # A service that is dropped without close() takes its thread with it.
                self._stop = finalize(self, self._worker.stop)
                self._stop.atexit = False
            return self._worker

    def _retire(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._batches += self._worker.batches
        if self._stop is not None:
            self._stop.detach()
        self._worker = self._stop = None

    def _embed(self, texts: list[str]) -> list[Embedded]:
        worker = self._started()
        refusal = self._refusal(worker)
        with self._lock:
            self._counts["texts"] += len(texts)
            self._counts["refused"] += refusal is not None
        if worker is None or refusal is not None:
            return [refusal or self._last] * len(texts)
        job = Job(texts)
        before = worker.running
        done = False
        worker.submit(job)
        try:
            done = job.done.acquire(timeout=self._embed_timeout)
        finally:
            job.abandoned = not done
        if not done:
            return [self._overdue(worker, job, before)] * len(texts)
        if job.error is not None:
            return [self._failed(job.error)] * len(texts)
        self._failures = 0
        return job.results

    def _refusal(self, worker: Worker | None) -> NoEmbedding | None:
        """Why the embedder is not even asked, if so."""
        if worker is None:
            return NoEmbedding(Reason.NO_EMBEDDER, "closed" if self._closed else "")
        if worker.error is not None:
            return self._not_loaded(worker.error)
        if worker.state == "loading":
            seconds = self._clock() - self._load_began
            if seconds > self._load_timeout:
                return NoEmbedding(Reason.EMBEDDER_TIMEOUT, f"loading since {seconds:.0f} s")
            return NoEmbedding(Reason.LOADING)
        running = worker.running
        if running is not None and running.overdue:
            return NoEmbedding(Reason.EMBEDDER_TIMEOUT, "an earlier call is still stuck")
        wait = self._open_until - self._clock()
        if wait > 0:
            note = f"not asked again for {wait:.0f} s, after {self._failures} failures in a row"
            return NoEmbedding(self._last.reason, f"{self._last.detail}; {note}")
        return None

    def _not_loaded(self, error: BaseException) -> NoEmbedding:
        absent = isinstance(error, MissingExtraError)
        detail = str(error) if absent else _text_of(error)
        self._log_once("load", f"no semantic tier: {detail}")
        return NoEmbedding(Reason.NO_EMBEDDER if absent else Reason.EMBEDDER_FAILED, detail)

    def _failed(self, error: BaseException) -> NoEmbedding:
        failure = NoEmbedding(Reason.EMBEDDER_FAILED, _text_of(error))
        self._log_once(type(error).__name__, f"the embedder failed: {failure.detail}")
        # What an error says may quote the text of its own caller: others hear its kind only.
        self._note("failures", replace(failure, detail=type(error).__name__))
        return failure

    def _overdue(self, worker: Worker, job: Job, before: Batch | None) -> NoEmbedding:
        waited = f"no vectors within {self._embed_timeout:g} s"
        failure = NoEmbedding(Reason.EMBEDDER_TIMEOUT, waited)
        self._log_once("timeout", f"the embedder is slow: {waited}")
        running = worker.running
        stuck = running is not None and (job in running.jobs or running is before)
        # Many callers may wait for one stuck batch: that is one failure.
        if running is not None and stuck and not running.overdue:
            running.overdue = True
            self._note("timeouts", failure)
        return failure

    def _note(self, count: str, failure: NoEmbedding) -> None:
        with self._lock:
            self._counts[count] += 1
            self._failures += 1
            self._last = failure
            if self._failures >= _FAILURES_TO_OPEN:
                self._open_until = self._clock() + _OPEN_SECONDS

    def _log_once(self, kind: str, message: str) -> None:
        if kind not in self._logged:
            self._logged.add(kind)
            _log.warning("semcache: %s", message)

    def _reset_after_fork(self) -> None:
        if self._stop is not None:
            self._stop.detach()
        self._begin()


def _text_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


_SERVICES: WeakSet[EmbeddingService] = WeakSet()


def _reset_services() -> None:
    for service in list(_SERVICES):
        service._reset_after_fork()


os.register_at_fork(after_in_child=_reset_services)
