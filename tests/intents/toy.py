"""Messages whose meaning is known: `topic number` lies near its topic, each message in a direction of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turnloom.intents.examples import Examples, embed, turns_of
from turnloom.intents.names import PHRASES
from turnloom.runtime.object_encoder import ObjectEncoder


def _direction(text: str, width: int) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(width)
    return np.asarray(vector / np.linalg.norm(vector))


class Topics:
    """An encoder; several lines are the sum of their vectors, `yes` has no topic."""

    def __init__(self, width: int = 48, spread: float = 1.0, name: str = "topics") -> None:
        self.width, self.spread, self.name = width, spread, name
        self.fingerprint = f"{name}-{width}-{spread}"
        self.encoded: list[str] = []

    def _one(self, text: str) -> npt.NDArray[np.float64]:
        for phrase in PHRASES:  # Around a name; they mean nothing here.
            text = text.removeprefix(phrase.format(""))
        topic, _, number = text.rpartition(" ")
        if not topic:
            return _direction(text, self.width)
        # A topic that begins with "wide" spreads twice as far.
        spread = self.spread * (2 if topic.startswith("wide") else 1)
        return np.asarray(_direction(topic, self.width) + spread * _direction(f"{topic} {number}", self.width))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded += texts
        return np.array([sum(self._one(line) for line in text.split("\n")) for text in texts], np.float32)


def messages(topics: Sequence[str], each: int, start: int = 0) -> tuple[list[str], list[str]]:
    """So many messages of each topic, and their topics."""
    texts = [f"{topic} {number}" for topic in topics for number in range(start, start + each)]
    return texts, [text.rpartition(" ")[0] for text in texts]


def names(count: int, kind: str = "topic") -> list[str]:
    return [f"{kind}{number}" for number in range(count)]


def examples_of(topics: Sequence[str], each: int, start: int = 0, encoder: Topics | None = None) -> Examples:
    texts, labels = messages(topics, each, start)
    turns = [turns_of(text) for text in texts]
    vectors = embed(ObjectEncoder(encoder or Topics()), turns, 0)
    return Examples.of(turns, vectors, [(label,) for label in labels])
