"""What a service has now, and how it is loaded, checked, replaced and closed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig
from turnloom.service.monitoring import Metrics, cause_of
from turnloom.service.resources import Loaders, Resources, load_resources, unreadable
from turnloom.service.snapshots import serving
from turnloom.service.supervisor import REFUSED

_log = logging.getLogger("turnloom.service")


class Service:
    """The current resources (None before they are loaded), and how to replace them."""

    def __init__(self, config: ServiceConfig, metrics: Metrics, loaders: Loaders) -> None:
        self.config = config
        self.draining = False
        self.resources: Resources | None = None
        self._metrics, self._loaders = metrics, loaders
        self._reloading = threading.Lock()
        self._retired: list[Resources] = []
        self._held = ExitStack()
        self._wish, self._refusal = config.state / "reload", config.state / REFUSED
        self._seen = self._seen_refusal = 0
        self.reload_problem: str | None = None
        """What went wrong with the last reload, or with replacing this worker."""

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
        self._held.enter_context(serving(self.config.state))
        self._seen, self._seen_refusal = _stamp(self._wish), _stamp(self._refusal)
        self.resources = load_resources(self.config, self._metrics, self._loaders, recover=recover)
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
            new = load_resources(self.config, self._metrics, self._loaders, old=self.resources)
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
        self._wish.touch(mode=0o600)

    def reload_if_asked(self) -> None:
        """Reload if any process was asked to, but not while an older generation still finishes its requests.

        However often it is asked, there are never more than two generations in memory.
        """
        if (refused := _stamp(self._refusal)) != self._seen_refusal:
            self._seen_refusal = refused
            self._note_reload("a new worker could not start after SIGHUP; the log says why")
        stamp = _stamp(self._wish)
        if stamp == self._seen or self._retired:
            return
        self._seen = stamp
        try:
            self.reload()
            self.check()
        except Exception as error:
            _log.error("not reloaded", extra=cause_of(error))
            self._note_reload(error.problem if isinstance(error, TurnloomError) else type(error).__name__)
        else:
            _log.info("reloaded")
            self._note_reload(None)

    def _note_reload(self, problem: str | None) -> None:
        self.reload_problem = problem
        self._metrics.reloaded(failed=problem is not None)

    def close(self) -> None:
        """Close everything."""
        for old in list(self._retired):
            self._end(old)
        if self.resources is not None:
            self.resources.close()
        self._held.close()

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
            problems[part] = (error if isinstance(error, TurnloomError) else unreadable(part, error)).problem
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
