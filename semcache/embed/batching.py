"""One thread that embeds for all: what callers ask meanwhile goes into one forward pass.

It decides which texts reach the embedder (not blank, readable, not endless) and checks what comes
back. An error becomes a reason, never a dead thread. Deadlines are the caller's business.
"""

from __future__ import annotations

import atexit
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias
from weakref import WeakSet

import numpy as np

from semcache.decision import Reason
from semcache.protocols import Embedder, Vectors
from semcache.vectors import unit_rows

__all__ = [
    "BATCH_CHARACTERS",
    "BATCH_TEXTS",
    "Batch",
    "Embedded",
    "Embedding",
    "Job",
    "NoEmbedding",
    "Worker",
    "is_loaded",
    "known_width",
]

# Bounds of one forward pass, so that a batch ends well inside the deadline of its first caller.
BATCH_TEXTS = 32
BATCH_CHARACTERS = 4_000
# More of one text is not read: past this the near-duplicate tier sees the text, this one does not.
_MOST_WINDOWS = 4
_MOST_CHARACTERS = 20_000
# An embedder without `windows` may cut a longer text without a word. Then it is asked for the text
# without its end, and without its beginning, as well: what it read changes the vector.
_SURELY_READ_BYTES = 1_000
_END_CHARACTERS = 16
_UNCHANGED = 1e-6  # in each number of a row: what batches of another shape may differ by
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """The vectors of one text: float32, shape (windows, dimension), rows of unit length."""

    vectors: Vectors


@dataclass(frozen=True, slots=True)
class NoEmbedding:
    """Why one text has no vectors."""

    reason: Reason
    detail: str = ""


Embedded: TypeAlias = Embedding | NoEmbedding


@dataclass(frozen=True, slots=True)
class _Cut:
    """What is embedded of one text, and what is embedded only to see whether all of it is read."""

    pieces: list[str]
    probes: Sequence[str] = ()


