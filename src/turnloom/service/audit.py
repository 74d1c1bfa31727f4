"""Who changed what, and when: one line per change, in a log of its own for each tenant."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from turnloom.service.errors import NotSavedError, RefusedError
from turnloom.service.journal import Journal

NAME = "audit"
FILE_BYTES, FILES = 10_000_000, 50
"""A full file is set aside under the time of its end, and the oldest of so many is deleted."""


@dataclass(frozen=True)
class Actor:
    """Who makes a change.

    Attributes:
        key: The name of the key; None if the service has no keys.
        tenant: The key's tenant.
        request_id: The request, as the service's log and the client know it.
        command: The command, for changes that are not made over HTTP.
    """

    key: str | None = None
    tenant: str | None = None
    request_id: str | None = None
    command: str | None = None


def digest(name: str) -> str:
    """Return what the log keeps of an id: enough to look for the id, and nothing to read when it was erased.

    Example:
        >>> digest("chat-1")
        'eaeb9111b1c67442'
    """
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _named(by: Actor) -> dict[str, str]:
    return {name: value for name, value in asdict(by).items() if value is not None}


class AuditLog:
    """The changes of one tenant, or of the service's own data, oldest first.

    Args:
        state: The folder of the state that changes.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._journal = Journal(state / f"{NAME}.jsonl")

    @contextmanager
    def change(self, by: Actor, action: str, **what: Any) -> Iterator[None]:
        """Write the line of a change, then make the change in the block.

        The line comes first, so that no change is ever without one. If the block fails, a second line says so.

        Args:
            by: Who makes the change.
            action: What it does, such as "intents.add".
            what: Counts and names for the line; ids as their `digest`.

        Raises:
            NotSavedError: If the line cannot be written. Then the block does not run.
        """
        said = _named(by)
        self._write({"action": action, **said, **what})
        try:
            yield
        except BaseException as error:
            code = error.code if isinstance(error, RefusedError) else type(error).__name__
            with suppress(NotSavedError):  # Most likely for the same reason: the disk is full.
                self._write({"action": action, **said, "failed": code})
            raise

    def note_done(self, by: Actor, action: str) -> None:
        """Write that a change has been made which outlasted its request."""
        with suppress(NotSavedError):
            self._write({"action": action, **_named(by), "done": True})

    def _write(self, record: dict[str, Any]) -> None:
        with self._journal.writing():
            now = datetime.now(timezone.utc)
            if self._journal.size > FILE_BYTES:
                self._set_aside(now)
            self._journal.append([{"time": now.isoformat(timespec="milliseconds"), **record}])

    def _set_aside(self, now: datetime) -> None:
        for path in self._full()[: 2 - FILES]:
            path.unlink(missing_ok=True)
        self._journal.path.rename(self._state / f"{NAME}-{now:%Y%m%dT%H%M%S.%f}.jsonl")

    def _full(self) -> list[Path]:
        return sorted(self._state.glob(f"{NAME}-*.jsonl"))

    def read(self) -> list[dict[str, Any]]:
        """Return the lines of all files, oldest first. Damaged lines are skipped and reported."""
        journals = [*map(Journal, self._full()), self._journal]
        return [record for journal in journals for record in journal.read()[0]]
