"""The models, intents and replies of a service: loaded and replaced as a whole."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from turnloom.errors import TurnloomError
from turnloom.replies.suggestion import own_reranker
from turnloom.runtime.protocols import Encoder, Scorer
from turnloom.runtime.reranker import ConversationScorer
from turnloom.service.batching import BatchObserver
from turnloom.service.config import Limits, ServedModel, ServiceConfig
from turnloom.service.conversations import ConversationStates
from turnloom.service.journal import Journal
from turnloom.service.live_intents import LiveIntents
from turnloom.service.live_replies import LiveReplies
from turnloom.service.models import QueuedEncoder, QueuedScorer, open_encoder, open_scorer
from turnloom.service.monitoring import cause_of

_log = logging.getLogger("turnloom.service")
Files = tuple[tuple[str, int, int, int], ...]
Part = TypeVar("Part", LiveIntents, LiveReplies)


@dataclass(frozen=True)
class Loaders:
    """How models are loaded from folders; tests use their own."""

    encoder: Callable[[ServedModel], Encoder] = open_encoder
    scorer: Callable[[ServedModel], Scorer] = open_scorer


@dataclass(frozen=True)
class Resources:
    """Models, intents and replies that belong together. A request keeps the ones it started with.

    Each tenant has its own, with the same models.
    """

    limits: Limits
    encoder: QueuedEncoder
    scorer: QueuedScorer | None
    intents: LiveIntents | None
    replies: LiveReplies | None
    problems: Mapping[str, TurnloomError] = field(default_factory=dict)
    """Why parts that should be served are not: the service is in recovery."""
    files: tuple[Files, Files] = ((), ())
    """The files of the models."""
    tenants: Mapping[str, Resources] = field(default_factory=dict)
    """The tenants' own, by their names."""
    failing: dict[str, str] = field(default_factory=dict)
    """What does not work, by part, as of the last check."""

    @property
    def alive(self) -> bool:
        """Whether all queues are being processed."""
        return self.encoder.batcher.alive and (self.scorer is None or self.scorer.batcher.alive)

    def close(self, keeping: Resources | None = None) -> None:
        """Finish queued work, and stop all threads but those of models that others keep."""
        for one in (self, *self.tenants.values()):
            if one.replies is not None:
                one.replies.stop()
        kept = (keeping.encoder, keeping.scorer) if keeping else ()
        for model in (self.encoder, self.scorer):
            if model is not None and not any(model is other for other in kept):
                model.batcher.close()


def load_resources(
    config: ServiceConfig,
    observer: BatchObserver,
    loaders: Loaders,
    *,
    recover: bool = False,
    old: Resources | None = None,
) -> Resources:
    """Load everything that a configuration names.

    Args:
        config: What to load.
        observer: Records batches.
        loaders: How to load models.
        recover: Whether to go on without intents or replies that cannot be loaded.
        old: What is served now; models whose files are the same are kept, not loaded again.

    Raises:
        TurnloomError: If something cannot be loaded, or does not match the model.
    """
    files = (_state_of(config.model.path), _state_of(config.reranker.path) if config.reranker else ())
    kept = old if old is not None and old.files == files else None
    encoder, scorer = (kept.encoder, kept.scorer) if kept else _load_models(config, observer, loaders)
    models = Resources(config.limits, encoder, scorer, None, None, files=files)
    try:
        tenants = {name: _load_data(config.for_tenant(name), models, recover) for name in config.tenant_names}
        loaded = replace(_load_data(config, models, recover), tenants=tenants)
    except BaseException:
        models.close(keeping=kept)
        raise
    for one in (loaded, *tenants.values()):
        if one.replies is not None:
            one.replies.start()
    return loaded


def _load_data(config: ServiceConfig, models: Resources, recover: bool) -> Resources:
    """Load the intents and replies of the service, or of one tenant."""
    problems: dict[str, TurnloomError] = {}
    noted = problems if recover else None
    # The model's own re-ranker reads the stored vectors of replies; a cross-encoder reads their texts.
    by_text = models.scorer if config.reranker is not None else None
    intents = _load_part("intents", lambda: _load_intents(config, models.encoder), noted)
    replies = _load_part("replies", lambda: _load_replies(config, models.encoder, by_text), noted)
    failing = {part: error.problem for part, error in problems.items()}
    return replace(models, intents=intents, replies=replies, problems=problems, failing=failing)


def _load_models(
    config: ServiceConfig, observer: BatchObserver, loaders: Loaders
) -> tuple[QueuedEncoder, QueuedScorer | None]:
    seconds = config.limits.request_seconds
    encoder = QueuedEncoder(loaders.encoder(config.model), config.model.called, config.batching, observer, seconds)
    try:
        if config.reranker is not None:
            loaded = loaders.scorer(config.reranker)
            return encoder, QueuedScorer(loaded, config.reranker.called, config.batching, observer, seconds)
        if (reader := own_reranker(encoder)) is not None:
            return encoder, QueuedScorer(ConversationScorer(reader), encoder.name, config.batching, observer, seconds)
    except BaseException:
        encoder.batcher.close()
        raise
    return encoder, None


def _state_of(folder: Path) -> Files:
    """Return what changes when a file of a folder is replaced."""
    paths = sorted(path for path in folder.resolve().rglob("*") if path.is_file())
    return tuple((str(path), (found := path.stat()).st_size, found.st_mtime_ns, found.st_ino) for path in paths)


