"""Vectors of length one, for which cosine and dot product are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["unit_rows"]


def unit_rows(vectors: npt.NDArray[Any], kind: type[np.floating[Any]] = np.float32) -> npt.NDArray[Any]:
    """Rows of length one, computed in this precision; a row of zeros stays one.

    Example:
        >>> unit_rows(np.array([[3, 4], [0, 0]])).round(1).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, kind)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), kind)
