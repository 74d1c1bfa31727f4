"""Draw messages on a plane so that neighbours stay neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.discovery.neighbours import nearest
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Vectors

MOST_POINTS = 50_000
"""The map shows at most this many messages, evenly drawn."""
PERPLEXITY = 12
FEWEST = 4 * PERPLEXITY
"""Fewer messages are projected on their two principal components."""
SEED = 0
Points = npt.NDArray[np.float32]


def points_shown(messages: int) -> npt.NDArray[np.int64]:
    """Return the messages on the map: all of them, or an even sample."""
    if messages <= MOST_POINTS:
        return np.arange(messages)
    return np.unique(np.linspace(0, messages - 1, MOST_POINTS).astype(np.int64))


def project(unit: Vectors) -> Points:
    """Return a point between -1 and 1 for each centred unit vector, by t-SNE.

    Raises:
        TurnloomError: If openTSNE is not installed.
    """
    plain = _components(unit)
    return _scaled(plain if len(unit) < FEWEST else _neighbourly(unit, plain))


def _components(unit: Vectors) -> Any:
    from sklearn.decomposition import PCA

    found = np.zeros((len(unit), 2))
    count = min(2, *unit.shape)
    if len(unit) > 1:
        found[:, :count] = PCA(count, random_state=SEED).fit_transform(unit)
    return found


def _neighbourly(unit: Vectors, start: Any) -> Any:
    try:
        from openTSNE import TSNE
        from openTSNE.affinity import PerplexityBasedNN
        from openTSNE.nearest_neighbors import PrecomputedNeighbors
    except ImportError as error:
        raise TurnloomError("the map of messages needs openTSNE", "pip install 'turnloom[studio]'") from error
    indices, similarities = nearest(unit, min(3 * PERPLEXITY, len(unit) - 1))
    distances = np.sqrt(np.maximum(2 - 2 * similarities, 0)).astype(np.float64)
    order = np.argsort(distances, axis=1)
    known = PrecomputedNeighbors(np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1))
    affinities = PerplexityBasedNN(knn_index=known, perplexity=PERPLEXITY, random_state=SEED)
    start = 1e-4 * start / max(float(start.std()), 1e-12)
    return np.asarray(TSNE(random_state=SEED).fit(affinities=affinities, initialization=start))


def _scaled(points: Any) -> Points:
    """Centre the points and fit them into a square, keeping their proportions."""
    low, high = points.min(axis=0, initial=0), points.max(axis=0, initial=0)
    size = max(float((high - low).max()) / 2, 1e-9)
    return np.asarray((points - (low + high) / 2) / size, np.float32)
