"""What unlabelled messages say about intents: labels spread from prototypes over a graph of similar messages.

Every message gets a belief for each intent: what prototypes say, mixed with what its neighbours believe. Two messages
are neighbours only if each is among the other's nearest, so groups of foreign messages stay apart. An intent then
gathers the messages that clearly belong to it; together they count as a few examples, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turnloom.intents.examples import Examples
from turnloom.intents.neighbours import Neighbours
from turnloom.intents.scores import prototype_scores
from turnloom.runtime.protocols import Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = npt.NDArray[np.float32]
MOST_MESSAGES = 10_000
"""A larger pool is sampled: more messages hardly change prototypes, and the graph's cost is quadratic."""
NEIGHBOURS = 20
EDGE_POWER = 8
SLOPE = 30.0
"""From similarities to prototypes to beliefs."""
SHARE_OF_NEIGHBOURS = 0.85
ROUNDS = 10
BALANCE = 0.5
"""Beliefs are divided by their total per intent to this power: 1 would give intents that do not occur the messages of
others, 0 lets frequent intents swallow rare ones.
"""
SHARPNESS = 2.0
"""A message that is torn between intents counts for none of them: beliefs are raised to this power."""
FAMILIAR, FAMILIAR_SLOPE = 0.3, 25.0
"""The similarity to the closest prototype at which a message counts half, and how fast less familiar ones lose weight:
foreign messages must not move prototypes.
"""
MOST_EVIDENCE = 10.0
"""How many examples the pool may count as, per intent."""
FEWEST_MESSAGES = 10
"""A smaller pool says too little to be used."""
SAME = 0.9999
"""Messages with a higher similarity are the same."""
AT_A_TIME = 1024


@dataclass(frozen=True)
class Pool:
    """Unlabelled messages and the graph between them.

    Attributes:
        vectors: One row per message.
        graph: Weights between neighbours, normalised.
        offered: How many messages there were; `vectors` may be of a sample.
    """

    vectors: Vectors
    graph: csr_matrix
    offered: int

    @classmethod
    def of(cls, vectors: Vectors, offered: int | None = None) -> Pool:
        """Build the graph between messages, each of which should occur once."""
        neighbours = min(NEIGHBOURS, max(len(vectors) // 15, 3))
        return cls(vectors, _graph(vectors, neighbours), offered or len(vectors))

    def without(self, known: Vectors) -> Pool:
        """Return the pool without messages that are known, such as examples: they must not vouch for themselves."""
        if not len(known):
            return self
        new = (self.vectors @ known.T).max(axis=1) < SAME
        return self if new.all() else self.take(new)

    def take(self, kept: npt.NDArray[np.bool_]) -> Pool:
        """Return the pool with some of its messages."""
        return Pool(self.vectors[kept], self.graph[kept][:, kept], self.offered)


def _graph(vectors: Vectors, neighbours: int) -> csr_matrix:
    """Connect messages that are among each other's nearest, and normalise by both ends' totals."""
    from scipy.sparse import csr_matrix, diags

    count = len(vectors)
    neighbours = min(neighbours, count - 1)
    near = np.zeros((count, neighbours), np.int64)
    weights = np.zeros((count, neighbours), np.float32)
    for start in range(0, count, AT_A_TIME):
        similarities = vectors[start : start + AT_A_TIME] @ vectors.T
        rows = np.arange(len(similarities))
        similarities[rows, start + rows] = -np.inf
        best = np.argpartition(-similarities, neighbours - 1, axis=1)[:, :neighbours]
        near[start + rows] = best
        weights[start + rows] = np.maximum(np.take_along_axis(similarities, best, 1), 0) ** EDGE_POWER
    ends = np.arange(count + 1) * neighbours
    directed = csr_matrix((weights.ravel(), near.ravel(), ends), (count, count))
    both = directed.minimum(directed.T)
    scale = diags(1 / np.sqrt(np.maximum(np.asarray(both.sum(axis=1)).ravel(), 1e-9)))
    return (scale @ both @ scale).tocsr().astype(np.float32)


@dataclass(frozen=True)
class Beliefs:
    """What a pool's messages are believed to mean.

    Attributes:
        intents: How much each message (row) belongs to each intent (column), given that it belongs to one.
        familiar: How much each message counts: less if it is far from all intents.
    """

    intents: Floats
    familiar: Floats


def pool_beliefs(pool: Pool, examples: Examples) -> Beliefs:
    """Spread the intents of prototypes over the graph."""
    scores = prototype_scores(pool.vectors, examples)
    best = scores.max(axis=1, keepdims=True)
    own = np.exp(SLOPE * (scores - best))
    own *= np.maximum(best, 0) ** 4 / own.sum(axis=1, keepdims=True)
    beliefs = own
    for _ in range(ROUNDS):
        beliefs = SHARE_OF_NEIGHBOURS * (pool.graph @ beliefs) + (1 - SHARE_OF_NEIGHBOURS) * own
    beliefs /= np.maximum(beliefs.sum(axis=0), 1e-9) ** BALANCE
    beliefs /= np.maximum(beliefs.sum(axis=1, keepdims=True), 1e-30)
    return Beliefs(np.asarray(beliefs**SHARPNESS, np.float32), _familiar(best[:, 0]))


def familiar_messages(pool: Pool, examples: Examples) -> Floats:
    """Return how much each message counts, without what its neighbours believe."""
    return _familiar(prototype_scores(pool.vectors, examples).max(axis=1))


def _familiar(best: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(FAMILIAR_SLOPE * (FAMILIAR - best))), np.float32)


def pool_evidence(pool: Pool, beliefs: Beliefs) -> Vectors:
    """Return a vector per intent that counts like at most `MOST_EVIDENCE` examples, or fewer if they are unfamiliar."""
    totals = np.maximum(beliefs.intents.sum(axis=0), 1e-9)
    gathered = (beliefs.intents * beliefs.familiar[:, None]).T @ pool.vectors
    return np.asarray(gathered * np.minimum(1, MOST_EVIDENCE / totals)[:, None], np.float32)


def pool_neighbours(pool: Pool, beliefs: Beliefs, intents: tuple[str, ...]) -> Neighbours:
    """Return the pool's messages with their beliefs, of which foreign ones have little."""
    believed = beliefs.intents * beliefs.familiar[:, None]
    # As precise as they are saved, so that a saved classifier gives the same answers.
    vectors, believed = (rows.astype(np.float16).astype(np.float32) for rows in (pool.vectors, believed))
    return Neighbours(vectors, believed, intents)
