"""Intents that can change while they are served: every worker process sees every accepted change."""

from __future__ import annotations

import copy
import itertools
import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.intents import Answer, IntentClassifier, PoolReport
from turnloom.intents.erasure import erase_from_intents, is_among, normalised
from turnloom.intents.examples import UnknownIntentError
from turnloom.journal import RewrittenError
from turnloom.runtime.protocols import Encoder
from turnloom.service.journal import Journal
from turnloom.service.scrubbing import Scrub, scrubbed

_log = logging.getLogger("turnloom.service")
Turns = Sequence[str]


class LiveIntents:
    """A saved classifier, whose folder stays unchanged, plus a journal of later changes.

    Replaying the journal is harmless: the last change of each example wins.

    Args:
        folder: The saved classifier.
        encoder: The model it was fitted with.
        journal: The changes.
        scrub: Replaces personal data in what is added.
    """

    def __init__(self, folder: Path, encoder: Encoder, journal: Journal, scrub: Scrub = scrubbed) -> None:
        self._journal, self._scrub = journal, scrub
        self._folder, self._encoder = folder, encoder
        self._reading = threading.Lock()
        self._start_again()
        self._catch_up()

    def _start_again(self) -> None:
        """Load the folder, and begin with the first change."""
        self._generation = self._journal.generation
        self._classifier = IntentClassifier.load(self._folder, self._encoder)
        self._read = 0
        self._seen: tuple[int, ...] = ()

    def _catch_up(self, *, writing: bool = False) -> None:
        """Apply changes made by other processes; `writing` if the journal is locked already."""
        if self._journal.stamp == self._seen:
            return
        try:
            self._read_on()
        except RewrittenError:  # Something was erased, perhaps from the folder, too.
            with nullcontext() if writing else self._journal.writing():
                with self._reading:
                    self._start_again()
                self._read_on()

    def _read_on(self) -> None:
        with self._reading:
            stamp = self._journal.stamp
            records, end = self._journal.read(self._read, self._generation)
            # Merge consecutive additions: a thousand of them are embedded at once.
            for do, run in itertools.groupby(records, key=lambda record: record["do"]):
                if do == "add":
                    self._apply(self._classifier, list(run))
                else:
                    for record in run:
                        self._remove_again(record)
            self._read, self._seen = end, stamp

    def _remove_again(self, record: dict[str, Any]) -> None:
        try:
            self._apply(self._classifier, [record])
        except TurnloomError as error:  # What was erased since was all that was left beside it.
            _log.error("not removed again", extra={"problem": error.problem})

    @staticmethod
    def _apply(classifier: IntentClassifier, run: list[dict[str, Any]]) -> None:
        if run[0]["do"] == "add":
            examples = [example for record in run for example in record["examples"]]
            names = {name: text for record in run for name, text in record.get("names", {}).items()}
            classifier.partial_fit(
                [e["turns"] for e in examples], [e["intents"] for e in examples], names=names or True
            )
            return
        for record in run:
            known = set(classifier.classes_.tolist())
            classifier.remove(record["messages"], intents=[name for name in record["intents"] if name in known])

    def answer(self, messages: Sequence[Turns], examples: int) -> list[Answer]:
        """Answer each message."""
        self._catch_up()
        return self._classifier.answer(messages, examples=examples)

    def listed(self) -> dict[str, int]:
        """Return the intents with their numbers of examples."""
        self._catch_up()
        known = self._classifier.fitted.examples
        return dict(zip(known.intents, (int(count) for count in known.counts), strict=True))

    def pool(self) -> PoolReport | None:
        """Return what a pool of unlabelled messages did when the intents were fitted; None without one."""
        self._catch_up()
        return self._classifier.pool_report

    def examples(self, intent: str) -> list[list[str]] | None:
        """Return the examples of an intent as turns; None if it is unknown."""
        self._catch_up()
        known = self._classifier.fitted.examples
        if intent not in known.intents:
            return None
        return [list(turns) for turns, names in zip(known.messages, known.labels(), strict=True) if intent in names]

    @property
    def damaged(self) -> int:
        """How many damaged changes were skipped."""
        return len(self._journal.damaged)

    @property
    def method(self) -> str:
        """How messages are compared with examples."""
        return str(self._classifier.fitted.choice.method)

    @property
    def multi_label(self) -> bool:
        """Whether a message may have several intents."""
        return self._classifier.multi_label

    def add(self, examples: Sequence[tuple[Turns, Sequence[str]]], names: Mapping[str, str] | None = None) -> int:
        """Add examples with their intents, and intents by name or description; return the new number of examples."""
        added = [{"turns": self._scrub(turns), "intents": list(labels)} for turns, labels in examples]
        described = {name: self._scrub([text])[0] for name, text in (names or {}).items()}
        return self._change({"do": "add", "examples": added, "names": described})[1]

    def remove(self, messages: Sequence[Turns], intents: Sequence[str]) -> int:
        """Remove examples or whole intents; return how many examples were removed.

        Raises:
            TurnloomError: If none would be left, or an intent is unknown.
        """
        self._catch_up()
        known = set(map(tuple, self._classifier.fitted.examples.messages))
        # An example is removed as it was added; only examples from elsewhere can hold personal data.
        named = [list(turns) if tuple(turns) in known else self._scrub(turns) for turns in messages]
        record = {"do": "remove", "messages": named, "intents": list(intents)}
        before, after = self._change(record)
        return before - after

    def _change(self, record: dict[str, Any]) -> tuple[int, int]:
        """Apply a change to a copy, write it, then use the copy: what is acknowledged is saved, what is refused is not.

        Returns the number of examples before it (including those that other processes added) and after it.

        Raises:
            NotSavedError: If it cannot be written.
        """
        with self._journal.writing():
            self._catch_up(writing=True)
            with self._reading:
                unknown = set(record.get("intents", ())) - set(self._classifier.classes_.tolist())
                if unknown:
                    raise UnknownIntentError(f"there is no intent {min(unknown)!r}", "list the intents")
                changed = copy.copy(self._classifier)
                self._apply(changed, [record])
                self._read = self._journal.append([record])
                self._seen = self._journal.stamp
                before, self._classifier = self._classifier, changed
                return len(before.fitted.examples), len(changed.fitted.examples)

    def erase(self, texts: Collection[str]) -> int:
        """Erase messages from the folder and from all changes, and return how many there were.

        Raises:
            TurnloomError: If no example would be left, or the folder cannot be written.
        """
        if not texts:
            return 0
        with self._journal.writing():
            self._catch_up(writing=True)
            known, wanted = self._classifier.fitted.examples, normalised(texts)
            known.without([turns for turns in known.messages if is_among(turns, wanted)], [])  # Is one left?
            erased = erase_from_intents(self._folder, texts, lambda _: self._encoder)
            erased += erase_from_changes(self._journal, texts, always=erased > 0)
            self._catch_up(writing=True)
            return erased


def erase_from_changes(journal: Journal, texts: Collection[str], *, always: bool) -> int:
    """Erase messages from a journal of changes, whose lock is held; return how many there were.

    Args:
        journal: The journal.
        texts: What to erase.
        always: Whether to begin a new generation even if there were none, for those who follow the journal.
    """
    wanted, found = normalised(texts), 0

    def without(record: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal found
        added = record["do"] == "add"
        field = "examples" if added else "messages"
        kept = [one for one in record[field] if not is_among(one["turns"] if added else one, wanted)]
        found += len(record[field]) - len(kept) if added else 0
        empty = not kept and not record.get("names") and not record.get("intents")
        return None if empty else {**record, field: kept}

    records = journal.read()[0]
    if always or journal.damaged or any(without(record) != record for record in records):
        found = 0
        journal.rewrite(without)
    return found
