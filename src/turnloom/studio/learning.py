"""The classifier of a studio's intents as they are after the latest edit, and what it says of known messages."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.corpus.labelled import OUT_OF_SCOPE
from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK, Feedback
from turnloom.intents import Answer, IntentClassifier
from turnloom.intents.answers import answer_vectors
from turnloom.intents.names import label_words
from turnloom.intents.pool import FEWEST_MESSAGES
from turnloom.runtime.protocols import Context, Vectors, unit_rows
from turnloom.studio.actions import OUTSIDE
from turnloom.studio.board import Board, Numbers
from turnloom.studio.workspace import Workspace

FALSE_REJECT = 0.1
MOST_IN_POOL = 4_000
"""So many messages are learned from after each edit; the last fit, by `turnloom intents fit`, takes more."""
LOOKED_AT = 2_000
"""The next message to label is looked for among so many."""
Labelled = list[tuple[tuple[str, ...], str]]


class KnownVectors:
    """An encoder that knows a studio's messages already.

    Args:
        work: The opened studio; its encoder is loaded when another text must be encoded.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        before = work.files.found.messages.before
        self._rows = {text: row for row, text in enumerate(work.texts) if not before[row]}
        settings = work.files.settings
        self.name, self.fingerprint = settings.model, settings.fingerprint
        self.languages: frozenset[str] = frozenset()
        self.has_heads = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts by meaning."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        new = dict(zip(missing, self._work.encoder.encode(missing), strict=True)) if missing else {}
        known = self._work.files.vectors
        return np.stack([new[text] if text in new else known[self._rows[text]] for text in texts])

    def format_context(self, context: Context) -> str:
        """Return a context as the text that the model reads."""
        return self._work.encoder.format_context(context)


@dataclass(frozen=True)
class Learned:
    """A classifier, and what it says of messages that it did not learn from.

    Attributes:
        classifier: The classifier.
        rows: The messages in groups of intents that are no examples.
        familiarity: The similarity of each to its closest intent.
        expected: The accuracy expected on messages in scope, by the classifier's own probabilities.
    """

    classifier: IntentClassifier
    rows: Numbers
    familiarity: npt.NDArray[np.float64]
    expected: float

    def threshold(self, rate: float) -> float:
        """Return the familiarity that a message needs, for a false-reject rate."""
        quantiles = self.classifier.scope.quantiles
        return float(np.interp(rate, np.linspace(0, 1, len(quantiles)), quantiles))

    def at(self, rate: float) -> IntentClassifier:
        """Return the classifier with another false-reject rate, without fitting it again."""
        fitted = self.classifier.fitted
        changed = IntentClassifier(self.classifier.encoder, false_reject_rate=rate)
        changed._fitted = replace(fitted, scope=replace(fitted.scope, threshold=self.threshold(rate)))
        return changed

    def turned_away(self, rate: float) -> Numbers:
        """Return the known messages of intents that would be turned away, the least familiar first."""
        away = self.familiarity < self.threshold(rate)
        return self.rows[away][np.argsort(self.familiarity[away], kind="stable")]


class Learner:
    """Fits the intents of a studio, once for each state of them.

    Args:
        work: The opened studio.
    """

    def __init__(self, work: Workspace) -> None:
        self.work = work
        self.feedback = Feedback(work.files.folder / FEEDBACK)
        self._encoder: Any = KnownVectors(work)
        self._lock = threading.Lock()
        self._last: tuple[Any, Learned] | None = None

    def learned(self) -> Learned:
        """Return the classifier of the intents as they are.

        Raises:
            TurnloomError: If there is no intent yet.
        """
        with self._lock:
            board = self.work.board
            state = (self.work.edits.version, len(self.feedback.read()))
            if self._last is None or self._last[0] != state:
                self._last = state, self._fit(board)
            return self._last[1]

    def examples(self, board: Board) -> tuple[Labelled, dict[str, str]]:
        """Return the examples of all intents, `out_of_scope` among them, and what intents are called."""
        if not board.intents:
            raise TurnloomError("there is no intent yet", "make one of a group under Groups")
        texts = self.work.texts
        found: Labelled = []
        for group, intent in board.intents.items():
            rows = dict.fromkeys([*intent.examples, *board.labelled(group)])
            found += [((texts[row],), board.names[group]) for row in rows]
        found += [((texts[row],), OUT_OF_SCOPE) for row in board.labelled(OUTSIDE)]
        names = {board.names[group]: intent.description for group, intent in board.intents.items()}
        known = {*names, OUT_OF_SCOPE}
        found += [(turns, intent) for turns, intent in self.feedback.labelled() if intent in known]
        return found, {name: said or label_words(name) for name, said in names.items()}

    def _fit(self, board: Board) -> Learned:
        labelled, names = self.examples(board)
        pool = [text for text in self.work.texts if any(map(str.isalnum, text))]
        if len(pool) > MOST_IN_POOL:
            pool = [pool[row] for row in np.linspace(0, len(pool) - 1, MOST_IN_POOL).astype(int)]
        enough = len(pool) >= FEWEST_MESSAGES + len(labelled)
        classifier = IntentClassifier(self._encoder, method="prototypes", false_reject_rate=FALSE_REJECT)
        classifier.fit(
            [turns for turns, _ in labelled],
            [intent for _, intent in labelled],
            names=names,
            pool=pool if enough else (),
        )
        inside = np.flatnonzero(np.isin(board.group, list(board.intents)))
        examples = {row for intent in board.intents.values() for row in intent.examples} | set(board.labels)
        rows = np.array([row for row in inside.tolist() if row not in examples], np.int64)
        answers = self._answers(classifier, rows)
        familiarity = np.array([answer.familiarity for answer in answers])
        accepted = [answer.candidates[0].probability for answer in answers if answer.decision != "out_of_scope"]
        expected = float(np.mean(accepted)) if accepted else 0.0
        return Learned(classifier, rows, familiarity, expected)

    def _answers(self, classifier: IntentClassifier, rows: Numbers) -> list[Answer]:
        return answer_vectors(classifier.fitted, unit_rows(self.work.files.vectors[rows]), 0)

    def next_to_label(self) -> tuple[int, str, list[str]] | None:
        """Return the message whose label would help most, why, and intents, the likeliest first.

        None if there is nothing left to label.
        """
        learned, board = self.learned(), self.work.board
        done = set(board.labels) | {row for intent in board.intents.values() for row in intent.examples}
        spoken = (row for row, text in enumerate(self.work.texts) if row not in done and any(map(str.isalnum, text)))
        rows = np.fromiter(spoken, np.int64)
        if not len(rows):
            return None
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:LOOKED_AT])
        texts = [self.work.texts[row] for row in rows]
        best = learned.classifier.suggest_labels(texts, 1)[0]
        row = int(rows[best.place])
        fitted = learned.classifier.fitted
        vector = unit_rows(self.work.files.vectors[[row]])
        chances = fitted.probabilities(vector, vector @ fitted.examples.vectors.T)[0]
        return row, best.reason, [fitted.examples.intents[column] for column in np.argsort(-chances, kind="stable")]
