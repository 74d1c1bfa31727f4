"""What a message's nearest neighbours in the pool are believed to mean.

A prototype is one point, but an intent is phrased in several ways. A message close to one of them is recognised by the
pool's messages around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.runtime.protocols import Vectors

Floats = npt.NDArray[np.float32]
NEAREST = 5
CLOSENESS = 8
"""Neighbours count by their similarity to this power."""
VOTES_WEIGHT = np.float32(0.06)
"""What unanimous neighbours add to an intent's similarity."""
AT_A_TIME = 1024


@dataclass(frozen=True)
class Neighbours:
    """A pool's messages and what they are believed to mean.

    Attributes:
        vectors: One row per message.
        beliefs: How much each message (row) belongs to each intent (column); a foreign one to none.
        intents: The columns.
    """

    vectors: Vectors
    beliefs: Floats
    intents: tuple[str, ...]

    def for_intents(self, intents: Sequence[str]) -> Neighbours:
        """Return the same for other intents; nothing is believed of new ones."""
        if tuple(intents) == self.intents:
            return self
        number = {name: column for column, name in enumerate(self.intents)}
        beliefs = np.zeros((len(self.vectors), len(intents)), np.float32)
        for column, name in enumerate(intents):
            if name in number:
                beliefs[:, column] = self.beliefs[:, number[name]]
        return Neighbours(self.vectors, beliefs, tuple(intents))

    def votes(self, vectors: Vectors) -> Floats:
        """Return what to add to the similarity of each message (row) to each intent (column)."""
        blocks = [self._votes(vectors[start : start + AT_A_TIME]) for start in range(0, len(vectors), AT_A_TIME)]
        return np.vstack(blocks) if blocks else np.zeros((0, len(self.intents)), np.float32)

    def _votes(self, vectors: Vectors) -> Floats:
        similarities = vectors @ self.vectors.T
        count = min(NEAREST, len(self.vectors))
        near = np.argpartition(-similarities, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(similarities, near, axis=1), 0) ** CLOSENESS
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
        return np.asarray(VOTES_WEIGHT * np.einsum("mn,mni->mi", weights, self.beliefs[near]), np.float32)