def _load_intents(config: ServiceConfig, encoder: QueuedEncoder) -> LiveIntents | None:
    if config.intents is None:
        return None
    return LiveIntents(config.intents.folder, encoder, Journal(config.state / "intents.jsonl"))


def _load_replies(config: ServiceConfig, encoder: QueuedEncoder, scorer: QueuedScorer | None) -> LiveReplies | None:
    if config.replies is None:
        return None
    states = ConversationStates(encoder.conversation, config.conversations) if encoder.conversation else None
    replies = LiveReplies(config.replies, encoder, scorer, config.state / "replies", states)
    replies.check()  # Opening reads only a part of its files.
    return replies


def _load_part(name: str, load: Callable[[], Part | None], problems: dict[str, TurnloomError] | None) -> Part | None:
    """Load intents or replies, or write down why not if `problems` are kept."""
    try:
        return load()
    except Exception as error:
        cause = error if isinstance(error, TurnloomError) else _unreadable(name, error)
        if problems is None:
            raise cause from error
        problems[name] = cause
        _log.error("in recovery", extra={"part": name, **cause_of(cause)})
        return None


def _unreadable(name: str, error: Exception) -> TurnloomError:
    return TurnloomError(f"{name} cannot be read ({type(error).__name__})", "restore its folder from a backup")


class Service:
    """The current resources (None before they are loaded), and how to replace them."""

    def __init__(self, config: ServiceConfig, observer: BatchObserver, loaders: Loaders) -> None:
        self.config = config
        self.draining = False
        self.resources: Resources | None = None
        self._observer, self._loaders = observer, loaders
        self._reloading = threading.Lock()
        self._retired: list[Resources] = []
        self._wish = config.state / "reload"
        self._seen = 0

    @property
    def problems(self) -> dict[str, str]:
        """What does not work, by part, as of the last check."""
        return self.resources.failing if self.resources is not None else {}

    @property
    def ready(self) -> bool:
        """Whether it can answer requests. What is wrong with one tenant's data keeps nobody else from being served."""
        return not self.draining and self.resources is not None and self.resources.alive and not self.problems

    def load(self, *, recover: bool = True) -> None:
        """Load everything for the first time.

        Raises:
            TurnloomError: If a model cannot be loaded; without `recover`, also if intents or replies cannot.
        """
        self.config.state.mkdir(parents=True, exist_ok=True)
        self._seen = _stamp(self._wish)
        self.resources = load_resources(self.config, self._observer, self._loaders, recover=recover)
        self.check()

    def check(self) -> None:
        """Ask intents and replies as a client would, and remember what does not work."""
        if self.resources is None:
            return
        _check(self.resources, {})
        for name, resources in self.resources.tenants.items():
            _check(resources, {"tenant": name})

    def reload(self) -> None:
        """Load everything again, then switch; requests in progress keep the old resources.

        Raises:
            TurnloomError: If loading fails; the old resources stay in use.
        """
        with self._reloading:
            new = load_resources(self.config, self._observer, self._loaders, old=self.resources)
            old, self.resources = self.resources, new
        if old is not None:
            # No request outlives its time limit, so the old models' queues are needed that long.
            self._retired.append(old)
            timer = threading.Timer(self.config.limits.request_seconds, self._end, [old])
            timer.daemon = True
            timer.start()

    def wish_reload(self) -> None:
        """Ask every worker process, including this one, to reload."""
        self._wish.parent.mkdir(parents=True, exist_ok=True)
        self._wish.touch()

    def reload_if_asked(self) -> None:
        """Reload if any process was asked to, but not while an older generation still finishes its requests.

        However often it is asked, there are never more than two generations in memory.
        """
        stamp = _stamp(self._wish)
        if stamp == self._seen or self._retired:
            return
        self._seen = stamp
        try:
            self.reload()
            self.check()
            _log.info("reloaded")
        except TurnloomError as error:
            _log.error("not reloaded", extra=cause_of(error))

    def close(self) -> None:
        """Close everything."""
        for old in list(self._retired):
            self._end(old)
        if self.resources is not None:
            self.resources.close()

    def _end(self, old: Resources) -> None:
        """Close replaced resources once: their timer and the end of the service may both try."""
        with self._reloading:
            if old not in self._retired:
                return
            self._retired.remove(old)
        old.close(keeping=self.resources)


def _check(resources: Resources, tenant: Mapping[str, str]) -> None:
    """Ask the intents and replies of the service or of a tenant."""
    problems = {part: error.problem for part, error in resources.problems.items()}
    asks: dict[str, Callable[[], object]] = {}
    if resources.intents is not None:
        asks["intents"] = partial(resources.intents.answer, [["hello"]], 0)
    if resources.replies is not None:
        asks["replies"] = resources.replies.check
    for part, ask in asks.items():
        try:
            ask()
        except Exception as error:  # noqa: PERF203 - two parts
            problems[part] = (error if isinstance(error, TurnloomError) else _unreadable(part, error)).problem
    if problems != resources.failing:
        _log.error("not ready", extra={"problems": problems, **tenant}) if problems else _log.info(
            "ready again", extra=tenant
        )
        resources.failing.update(problems)
        for repaired in set(resources.failing) - set(problems):
            del resources.failing[repaired]


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