class Job:
    """Texts that one caller waits for."""

    __slots__ = ("abandoned", "done", "error", "results", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.results: list[Embedded] = []
        self.error: BaseException | None = None
        self.abandoned = False
        # A lock taken at birth and released once is the cheapest event there is.
        self.done = threading.Lock()
        self.done.acquire()

    @property
    def characters(self) -> int:
        """Length of all texts together."""
        return sum(map(len, self.texts))


@dataclass(slots=True, eq=False)
class Batch:
    """Jobs in one forward pass. `overdue` is set by a caller who waited for it in vain."""

    jobs: list[Job]
    overdue: bool = False


class Worker:
    """Loads an embedder if it needs that, then embeds until it is told to stop.

    `state` is "loading" until the embedder can be asked, then "ready" or, with `error`, "failed".
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self.state: Literal["loading", "ready", "failed"] = (
            "ready" if is_loaded(embedder) else "loading"
        )
        self.error: BaseException | None = None
        self.loaded = threading.Event()
        self.leaving = False
        self.running: Batch | None = None
        self.batches = 0
        self.name: str | None = None
        self.dimension: int | None = None
        self.thread = threading.Thread(target=self._work, name="semcache-embed", daemon=True)
        self.thread.start()
        _WORKERS.add(self)

    def submit(self, job: Job) -> None:
        """Put a job in the queue; `job.done` is released when it has results or an error."""
        self._queue.put(job)

    def stop(self) -> None:
        """End the thread after the jobs already queued."""
        self._queue.put(None)

    def _work(self) -> None:
        self._load()
        if self.state == "failed":
            return
        while (job := self._queue.get()) is not None and not self.leaving:
            jobs = self._gather(job)
            self.running = Batch(jobs)
            self._run(jobs)
            self.running = None

    def _load(self) -> None:
        try:
            if self.state == "loading":
                self._embedder.load()  # type: ignore[attr-defined]  # looked up by is_loaded
                self._identify()
                self.state = "ready"
        # Callers must hear of anything, SystemExit too: here it would only end the thread.
        except BaseException as error:
            self.error = error
            self.state = "failed"
        finally:
            self.loaded.set()

    def _identify(self) -> None:
        self.dimension = self._embedder.dimension
        self.name = self._embedder.name

    def _gather(self, job: Job) -> list[Job]:
        """Add what is already waiting, as far as one forward pass goes."""
        jobs = [] if job.abandoned else [job]
        texts, characters = len(job.texts), job.characters
        while texts < BATCH_TEXTS and characters < BATCH_CHARACTERS:
            try:
                more = self._queue.get_nowait()
            except Empty:
                break
            if more is None:
                self._queue.put(None)
                break
            if not more.abandoned:
                jobs.append(more)
                texts, characters = texts + len(more.texts), characters + more.characters
        return jobs

    def _run(self, jobs: list[Job]) -> None:
        try:
            self.batches += 1
            results = self._embed([text for job in jobs for text in job.texts])
        # As above: a caller waits for every job.
        except BaseException as error:
            if len(jobs) == 1:
                jobs[0].error = error
                jobs[0].done.release()
                return
            # One caller's text must not fail another's.
            for job in jobs:
                self._run([job])
            return
        start = 0
        for job in jobs:
            job.results = results[start : start + len(job.texts)]
            start += len(job.texts)
            job.done.release()

    def _embed(self, texts: list[str]) -> list[Embedded]:
        cut = [self._cut(text) for text in texts]
        asked = [[] if isinstance(c, NoEmbedding) else [*c.pieces, *c.probes] for c in cut]
        rows = self._rows([text for group in asked for text in group])
        results: list[Embedded] = []
        start = 0
        for text, group in zip(cut, asked, strict=True):
            if isinstance(text, NoEmbedding):
                results.append(text)
            else:
                results.append(_embedding(rows[start : start + len(group)], len(text.pieces)))
            start += len(group)
        return results

    def _rows(self, windows: list[str]) -> Vectors:
        if self.dimension is None:
            self._identify()
        rows = self._embedder.embed(windows) if windows else np.empty((0, self.dimension or 0))
        return unit_rows(rows, count=len(windows), dimension=self.dimension)

    def _cut(self, text: str) -> _Cut | NoEmbedding:
        """The windows of `text`, or why it is not for the embedder."""
        if _is_blank(text):
            return NoEmbedding(Reason.BLANK_TEXT)
        if not any(map(str.isalnum, text)):
            # Its vector would be that of no meaning, and all such texts near one another.
            return NoEmbedding(Reason.UNREADABLE, "there is no letter or digit in it")
        if len(text) > _MOST_CHARACTERS:
            return _too_long(f"{len(text)} characters, at most {_MOST_CHARACTERS}")
        unread = _unread(self._embedder, text)
        if unread is not None:
            return NoEmbedding(Reason.UNREADABLE, unread)
        windows = getattr(self._embedder, "windows", None)
        pieces: list[str] = [] if windows is None else list(windows(text))
        if len(pieces) > _MOST_WINDOWS:
            return _too_long(f"{len(pieces)} windows, at most {_MOST_WINDOWS}")
        if pieces or len(text.encode("utf-8", "surrogatepass")) <= _SURELY_READ_BYTES:
            return _Cut(pieces or [text])
        return _Cut([text], [text[:-_END_CHARACTERS], text[_END_CHARACTERS:]])


def is_loaded(embedder: Embedder) -> bool:
    """Whether it can be asked at once: it has no `load`, or says that it is `loaded`."""
    return getattr(embedder, "load", None) is None or bool(getattr(embedder, "loaded", False))


def known_width(embedder: Embedder) -> int | None:
    """The width of its vectors, if it can be told at once."""
    if not is_loaded(embedder):
        return None
    untold: Any = object()
    known = getattr(embedder, "known_dimension", untold)
    return embedder.dimension if known is untold else known


def _is_blank(text: str) -> bool:
    """Nothing in it shows: only blanks, controls and zero-width characters."""
    return all(unicodedata.category(char) in _UNSEEN for char in text)


def _unread(embedder: Embedder, text: str) -> str | None:
    """What the embedder cannot read; None if it reads everything or cannot say."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "half a character: a lone surrogate, which no tokenizer takes"
    unknown = getattr(embedder, "unknown", None)
    if unknown is not None:
        words = list(unknown(text))
        shown = ", ".join(repr(word[:20]) for word in words[:5])
        return f"unknown to the embedder: {shown}" if words else None
    readable = getattr(embedder, "readable", None)
    return "not readable to the embedder" if readable is not None and not readable(text) else None


def _embedding(rows: Vectors, windows: int) -> Embedded:
    """The first `windows` rows, unless leaving out an end of the text gave the same row."""
    vectors, probes = rows[:windows], rows[windows:]
    if not vectors.any(axis=1).all():
        return NoEmbedding(Reason.UNREADABLE, "the embedder gave a vector of zeros")
    if len(probes) and float(np.abs(probes - vectors[0]).max(axis=1).min()) <= _UNCHANGED:
        return _too_long("an end of the text does not change the vector; give it `windows`")
    return Embedding(vectors)


def _too_long(how: str) -> NoEmbedding:
    return NoEmbedding(Reason.UNREADABLE, f"too long for the embedder: {how}")


_WORKERS: WeakSet[Worker] = WeakSet()
_EXIT_SECONDS = 1.0


def _leave() -> None:
    """Let a running forward pass end: torch aborts a process that exits under it."""
    workers = list(_WORKERS)
    for worker in workers:
        worker.leaving = True
        worker.stop()
    for worker in workers:
        worker.thread.join(_EXIT_SECONDS)


atexit.register(_leave)
