"""What a classifier answers, and which messages to label next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from turnloom.intents.examples import Turns
from turnloom.intents.fitted import Fitted
from turnloom.intents.scope import familiarity
from turnloom.runtime.protocols import Vectors

Decision = Literal["accept", "ask", "out_of_scope"]
AT_A_TIME = 512
"""Messages scored per batch; bounds the memory for similarities to every example."""


@dataclass(frozen=True)
class Candidate:
    """An intent and its probability, given that the message is in scope."""

    intent: str
    probability: float


@dataclass(frozen=True)
class Neighbour:
    """A labelled example that is similar to a message."""

    text: str
    intents: tuple[str, ...]
    similarity: float


@dataclass(frozen=True)
class Answer:
    """What to do with a message, and why.

    Attributes:
        decision: `accept` the intents, `ask` which of the first two candidates is meant, or `out_of_scope`.
        intents: The accepted intents: one, or several for a multi-label classifier. Empty for other decisions.
        candidates: The most likely intents, best first, whatever the decision.
        familiarity: The similarity to the closest intent. The message is in scope at or above `Scope.threshold`.
        rank: The share of in-scope messages that are less familiar.
        nearest: The most similar examples.
    """

    decision: Decision
    intents: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    familiarity: float
    rank: float
    nearest: tuple[Neighbour, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as a dictionary for JSON, with numbers rounded to four decimals."""

        def rounded(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: rounded(inner) for name, inner in value.items()}
            if isinstance(value, (list, tuple)):
                return [rounded(inner) for inner in value]
            return round(value, 4) if isinstance(value, float) else value

        return dict(rounded(asdict(self)))


def _decide(fitted: Fitted, row: npt.NDArray[np.float64], order: npt.NDArray[np.int64], score: float) -> Any:
    """Return the decision and the columns of the accepted intents."""
    if score < fitted.scope.threshold:
        return "out_of_scope", ()
    if fitted.options.multi_label:
        sure = tuple(column for column in order if row[column] >= fitted.label_threshold)
    else:
        sure = (order[0],) if row[order[0]] >= fitted.options.accept_at else ()
    return ("accept", sure) if sure else ("ask", ())


def _block(fitted: Fitted, vectors: Vectors, examples: int) -> list[Answer]:
    known = fitted.examples
    similarities = vectors @ known.vectors.T
    scores = familiarity(vectors, similarities, known)
    ranks = fitted.scope.rank(scores)
    probability = fitted.probabilities(vectors, similarities)
    order = np.argsort(-probability, axis=1, kind="stable")
    shown = min(examples, len(known))
    near = np.argpartition(-similarities, shown - 1, axis=1)[:, :shown] if shown else np.zeros((len(vectors), 0), int)
    answers = []
    for row in range(len(vectors)):
        decision, sure = _decide(fitted, probability[row], order[row], scores[row])
        best = sorted(near[row], key=lambda place, row=row: -similarities[row, place])  # type: ignore[misc]
        kept = max(2, len(sure))
        answers.append(
            Answer(
                decision,
                tuple(known.intents[column] for column in sure),
                tuple(
                    Candidate(known.intents[column], float(probability[row, column])) for column in order[row, :kept]
                ),
                float(scores[row]),
                float(ranks[row]),
                tuple(
                    Neighbour(
                        known.messages[place][-1],
                        tuple(known.intents[column] for column in np.flatnonzero(known.member[place])),
                        float(similarities[row, place]),
                    )
                    for place in best
                ),
            )
        )
    return answers


def answer_vectors(fitted: Fitted, vectors: Vectors, examples: int) -> list[Answer]:
    """Answer message vectors, each with its `examples` nearest examples."""
    blocks = range(0, len(vectors), AT_A_TIME)
    return [answer for start in blocks for answer in _block(fitted, vectors[start : start + AT_A_TIME], examples)]


@dataclass(frozen=True)
class Suggestion:
    """An unlabelled message worth labelling next.

    Attributes:
        place: Its index in the list of messages.
        text: The message.
        reason: Why to label it, in words.
        intents: The most likely intents to choose from.
    """

    place: int
    text: str
    reason: str
    intents: tuple[str, ...]


def _doubt(fitted: Fitted, vectors: Vectors) -> tuple[npt.NDArray[np.float64], list[str], list[tuple[str, ...]]]:
    """Score from 0 to 1 how unclear each message is: torn between two intents, or near the threshold."""
    doubts, reasons, likeliest = [], [], []
    for answer in answer_vectors(fitted, vectors, 0):
        names = tuple(candidate.intent for candidate in answer.candidates)
        first, second = ([candidate.probability for candidate in answer.candidates] + [0.0])[:2]
        between = 1 - (first - second)
        # Doubt peaks at the threshold and vanishes far below it.
        edge = float(np.exp(-(((answer.familiarity - fitted.scope.threshold) / 0.1) ** 2)))
        doubts.append(max(between if answer.decision != "out_of_scope" else 0.0, edge))
        split = len(names) > 1 and between >= edge and answer.decision != "out_of_scope"
        reasons.append(f"between {names[0]} and {names[1]}" if split else "at the border of what is in scope")
        likeliest.append(names)
    return np.array(doubts), reasons, likeliest


def suggest(fitted: Fitted, messages: Sequence[Turns], vectors: Vectors, count: int) -> list[Suggestion]:
    """Return the most unclear messages, trading doubt against similarity to the examples and to earlier picks."""
    if not messages:
        return []
    doubts, reasons, likeliest = _doubt(fitted, vectors)
    seen = (vectors @ fitted.examples.vectors.T).max(axis=1, initial=0)
    found: list[Suggestion] = []
    free = np.ones(len(messages), bool)
    while len(found) < min(count, len(messages)):
        worth = np.where(free, doubts * (1 - np.clip(seen, 0, 1)), -1)
        place = int(worth.argmax())
        free[place] = False
        seen = np.maximum(seen, vectors @ vectors[place])
        found.append(Suggestion(place, messages[place][-1], reasons[place], likeliest[place]))
    return found
