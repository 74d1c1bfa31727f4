"""Of the replies that fit a conversation, prefer what most of them say.

The nearest reply often knows too much: it names a city or a cause that nobody mentioned. Such details differ from one
reply to the next, and what they have in common fits. Translation knows this as minimum Bayes risk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turnloom.runtime.protocols import Vectors, unit_rows

NEAREST = 100
"""So many replies say what is common."""
SPREAD = 0.05
"""A reply whose cosine is lower by this much has 2.7 times less to say."""
AGREEMENT = 0.8
"""The share of agreement in the score; the rest is how well a reply fits by itself."""


def agreed(fits: npt.NDArray[np.float64], vectors: Vectors) -> npt.NDArray[np.float64]:
    """Return a score for each reply: how alike the others are to it, those that fit better counting more.

    Args:
        fits: How well each reply fits the conversation, as a cosine.
        vectors: The replies' vectors.

    Example:
        >>> vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0.1], [0, 1, 0.2]], np.float32)
        >>> agreed(np.array([0.62, 0.6, 0.6, 0.6]), vectors).argmax().item()  # The first fits best, by itself.
        2
    """
    weights = np.exp((fits - fits.max()) / SPREAD)
    unit = unit_rows(vectors)
    alike = (unit @ unit.T).astype(np.float64)
    np.fill_diagonal(alike, 0.0)
    scores: npt.NDArray[np.float64] = AGREEMENT * (alike @ weights) / weights.sum() + (1 - AGREEMENT) * fits
    return scores
