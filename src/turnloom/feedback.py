"""What people said of answers: accepted, rejected or corrected; kept in a journal that fitting and search read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from turnloom.errors import TurnloomError
from turnloom.journal import Journal, RewrittenError

FEEDBACK = "feedback.jsonl"
"""The name of the journal, in the folder of a service's state or of a studio."""


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    # Where it was said, for those who must erase it; None if nobody noted it.
    conversation: str | None = None
    source: str | None = None
    speaker: str | None = None


class ReplyFeedback(_Said):
    """What someone said of a suggested reply.

    Attributes:
        answer: Whether they used it.
        context: The turns that it was suggested for, oldest first.
        text: The reply.
        when: When they said so.
    """

    about: Literal["reply"] = "reply"
    answer: Literal["accepted", "rejected"]
    context: tuple[str, ...] = ()
    text: str
    when: str = Field(default_factory=_now)


class IntentFeedback(_Said):
    """What someone said of a message's intent.

    Attributes:
        answer: Whether the intent was right, wrong, or wrong and they know the right one.
        turns: The message, with the turns before it.
        intent: What it was taken for; `out_of_scope` if for none.
        correct: If it was corrected, the right one, or `out_of_scope`.
        when: When they said so.
    """

    about: Literal["intent"] = "intent"
    answer: Literal["accepted", "rejected", "corrected"]
    turns: Annotated[tuple[str, ...], Field(min_length=1)]
    intent: str
    correct: str | None = None
    when: str = Field(default_factory=_now)

    @property
    def right(self) -> str | None:
        """The intent that the message has, as far as they said; None if they only said what it does not have."""
        return {"accepted": self.intent, "corrected": self.correct}.get(self.answer)


Said = ReplyFeedback | IntentFeedback
_SAID: TypeAdapter[Said] = TypeAdapter(Annotated[Said, Field(discriminator="about")])


class Feedback:
    """A file of feedback that many processes add to and read.

    Args:
        path: The file, JSON Lines; created when something is said.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._journal = Journal(self.path)
        self._reading = threading.Lock()
        self._generation, self._position = self._journal.generation, 0
        self._seen: tuple[int, ...] = ()
        self._said: list[Said] = []

    def add(self, *said: Said) -> None:
        """Write down what people said; it is on disk when this returns.

        Raises:
            TurnloomError: If it cannot be written.
        """
        with self._journal.writing():
            try:
                self._journal.append([one.model_dump(mode="json", exclude_none=True) for one in said])
            except OSError as error:
                problem = f"{self.path} cannot be written ({error.strerror})"
                raise TurnloomError(problem, "free some space, or ask for the right to write there") from error

    def read(self) -> list[Said]:
        """Return everything that was said, oldest first: the same list until there is something new.

        Raises:
            TurnloomError: If an entry is no feedback.
        """
        with self._reading:
            stamp = self._journal.stamp
            if stamp != self._seen:
                try:
                    self._read_on()
                except RewrittenError:  # Something was erased.
                    self._generation, self._position, self._said = self._journal.generation, 0, []
                    self._read_on()
                self._seen = stamp
            return self._said

    def _read_on(self) -> None:
        records, position = self._journal.read(self._position, self._generation)
        said = [*self._said, *(self._parsed(record) for record in records)]
        self._said, self._position = said, position

    def erase(self, is_meant: Callable[[Said], bool]) -> int:
        """Erase what was said where `is_meant` says so; return how much there was.

        Damaged lines go, too: nobody can tell what they hold.
        """
        with self._journal.writing():
            records = self._journal.read()[0]
            gone = sum(is_meant(self._parsed(record)) for record in records)
            if gone or self._journal.damaged:
                self._journal.rewrite(lambda record: None if is_meant(self._parsed(record)) else record)
            return gone

    def _parsed(self, record: dict[str, Any]) -> Said:
        try:
            return _SAID.validate_python(record)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise TurnloomError(
                f"{self.path} has an entry that is no feedback ({where}: {first['msg']})", "remove that line"
            ) from error

    def labelled(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the messages whose intent people confirmed or corrected; of several answers, the last one counts."""
        latest = {said.turns: said.right for said in self.read() if isinstance(said, IntentFeedback)}
        return [(turns, intent) for turns, intent in latest.items() if intent is not None]

    def replies(self) -> tuple[Counter[str], Counter[str]]:
        """Return how often each reply was accepted, and how often rejected."""
        accepted: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        for said in self.read():
            if isinstance(said, ReplyFeedback):
                (accepted if said.answer == "accepted" else rejected)[said.text] += 1
        return accepted, rejected
