"""SemanticCache: look up, store, invalidate. Opens the rooms and walks between them.

It decides nothing of its own: the walk decides what is served, the writer what is stored, the store
what is kept. Its one promise is that a failure inside any of them never reaches a wrapped call.
The file is longer than most: it is the public face, one short method for each thing a user does.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import random
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from semcache.admit.dynamic import DynamicRules
from semcache.admit.response import Admission
from semcache.arguments import (
    check_callable,
    check_flag,
    check_folder,
    check_items,
    check_kind,
    check_known,
    check_wait,
)
from semcache.aside import run_aside, run_behind
from semcache.canonical import plain_text
from semcache.config import USE_DEFAULT, Config, UseDefault, check_lifetime, check_renewal
from semcache.decision import Bypass, Decision, Hit, Miss, Near, Reason, Refused, Stored
from semcache.draft import Draft
from semcache.embed.adapt import as_embedder
from semcache.embed.batching import Embedded, NoEmbedding
from semcache.entry import Entry
from semcache.epochs import is_reserved, model_tag, namespace_tag
from semcache.errors import (
    ArgumentError,
    EmbedderError,
    SemcacheError,
    StoreError,
    StoreTimeoutError,
    ValueFormError,
)
from semcache.heavy import imported
from semcache.judge.guards import DEFAULT_GUARDS
from semcache.judge.guards import preload as preload_judge
from semcache.match.neardup import preload as preload_near_duplicates
from semcache.request import Identity, Messages, Request
from semcache.rooms import Collaborators, Rooms, warn_once
from semcache.telemetry import Stats
from semcache.text.core import default_core
from semcache.text.normalize import Form
from semcache.walk import PLAIN, Handle, Options, Probe, apart

if TYPE_CHECKING:
    from semcache.decorator import Decorate
    from semcache.protocols import Guard

__all__ = ["SemanticCache"]

_log = logging.getLogger("semcache")
_OPEN: weakref.WeakSet[SemanticCache] = weakref.WeakSet()


class SemanticCache:
    """A semantic prompt cache: answers a call from an earlier answer that is right for it.

    Args:
        directory: where entries are kept; None keeps them in memory only. One directory may be
            open in several processes at once.
        threshold: lowest cosine that the semantic tier serves, 0 to 1. Left out: what was measured
            for the embedder (0.95 for all-MiniLM-L6-v2, else its `default_threshold`); without
            that the semantic tier is off, and says so. Given: a floor under any policy.
        ttl_seconds: lifetime of an answer; a timedelta is accepted, None is for ever, 0 an error.
        namespace: the tenant whose entries these calls see, unless a call names another.
        embedder: None for all-MiniLM-L6-v2, a model name or path, an object with `embed`, `name`
            and `dimension`, or one with `encode`. False switches the semantic tier off.
        clock: wall clock in seconds.
        max_entries: bound of the memory tier in entries (1,000).
        max_bytes: bound of the memory tier in bytes (256 MiB).
        max_disk_bytes: bound of the directory's entries in bytes (2 GiB).
        config: all settings at once; arguments given beside it win.
        normalize: "safe", "loose" or a module-level callable: how texts are levelled for the key.
        core: a module-level callable that takes the part of a text that is embedded.
        view: a module-level callable from messages to the messages that identify the call, for
            dropping a clock or an id from a system prompt.
        guards: vetoes, in order; the default set reads numbers, negation, names and so on.
        rules: the dynamic-query filter; `DynamicRules.default().extended(...)` adds to it.
        admission: what may be stored.
        on_decision: called with each decision, after it was made.
        replace_embedder: open a directory whose vectors have another width; they are left unused.
        seed: of the random choices (expiry jitter, `serve_share`).

    Raises:
        ArgumentError: an argument has a value that cannot work.
        ForeignDirectoryError, StoreError: the directory is not ours or cannot be used.
        DimensionError: the directory was filled by an embedder of another width.

    >>> cache = SemanticCache(embedder=False)
    >>> cache.put("What is 2 + 2?", "4").entry_id == cache.lookup("What is 2 + 2?").entry_id
    True
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        threshold: float | None = None,
        ttl_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        namespace: str | None = None,
        embedder: object = None,
        clock: Callable[[], float] = time.time,
        max_entries: int | None = None,
        max_bytes: int | None = None,
        max_disk_bytes: int | None = None,
        config: Config | None = None,
        normalize: Form | None = None,
        core: Callable[[str], str] | None = None,
        view: Callable[[Any], Any] | None = None,
        guards: Sequence[Guard] = DEFAULT_GUARDS,
        rules: DynamicRules | None = None,
        admission: Admission | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        replace_embedder: bool = False,
        seed: int | None = None,
    ) -> None:
        for name, value in (("clock", clock), ("on_decision", on_decision), ("core", core)):
            check_callable(name, value)
        check_flag("replace_embedder", replace_embedder)
        given: dict[str, Any] = {
            "threshold": threshold,
            "namespace": namespace,
            "max_entries": max_entries,
            "max_bytes": max_bytes,
            "max_disk_bytes": max_disk_bytes,
            "normalize": normalize if isinstance(normalize, str) else None,
            "ttl_seconds": ttl_seconds,
        }
        left_out = (None, USE_DEFAULT)
        changes = {name: value for name, value in given.items() if value not in left_out}
        if ttl_seconds is None:
            changes["ttl_seconds"] = None
        base = Config() if config is None else config
        self.config = replace(check_kind("config", base, Config, "pass a Config"), **changes)
        self._clock = clock
        self._chance = _chance(seed)
        self._on_decision = on_decision
        self._identity = Identity(normalize or self.config.normalize, core, view)
        self._core = core or default_core
        self._serving: dict[str, tuple[bool, float]] = {}
        self._rooms = Rooms(
            None if directory is None else check_folder("directory", directory),
            self.config,
            Collaborators(
                embedder=None if embedder is False else as_embedder(embedder),
                clock=clock,
                core=self._core,
                guards=_guards(guards),
                rules=_choose_rules(self.config, rules),
                admission=_choose_admission(self.config, admission),
                chance=self._chance,
            ),
            replace_embedder=replace_embedder,
        )
        self._telemetry = self._rooms.telemetry
        self._closed = False
        _OPEN.add(self)
        run_behind(_import_ahead, "semcache-import")

    @classmethod
    def from_config(
        cls, path: str | os.PathLike[str], directory: str | os.PathLike[str] | None = None
    ) -> SemanticCache:
        """Open a cache with the settings of a TOML file; see `Config.from_toml`."""
        return cls(directory, config=Config.from_toml(path))

    def lookup(
        self,
        prompt: Messages,
        *,
        model: Any = None,
        namespace: str | None = None,
        scope: object = None,
        dynamic: bool | None = None,
        no_cache: bool = False,
        refresh: bool = False,
        **params: Any,
    ) -> Hit[Any] | Miss | Bypass:
        """Decide whether an earlier answer serves this call. Never raises for the call's content.

        Every keyword that is not named here counts in the scope, None and absent being different.

        Args:
            prompt: a text, a list of chat messages of any provider's shape, or one message.
            model: the model asked; models never share answers.
            namespace: the tenant; the cache's own if left out.
            scope: anything else that must be identical.
            dynamic: True or False overrule the dynamic-query filter for this call.
            no_cache: stand aside.
            refresh: look nothing up, so that a new answer takes the old one's place.
            params: temperature, tools, response_format, system and so on.

        Raises:
            ArgumentError: `namespace` is not a text, or is empty.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "In twice its water.", model="m")
        >>> cache.lookup("how do I cook rice", model="m").tier.value
        'near-duplicate'
        >>> type(cache.lookup("How do I cook rice?", model="another")).__name__
        'Miss'
        """
        options = _check_options(Options(no_cache, refresh, dynamic))
        handle = self.open(prompt, model=model, namespace=namespace, scope=scope, params=params)
        if isinstance(handle, Bypass):
            return self.count(handle)
        return self.decide(handle, options)

    def explain(self, prompt: Messages, **identity: Any) -> Hit[Any] | Miss | Bypass:
        """Decide as `lookup` does, without counting it. Print the result: it is the explanation.

        >>> cache = SemanticCache(embedder=False)
        >>> print(cache.explain("What is the capital of Ghana?"))  # doctest: +ELLIPSIS
        Miss: ...
        """
        options, named = _sort(identity)
        handle = self.open(prompt, **named)
        return handle if isinstance(handle, Bypass) else self.preview(handle, options)

    def lookup_many(self, prompts: Iterable[Messages], **identity: Any) -> list[Decision]:
        """Decide on many prompts of one identity, each in its place, embedded as one batch.

        >>> cache = SemanticCache(embedder=False)
        >>> [type(decision).__name__ for decision in cache.lookup_many(["Hi there", "今天几号"])]
        ['Miss', 'Bypass']
        """
        options, named = _sort(identity)
        started = time.perf_counter()
        several = check_items(
            "prompts", prompts, "pass a list of prompts, or call lookup() for one"
        )
        handles = [self.open(prompt, **named) for prompt in several]
        begun = [
            item if isinstance(item, Bypass) else self._guarded(self._begin, item, options)
            for item in handles
        ]
        waiting = [item for item in begun if isinstance(item, Probe)]
        finished = iter(self._finish_many(waiting))
        decisions = [next(finished) if isinstance(item, Probe) else item for item in begun]
        each = (time.perf_counter() - started) / max(1, len(decisions))
        return [self.count(self._canary(decision, options), each) for decision in decisions]

    async def alookup(self, prompt: Messages, **identity: Any) -> Hit[Any] | Miss | Bypass:
        """Run `lookup` in a thread: same decisions, same scores."""
        return await run_aside(self.lookup, prompt, **identity)

    def open(
        self,
        prompt: Messages,
        *,
        model: Any = None,
        namespace: str | None = None,
        scope: object = None,
        params: Mapping[str, Any] | None = None,
        depends_on: Iterable[str] = (),
    ) -> Handle | Bypass:
        """Read a call's identity, and the epochs it begins under; a Bypass if it has none."""
        request = self.identify(
            prompt, model=model, namespace=namespace, scope=scope, params=params
        )
        if isinstance(request, Bypass):
            return request
        behind = self._rooms.catch_up()
        if behind is not None:
            self._telemetry.failed(behind.value)
        own = (namespace_tag(request.namespace), model_tag(request.model))
        epochs = self._rooms.epochs.snapshot((*own, *_tags(depends_on)))
        return Handle(request, epochs, self._rooms.removals.number(request.key), behind=behind)

    def identify(
        self,
        prompt: Messages,
        *,
        model: Any = None,
        namespace: str | None = None,
        scope: object = None,
        params: Mapping[str, Any] | None = None,
    ) -> Request | Bypass:
        """Read a call's identity alone; a Bypass if it has none."""
        space = _namespace(self.config.namespace if namespace is None else namespace)
        try:
            return self._identity.read(
                prompt, model=model, namespace=space, scope=scope, params=params
            )
        except ValueFormError as error:
            return Bypass(Reason.OPAQUE, str(error))
        except Exception as error:
            # An argument's own code ran: a property, a __semcache_key__, a dump.
            return Bypass(Reason.OPAQUE, f"{type(error).__name__}: {error}")

    def decide(self, handle: Handle, options: Options = PLAIN) -> Decision:
        """Decide on an opened call, keep the canary's share, and count it."""
        started = time.perf_counter()
        if options.refresh:
            # Calls that began before may bring in what this one is to replace.
            handle.removals = self._rooms.removals.note([handle.request.key])
        decision = self._canary(self.preview(handle, options), options)
        return self.count(decision, time.perf_counter() - started)

    def preview(self, handle: Handle, options: Options = PLAIN) -> Decision:
        """Decide on an opened call without counting it."""
        out = self._guarded(self._begin, handle, options)
        return self._finish_many([out])[0] if isinstance(out, Probe) else out

    def recheck(self, miss: Miss) -> Hit[Any] | None:
        """Look once more in the exact tier, for a caller that queued behind an equal one."""
        hit = self._guarded(self._rooms.walk.recheck, miss.handle)
        return hit if isinstance(hit, Hit) else None

    def _begin(self, handle: Handle, options: Options) -> Decision | Probe:
        enabled, _share = self._serving.get(handle.request.namespace, _SERVING)
        if not (self.config.enabled and enabled):
            return Bypass(Reason.SWITCHED_OFF)
        return self._rooms.walk.begin(handle, options)

    def _finish_many(self, probes: Sequence[Probe]) -> list[Decision]:
        wanted = [self._guarded(self._wanted, probe) for probe in probes]
        made = iter(self._vectors([item for item in wanted if isinstance(item, str)]))
        decisions: list[Decision] = []
        for probe, item in zip(probes, wanted, strict=True):
            if isinstance(item, Miss):
                decisions.append(item)
                continue
            embedded = next(made) if isinstance(item, str) else item
            name = self._rooms.embedder_name
            decisions.append(self._guarded(self._rooms.walk.finish, probe, embedded, name))
        return decisions

    def _vectors(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """Embed for a look-up: what fails around the embedder is a reason as well."""
        try:
            return self._rooms.embed(texts)
        except Exception as error:
            self._telemetry.failed(Reason.CACHE_FAILED.value)
            _log.exception("semcache: embedding failed; the call goes through")
            return [NoEmbedding(Reason.CACHE_FAILED, type(error).__name__)] * len(texts)

    def _wanted(self, probe: Probe) -> str | NoEmbedding:
        """Give the text to embed for a probe, or why there is none. `core` may raise anything."""
        skipped = self._rooms.walk.skips_vector(probe)
        return self._core(probe.handle.request.text) if skipped is None else NoEmbedding(skipped)

    def _guarded(self, step: Callable[..., Any], *args: Any) -> Any:
        """Run a step; a failure of the cache itself is a Miss with a reason, logged and counted."""
        try:
            return step(*args)
        except StoreTimeoutError as error:
            reason, detail = Reason.STORE_TIMEOUT, str(error)
        except StoreError as error:
            reason, detail = Reason.STORE_FAILED, str(error)
        except Exception as error:
            _log.exception("semcache: a look-up failed; the call goes through")
            reason, detail = Reason.CACHE_FAILED, f"{type(error).__name__}: {error}"
        self._telemetry.failed(reason.value)
        handle = args[0].handle if isinstance(args[0], Probe) else args[0]
        return Miss(reason, detail=detail, handle=handle)

    def _canary(self, decision: Decision, options: Options) -> Decision:
        if not isinstance(decision, Hit):
            return decision
        handle, entry = decision.handle
        _enabled, share = self._serving.get(entry.namespace, _SERVING)
        if share >= 1.0 and self.config.serve_share >= 1.0:
            return decision
        bound = min(share, self.config.serve_share)
        if self._chance.random() < bound:
            return decision
        # An exact hit did not ask the gate; the answer that is now to be stored must.
        bypass = self._rooms.walk.gate(handle, options)
        if bypass is not None:
            return bypass
        near = Near(entry.entry_id, decision.tier, decision.score, "would have been served")
        return Miss(Reason.CANARY, decision.steps, near, handle=handle)

    def count(self, decision: Decision, seconds: float = 0.0) -> Decision:
        """Count a decision, renew what it served, and tell `on_decision`."""
        if isinstance(decision, Hit):
            entry = decision.handle[1]
            self._renew(entry)
            self._telemetry.decided(decision, seconds, entry.saved_seconds, entry.saved_cost)
        else:
            self._telemetry.decided(decision, seconds)
            if isinstance(decision, Miss) and decision.handle is not None:
                request = decision.handle.request
                self._telemetry.missed(request.text, request.scope)
        if self._on_decision is not None:
            try:
                # The caller's value is the caller's: an observer gets one of its own.
                self._on_decision(apart(decision) if isinstance(decision, Hit) else decision)
            except Exception:
                self._telemetry.failed("on_decision")
                _log.exception("semcache: on_decision failed; the decision stands")
        return decision

    def _renew(self, entry: Entry) -> None:
        try:
            self._rooms.writer.renew(entry)
        except Exception:
            self._telemetry.failed("renewing an answer")
            _log.exception("semcache: an answer could not be renewed; it ends when it was to")

    def put(
        self,
        prompt: Messages,
        value: Any,
        *,
        depends_on: Iterable[str] = (),
        ttl_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        renew_up_to_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        pinned: bool = False,
        **identity: Any,
    ) -> Stored | Refused:
        """Store an answer, durably on return, under the same identity keywords as `lookup`.

        Args:
            prompt: as for `lookup`.
            value: what a later `Hit` gives a fresh copy of.
            depends_on: tags; `invalidate` of any of them kills the answer.
            ttl_seconds: lifetime; left out, the cache's; None is for ever. Kept to the second,
                while the cache's own gets its jitter.
            renew_up_to_seconds: how old the answer may become by being asked for; left out, the
                cache's; None: a hit renews nothing. See `Config.renew_up_to_seconds`.
            pinned: let bounds push out everything else first.
            identity: the keywords of `lookup`.

        Returns:
            Stored, or Refused with the reason: nothing that the gate holds back is stored.

        Raises:
            ArgumentError: a tag or a lifetime that cannot work.
            ValueFormError: the request or the value has no stable form.
            StoreError: the disk could not take it.

        >>> cache = SemanticCache(embedder=False)
        >>> cache.put("How do I cook rice?", "", depends_on=["kb:kitchen"])
        Refused(reason='the answer is empty', private=False)
        """
        check_flag("pinned", pinned)
        draft = Draft(
            value=value,
            ttl_seconds=check_lifetime(ttl_seconds),
            renew_up_to_seconds=check_renewal(renew_up_to_seconds),
            source="put",
            pinned=pinned,
        )
        return self._put([(prompt, draft)], depends_on, identity)[0]

    def put_many(
        self,
        pairs: Iterable[tuple[Messages, Any]],
        *,
        depends_on: Iterable[str] = (),
        ttl_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        renew_up_to_seconds: float | timedelta | UseDefault | None = USE_DEFAULT,
        pinned: bool = False,
        source: str = "put",
        **identity: Any,
    ) -> list[Stored | Refused]:
        """Store many answers of one identity in one transaction, embedding them as one batch.

        `source` names where they come from, for `purge` and the command line.

        >>> cache = SemanticCache(embedder=False)
        >>> pairs = [("How do I boil an egg?", "Six minutes."), ("How do I cook rice?", "Twice.")]
        >>> len(cache.put_many(pairs, source="faq"))
        2
        """
        check_flag("pinned", pinned)
        check_kind("source", source, str, "pass a name")
        draft = Draft(
            value=None,
            ttl_seconds=check_lifetime(ttl_seconds),
            renew_up_to_seconds=check_renewal(renew_up_to_seconds),
            source=source,
            pinned=pinned,
        )
        made = [(prompt, replace(draft, value=value)) for prompt, value in _pairs(pairs)]
        return self._put(made, depends_on, identity)

    def _put(
        self,
        made: Iterable[tuple[Messages, Draft]],
        depends_on: Iterable[str],
        identity: Mapping[str, Any],
    ) -> list[Stored | Refused]:
        options, named = _sort(identity)
        results: list[Stored | Refused | None] = []
        drafts: list[tuple[Handle, Draft]] = []
        for prompt, draft in made:
            handle = self.open(prompt, depends_on=depends_on, **named)
            if isinstance(handle, Bypass):
                raise ValueFormError(handle.detail)
            refused = self._rooms.walk.gate(handle, options)
            results.append(Refused(str(refused.detail)) if refused else None)
            if refused is None:
                drafts.append((handle, draft))
        stored = iter(self._rooms.writer.put(drafts))
        return [next(stored) if result is None else result for result in results]

    async def aput(self, prompt: Messages, value: Any, **options: Any) -> Stored | Refused:
        """Run `put` in a thread."""
        return await run_aside(lambda: self.put(prompt, value, **options))

    def store(self, handle: Handle, draft: Draft) -> Stored | Refused:
        """Store the answer of an opened call, durably on return. Raises as `put` does."""
        return self._rooms.writer.put([(handle, draft)])[0]

    def commit(self, miss: Miss, make_draft: Callable[[], Draft]) -> Stored | Refused:
        """Store the answer of a call that missed. Never raises: a failure is counted and logged.

        The answer is in memory on return and on disk soon; `flush` waits for that.
        """
        try:
            draft = make_draft()
            self._rooms.catch_up()  # another process may have taken it out meanwhile
            return self._rooms.writer.commit(miss.handle, draft)
        except ValueFormError as error:
            return self.give_up(miss, str(error))
        except Exception as error:
            self._telemetry.failed("storing an answer")
            _log.exception("semcache: an answer could not be stored; the call is unaffected")
            return Refused(f"{type(error).__name__}: {error}")
        finally:
            self.release(miss)

    def give_up(
        self, miss: Miss, why: str, reason: str = "the value has no storable form"
    ) -> Refused:
        """Count an answer that cannot be stored under a reason, and say why once."""
        self._telemetry.refused(reason)
        warn_once(why)
        self.release(miss)
        return Refused(why)

    def release(self, miss: Miss, *, unread: bool = False) -> None:
        """End the call of a miss: another caller may refresh a stale answer now.

        `unread` counts a stream that was not stored because nobody read it to its end.
        """
        if unread:
            self._telemetry.refused("the stream was not read to its end")
        self._rooms.walk.release(miss.handle.request.key)

    def join(self) -> None:
        """Count a miss that shared an equal call instead of making its own."""
        self._telemetry.joined()

    def now(self) -> float:
        """Give the wall clock's time, in seconds; NaN from a clock that fails."""
        try:
            return float(self._clock())
        except Exception:
            self._telemetry.failed("clock")
            _log.exception("semcache: the clock failed; the call goes through")
            return math.nan

    def invalidate(
        self, tag: str | None = None, *, model: str | None = None, namespace: str | None = None
    ) -> int:
        """Kill every entry that depends on a tag, a model or a namespace, in O(1), durably.

        A look-up that begins after this returned sees it, in every process. Calls in flight keep
        their caller's value and leave nothing behind. Returns the counter's new value.

        Raises:
            ArgumentError: none of the three, or more than one of them.
            StoreError: the disk could not take it; nothing is invalidated then.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("What is a basic plan?", "One seat.", depends_on=["kb:pricing"])
        >>> cache.invalidate("kb:pricing")
        1
        >>> cache.lookup("What is a basic plan?").reason.value
        'invalidated'
        """
        given = [name for name in (tag, model, namespace) if name is not None]
        if len(given) != 1:
            raise ArgumentError("tag", tag, "name exactly one of tag, model= and namespace=")
        if tag is not None:
            (tag,) = _tags([tag])
        elif model is not None:
            if not isinstance(model, str):
                raise ArgumentError("model", model, "pass the model's name")
            tag = model_tag(model)
        else:
            tag = namespace_tag(_namespace(namespace))
        return self._rooms.move_epoch(tag)

    def forget(self, hit: Hit[Any]) -> bool:
        """Take one wrong answer out. Says whether it was still there.

        If it was found for another prompt than its own, that pair is marked, durably: whatever is
        stored for the one is never served for the other again.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "Fry it dry.")
        >>> cache.forget(cache.lookup("How do I cook rice?"))
        True
        """
        if not isinstance(hit, Hit):
            raise ArgumentError("hit", hit, "pass the Hit whose value was wrong")
        key = bytes.fromhex(hit.entry_id.partition("-")[0])
        if hit.handle is not None and hit.handle[0].request.key != key:
            self._rooms.mark(hit.handle[0].request.key, key)
        entry = self._rooms.store.get(key)
        if entry is None or entry.entry_id != hit.entry_id:
            return False
        return self._rooms.delete([key]) > 0

    def remove(self, prompt: Messages, **identity: Any) -> bool:
        """Take out the answer stored for exactly this request; says whether there was one.

        >>> cache = SemanticCache(embedder=False)
        >>> cache.remove("How do I cook rice?")
        False
        """
        _options, named = _sort(identity)
        handle = self.open(prompt, **named)
        return not isinstance(handle, Bypass) and self.discard(handle)

    def discard(self, handle: Handle) -> bool:
        """Take out the answer stored for exactly this opened call."""
        return self._rooms.delete([handle.request.key]) > 0

    def purge(self, predicate: Callable[[Entry], bool]) -> int:
        """Take out every entry for which the predicate is true; says how many.

        The predicate is asked of the answers of calls in flight as well, when they come in.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "In twice its water.")
        >>> cache.purge(lambda entry: "rice" in entry.text)
        1
        """
        if not callable(predicate):
            raise ArgumentError("predicate", predicate, "pass a function of an Entry")
        self._rooms.removals.note_where(predicate)
        return self._rooms.delete([entry.key for entry in self.entries() if predicate(entry)])

    def purge_similar(self, prompt: Messages, *, at_least: float, **identity: Any) -> int:
        """Take out every entry of the prompt's scope with at least this cosine to it.

        Says how many. No guard is asked, so what is near in wording only goes as well. Calls of
        that scope in flight leave nothing behind.

        Raises:
            ArgumentError: `at_least` is not a share from 0 to 1.
            EmbedderError: the prompt has no vector.
        """
        if not isinstance(at_least, int | float) or not 0 <= at_least <= 1:
            raise ArgumentError("at_least", at_least, "pass a cosine from 0 to 1, such as 0.9")
        _options, named = _sort(identity)
        handle = self.open(prompt, **named)
        if isinstance(handle, Bypass):
            return 0
        (embedded,) = self._rooms.embed([self._core(handle.request.text)])
        if isinstance(embedded, NoEmbedding):
            detail = f" ({embedded.detail})" if embedded.detail else ""
            raise EmbedderError(
                f"prompt={handle.request.text[:60]!r} has no vector: {embedded.reason.value}"
                f"{detail}: call preload() first, or use purge() with a predicate"
            )
        self._rooms.removals.note_where(lambda entry: entry.scope == handle.request.scope)
        projections = self._rooms.projections
        found = projections.semantic(
            self._rooms.embedder_name, handle.request.scope, embedded.vectors, len(projections)
        )
        return self._rooms.delete([item.key for item in found if item.score >= at_least])

    def clear(self, namespace: str | None = None) -> int:
        """Take out every entry of one namespace, the cache's own if left out; leave the others.

        Says how many. Calls in flight in that namespace leave nothing behind.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "In twice its water.", namespace="acme")
        >>> cache.clear("acme"), cache.clear()
        (1, 0)
        """
        space = _namespace(self.config.namespace if namespace is None else namespace)
        self.invalidate(namespace=space)
        return self.purge(lambda entry: entry.namespace == space)

    def set_serving(
        self,
        namespace: str | None = None,
        *,
        enabled: bool | None = None,
        serve_share: float | None = None,
    ) -> None:
        """Switch a namespace off or on, or serve only a share of its hits, while running.

        What is left out stays as it was. With `serve_share` below 1 every call is decided; the
        hits outside the share are counted as misses and called. `Config.enabled` and
        `Config.serve_share` bound every namespace.

        Raises:
            ArgumentError: `serve_share` is not a share from 0 to 1.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "In twice its water.")
        >>> cache.set_serving(enabled=False)
        >>> cache.lookup("How do I cook rice?").reason.value
        'the cache is switched off'
        """
        space = _namespace(self.config.namespace if namespace is None else namespace)
        check_flag("enabled", enabled, or_none=True)
        was = self._serving.get(space, _SERVING)
        if serve_share is not None:
            replace(self.config, serve_share=serve_share)  # raises what a wrong one deserves
        self._serving[space] = (
            was[0] if enabled is None else enabled,
            was[1] if serve_share is None else serve_share,
        )

    def preload(self, timeout_seconds: float | None = None) -> bool:
        """Load the embedder now and embed what waits for it; says whether it is ready.

        Waits `Config.load_timeout_seconds` if no time is given.

        >>> SemanticCache(embedder=False).preload()
        False
        """
        check_wait("timeout_seconds", timeout_seconds)
        seconds = self.config.load_timeout_seconds if timeout_seconds is None else timeout_seconds
        return self._rooms.embedding.preload(seconds) and self._rooms.writer.backfill.drain(seconds)

    @property
    def ready(self) -> bool:
        """Say whether the semantic tier can be asked without waiting for a model."""
        return self._rooms.embedding.state == "ready"

    def entries(self) -> Iterator[Entry]:
        """Give every stored entry, expired and invalidated ones included.

        >>> cache = SemanticCache(embedder=False)
        >>> stored = cache.put("How do I cook rice?", "In twice its water.")
        >>> [(entry.text, cache.is_live(entry)) for entry in cache.entries()]
        [('How do I cook rice?', True)]
        """
        return iter(self._rooms.store.scan())

    def is_live(self, entry: Entry) -> bool:
        """Say whether an entry could still be served."""
        return self._rooms.epochs.moved(entry.epochs) is None and entry.is_live(self._clock())

    def get(self, entry_id: str) -> Entry | None:
        """Give one entry by its id, if it is still that write."""
        try:
            key = bytes.fromhex(entry_id.partition("-")[0])
        except (AttributeError, ValueError) as error:
            raise ArgumentError("entry_id", entry_id, "pass the id that a Hit shows") from error
        entry = self._rooms.store.get(key)
        return entry if entry is not None and entry.entry_id == entry_id else None

    def restore(self, entries: Sequence[Entry]) -> int:
        """Store entries as they are, for an import; ids, lifetimes and epochs are kept."""
        for entry in (entries := check_items("entries", entries, "pass a list of Entry")):
            check_kind("entries", entry, Entry, "pass entries, as `entries()` gives them")
        self._rooms.store.put(entries)
        self._rooms.projections.follow([entry.key for entry in entries])
        return len(entries)

    def stats(self) -> Stats:
        """Give counts by tier and reason, latencies, savings, and the figures of the rooms.

        `store` has sizes, hits by layer and the false-positive rate of the filter before the disk:
        `bloom_rate` as computed, `bloom_observed_rate` as met.

        >>> cache = SemanticCache(embedder=False)
        >>> missed = cache.lookup("How do I cook rice?")
        >>> cache.stats().lookups, cache.stats().hit_rate
        (1, 0.0)
        """
        rooms = self._rooms
        store = {**rooms.store.stats(), "vector_bytes": rooms.projections.vector_bytes}
        return rooms.telemetry.stats(len(self), store, rooms.embedding.stats())

    def __len__(self) -> int:
        return len(self._rooms.store)

    def __bool__(self) -> bool:
        return True

    def flush(self, timeout_seconds: float | None = None) -> None:
        """Return when everything stored so far is embedded, as far as it can be, and on disk.

        Raises:
            StoreTimeoutError: the disk was not done in time (30 s if none is given).
            StoreError: the disk failed; what could not be written goes on waiting.
        """
        check_wait("timeout_seconds", timeout_seconds)
        self._rooms.writer.backfill.drain(timeout_seconds)
        self._rooms.projections.settle()
        self._rooms.store.flush(timeout_seconds)

    def close(self) -> None:
        """Write what is pending and let go of the directory. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._rooms.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def cached(self, *misplaced: object, **options: Any) -> Decorate:
        """Decorate a function that calls an LLM: plain, coroutine, generator or async generator.

        The options are those of `semcache.decorator.Decorate`: model, namespace, text, scope,
        ignore, depends_on, ttl_seconds, renew_up_to_seconds, cache_if, is_complete, cost, dynamic,
        shared.

        >>> cache = SemanticCache(embedder=False)
        >>> @cache.cached(model="m", depends_on=["kb:kitchen"])
        ... def ask(prompt: str) -> str:
        ...     return prompt.upper()
        >>> ask("How do I cook rice?"), ask.lookup("How do I cook rice?").tier.value
        ('HOW DO I COOK RICE?', 'exact')
        """
        if misplaced:
            raise ArgumentError("cached", misplaced[0], "write @cache.cached() with parentheses")
        from semcache.decorator import OPTIONS, Decorate

        check_known(options, OPTIONS, "cached")
        return Decorate(self, **options)


_SERVING = (True, 1.0)


def _namespace(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ArgumentError("namespace", value, "pass a non-empty string")
    return plain_text(value)


def _choose_rules(config: Config, rules: DynamicRules | None) -> DynamicRules | None:
    if rules is not None and not callable(getattr(rules, "check", None)):
        raise ArgumentError("rules", rules, "pass DynamicRules, or Config(dynamic_filter=False)")
    if not config.dynamic_filter:
        return None
    return rules if rules is not None else DynamicRules.default()


def _choose_admission(config: Config, admission: Admission | None) -> Admission:
    if admission is not None:
        return check_kind("admission", admission, Admission, "pass an Admission")
    return Admission(
        store_empty=config.store_empty,
        refuse_refusals=not config.store_refusals,
    )


def _tags(depends_on: Iterable[str]) -> tuple[str, ...]:
    tags = check_items("depends_on", depends_on, "pass a list of tags, [] for none")
    for tag in tags:
        if not isinstance(tag, str) or not tag or is_reserved(tag):
            raise ArgumentError("depends_on", tag, "a tag is a non-empty string")
    return tags


def _chance(seed: object) -> random.Random:
    if seed is not None and not isinstance(seed, int | float | str | bytes):
        raise ArgumentError("seed", seed, "pass a whole number, or None")
    return random.Random(seed)


def _guards(guards: object) -> tuple[Guard, ...]:
    """Give guards that can be asked any number of times, as those of an iterator cannot."""
    remedy = "pass a list of guards, [] for none; left out, the default ones"
    several = check_items("guards", guards, remedy)
    for guard in several:
        if not callable(guard):
            raise ArgumentError("guards", guard, "a guard is a callable of two Facts")
    return several


def _pairs(pairs: object) -> Iterator[tuple[Messages, Any]]:
    for pair in check_items("pairs", pairs, "pass a list of (prompt, value)"):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ArgumentError("pairs", pair, "pass (prompt, value) for each")
        yield pair[0], pair[1]


def _sort(identity: Mapping[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Sort the keywords of a call into its options and what `open` takes."""
    params = dict(identity)
    options = Options(
        no_cache=params.pop("no_cache", False),
        refresh=params.pop("refresh", False),
        dynamic=params.pop("dynamic", None),
    )
    _check_options(options)
    named: dict[str, Any] = {
        name: params.pop(name) for name in ("model", "namespace", "scope") if name in params
    }
    return options, {**named, "params": params}


def _check_options(options: Options) -> Options:
    check_flag("no_cache", options.no_cache)
    check_flag("refresh", options.refresh)
    check_flag("dynamic", options.dynamic, or_none=True)
    return options


def _import_ahead() -> None:
    """Import libraries and read word lists before the first look-up needs them."""
    imported("faiss")
    preload_near_duplicates()
    preload_judge()
    DynamicRules.default().check("How do I start?")


def _renew_after_fork() -> None:
    for cache in list(_OPEN):
        cache._rooms.after_fork()


@atexit.register
def _close_all() -> None:
    """Write what is pending when the interpreter ends without a close()."""
    for cache in list(_OPEN):
        try:
            cache.close()
        except SemcacheError as error:
            _log.error("semcache: closing at exit: %s", error)


os.register_at_fork(after_in_child=_renew_after_fork)
