"""The models, intents and replies of a service: loaded and replaced as a whole."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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

_log = logging.getLogger("turnloom.service")


@dataclass(frozen=True)
class Loaders:
    """How models are loaded from folders; tests use their own."""

    encoder: Callable[[ServedModel], Encoder] = open_encoder
    scorer: Callable[[ServedModel], Scorer] = open_scorer


@dataclass(frozen=True)
class Resources:
    """Models, intents and replies that belong together. A request keeps the ones it started with."""

    limits: Limits
    encoder: QueuedEncoder
    scorer: QueuedScorer | None
    intents: LiveIntents | None
    replies: LiveReplies | None

    @property
    def alive(self) -> bool:
        """Whether all queues are being processed."""
        return self.encoder.batcher.alive and (self.scorer is None or self.scorer.batcher.alive)

    def close(self) -> None:
        """Finish queued work, and stop all threads."""
        if self.replies is not None:
            self.replies.stop()
        for model in (self.encoder, self.scorer):
            if model is not None:
                model.batcher.close()


def load_resources(config: ServiceConfig, observer: BatchObserver, loaders: Loaders) -> Resources:
    """Load everything that a configuration names.

    Raises:
        TurnloomError: If something cannot be loaded, or does not match the model.
    """
    seconds = config.limits.request_seconds
    encoder = QueuedEncoder(loaders.encoder(config.model), config.model.called, config.batching, observer, seconds)
    scorer: QueuedScorer | None = None
    try:
        if config.reranker is not None:
            loaded = loaders.scorer(config.reranker)
            scorer = QueuedScorer(loaded, config.reranker.called, config.batching, observer, seconds)
        elif (reader := own_reranker(encoder)) is not None:
            scorer = QueuedScorer(ConversationScorer(reader), encoder.name, config.batching, observer, seconds)
        intents = replies = None
        if config.intents is not None:
            intents = LiveIntents(config.intents.folder, encoder, Journal(config.state / "intents.jsonl"))
        if config.replies is not None:
            states = ConversationStates(encoder.conversation, config.conversations) if encoder.conversation else None
            # The model's own re-ranker reads the stored vectors of replies; a cross-encoder reads their texts.
            by_text = scorer if config.reranker is not None else None
            replies = LiveReplies(config.replies, encoder, by_text, config.state / "replies", states)
    except BaseException:
        Resources(config.limits, encoder, scorer, None, None).close()
        raise
    if replies is not None:
        replies.start()
    return Resources(config.limits, encoder, scorer, intents, replies)


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
    def ready(self) -> bool:
        """Whether it can answer requests."""
        return not self.draining and self.resources is not None and self.resources.alive

    def load(self) -> None:
        """Load everything for the first time."""
        self.config.state.mkdir(parents=True, exist_ok=True)
        self._seen = _stamp(self._wish)
        self.resources = load_resources(self.config, self._observer, self._loaders)

    def reload(self) -> None:
        """Load everything again, then switch; requests in progress keep the old resources.

        Raises:
            TurnloomError: If loading fails; the old resources stay in use.
        """
        with self._reloading:
            new = load_resources(self.config, self._observer, self._loaders)
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
        """Reload if any process was asked to."""
        stamp = _stamp(self._wish)
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self.reload()
            _log.info("reloaded")
        except TurnloomError as error:
            _log.error("not reloaded", extra={"problem": error.problem, "fix": error.fix})

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
        old.close()


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
