"""Intents that change while they are served: every worker process sees every accepted change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.intents import Answer, IntentClassifier
from turnloom.intents.examples import UnknownIntentError
from turnloom.runtime.protocols import Encoder
from turnloom.service.journal import Journal

__all__ = ["LiveIntents"]

Turns = Sequence[str]


class LiveIntents:
    """A saved classifier and the changes since, which a journal keeps.

    Replaying a journal is harmless: of each example, the last change decides.

    Args:
        folder: The saved classifier; it is never written.
        encoder: The model that it was made with.
        journal: The changes.
    """

    def __init__(self, folder: Path, encoder: Encoder, journal: Journal) -> None:
        self._folder = folder
        self._encoder = encoder
        self._journal = journal
        self._reading = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._classifier = IntentClassifier.load(self._folder, self._encoder)
        self._read = 0
        self._catch_up()

    def _catch_up(self) -> None:
        """Take over what other processes have changed."""
        if self._journal.size == self._read:
            return
        with self._reading:
            records, end = self._journal.read(self._read)
            for run in _runs(records):
                self._apply(run)
            self._read = end

    def _apply(self, run: list[dict[str, Any]]) -> None:
        if run[0]["do"] == "add":
            examples = [example for record in run for example in record["examples"]]
            self._classifier.partial_fit([e["turns"] for e in examples], [e["intents"] for e in examples])
            return
        for record in run:
            known = set(self._classifier.classes_.tolist())
            self._classifier.remove(record["messages"], intents=[name for name in record["intents"] if name in known])

    def answer(self, messages: Sequence[Turns], examples: int) -> list[Answer]:
        """What to do with each message."""
        self._catch_up()
        return self._classifier.answer(messages, examples=examples)

    def listed(self) -> dict[str, int]:
        """The intents and how many examples each has."""
        self._catch_up()
        known = self._classifier.fitted.examples
        return dict(zip(known.intents, (int(count) for count in known.counts), strict=True))

    def examples(self, intent: str) -> list[list[str]]:
        """The examples of an intent, as turns; none if it is not known."""
        self._catch_up()
        known = self._classifier.fitted.examples
        return [list(turns) for turns, names in zip(known.messages, known.labels(), strict=True) if intent in names]

    @property
    def method(self) -> str:
        """How messages are compared with examples."""
        return str(self._classifier.fitted.choice.method)

    @property
    def multi_label(self) -> bool:
        """Whether a message may have several intents."""
        return self._classifier.multi_label

    def add(self, examples: Sequence[tuple[Turns, Sequence[str]]]) -> int:
        """Add examples with their intents; how many there are now."""
        record = {
            "do": "add",
            "examples": [{"turns": list(turns), "intents": list(names)} for turns, names in examples],
        }
        return self._change(record)[1]

    def remove(self, messages: Sequence[Turns], intents: Sequence[str]) -> int:
        """Forget examples or whole intents; how many examples went.

        Raises:
            TurnloomError: If none would be left, or an intent is not known.
        """
        record = {"do": "remove", "messages": [list(turns) for turns in messages], "intents": list(intents)}
        before, after = self._change(record)
        return before - after

    def _change(self, record: dict[str, Any]) -> tuple[int, int]:
        """Make a change here, then on disk: an acknowledged change is never lost, a refused one never written.

        Returns:
            How many examples there were before it, those that other processes added included, and right after it.
        """
        with self._journal.writing():
            self._catch_up()
            with self._reading:
                unknown = set(record.get("intents", ())) - set(self._classifier.classes_.tolist())
                if unknown:
                    raise UnknownIntentError(f"there is no intent {min(unknown)!r}", "list the intents")
                before = len(self._classifier.fitted.examples)
                self._apply([record])
                try:
                    self._read = self._journal.append([record])
                    return before, len(self._classifier.fitted.examples)
                except OSError:
                    pass
            self._start()  # Not on disk: forget it here too.
            raise TurnloomError("the change could not be written to disk", "free some space")


def _runs(records: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Neighbouring records of one kind together: a thousand additions are embedded at once."""
    runs: list[list[dict[str, Any]]] = []
    for record in records:
        if runs and runs[-1][0]["do"] == record["do"]:
            runs[-1].append(record)
        else:
            runs.append([record])
    return runs
