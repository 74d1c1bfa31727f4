"""What to label next: the messages that would teach the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.intents.answers import answer_vectors
from turnloom.intents.examples import Turns
from turnloom.intents.fitted import Fitted
from turnloom.runtime.protocols import Vectors

__all__ = ["Suggestion", "suggest"]


@dataclass(frozen=True)
class Suggestion:
    """A message worth a label.

    Attributes:
        place: Where it stood among the messages.
        text: The message.
        reason: Why, in words.
        intents: The likeliest intents, to choose from.
    """

    place: int
    text: str
    reason: str
    intents: tuple[str, ...]


def _doubt(fitted: Fitted, vectors: Vectors) -> tuple[npt.NDArray[np.float64], list[str], list[tuple[str, ...]]]:
    """From 0 to 1, how unclear each message is: between two intents, or at the border of the scope."""
    doubts, reasons, likeliest = [], [], []
    for answer in answer_vectors(fitted, vectors, 0):
        names = tuple(candidate.intent for candidate in answer.candidates)
        first, second = ([candidate.probability for candidate in answer.candidates] + [0.0])[:2]
        between = 1 - (first - second)
        # Far outside nothing is unclear, at the threshold everything is.
        edge = float(np.exp(-(((answer.familiarity - fitted.scope.threshold) / 0.1) ** 2)))
        doubts.append(max(between if answer.decision != "out_of_scope" else 0.0, edge))
        split = len(names) > 1 and between >= edge and answer.decision != "out_of_scope"
        reasons.append(f"between {names[0]} and {names[1]}" if split else "at the border of what is in scope")
        likeliest.append(names)
    return np.array(doubts), reasons, likeliest


def suggest(fitted: Fitted, messages: Sequence[Turns], vectors: Vectors, count: int) -> list[Suggestion]:
    """The most unclear messages, each as unlike the ones before it and the examples as it is unclear."""
    if not messages:
        return []
    doubts, reasons, likeliest = _doubt(fitted, vectors)
    seen = (vectors @ fitted.examples.vectors.T).max(axis=1)
    found: list[Suggestion] = []
    free = np.ones(len(messages), bool)
    while len(found) < min(count, len(messages)):
        worth = np.where(free, doubts * (1 - np.clip(seen, 0, 1)), -1)
        place = int(worth.argmax())
        free[place] = False
        seen = np.maximum(seen, vectors @ vectors[place])
        found.append(Suggestion(place, messages[place][-1], reasons[place], likeliest[place]))
    return found
