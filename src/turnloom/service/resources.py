"""The models, intents and replies of a service: loaded as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK
from turnloom.files import make_private
from turnloom.replies.suggestion import own_reranker
from turnloom.runtime.protocols import Encoder, Scorer
from turnloom.runtime.reranker import ConversationScorer
from turnloom.service.audit import AuditLog
from turnloom.service.batching import BatchObserver
from turnloom.service.config import Limits, ServedModel, ServiceConfig
from turnloom.service.conversations import ConversationStates
from turnloom.service.journal import Journal
from turnloom.service.live_feedback import LiveFeedback
from turnloom.service.live_intents import LiveIntents
from turnloom.service.live_replies import LiveReplies
from turnloom.service.models import QueuedEncoder, QueuedScorer, open_encoder, open_scorer
from turnloom.service.monitoring import cause_of
from turnloom.service.scrubbing import scrub_or_keep

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
    feedback: LiveFeedback
    audit: AuditLog
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
    config = config.following_links()
    files = (_state_of(config.model.path), _state_of(config.reranker.path) if config.reranker else ())
    kept = old if old is not None and old.files == files else None
    encoder, scorer = (kept.encoder, kept.scorer) if kept else _load_models(config, observer, loaders)
    models = Resources(
        config.limits, encoder, scorer, None, None, _feedback(config), AuditLog(config.state), files=files
    )
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
    make_private(config.state)
    failing = {part: error.problem for part, error in problems.items()}
    feedback, audit = _feedback(config), AuditLog(config.state)
    own = replace(models, intents=intents, replies=replies, feedback=feedback, audit=audit)
    return replace(own, problems=problems, failing=failing)


def _feedback(config: ServiceConfig) -> LiveFeedback:
    return LiveFeedback(config.state, scrub_or_keep(config.scrub))


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
    scrub = scrub_or_keep(config.scrub)
    return LiveIntents(config.intents.folder, encoder, Journal(config.state / "intents.jsonl"), scrub)


def _load_replies(config: ServiceConfig, encoder: QueuedEncoder, scorer: QueuedScorer | None) -> LiveReplies | None:
    if config.replies is None:
        return None
    states = ConversationStates(encoder.conversation, config.conversations) if encoder.conversation else None
    scrub = scrub_or_keep(config.scrub)
    replies = LiveReplies(
        config.replies, encoder, scorer, config.state / "replies", states, scrub, feedback=config.state / FEEDBACK
    )
    replies.check()  # Opening reads only a part of its files.
    return replies


def _load_part(name: str, load: Callable[[], Part | None], problems: dict[str, TurnloomError] | None) -> Part | None:
    """Load intents or replies, or write down why not if `problems` are kept."""
    try:
        return load()
    except Exception as error:
        cause = error if isinstance(error, TurnloomError) else unreadable(name, error)
        if problems is None:
            raise cause from error
        problems[name] = cause
        _log.error("in recovery", extra={"part": name, **cause_of(cause)})
        return None


def unreadable(name: str, error: Exception) -> TurnloomError:
    """Return what to say of data that cannot be read."""
    fix = "find the damaged file with 'turnloom verify', and restore its folder from a backup"
    return TurnloomError(f"{name} cannot be read ({type(error.__cause__ or error).__name__})", fix)
