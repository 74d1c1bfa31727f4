"""Group vectors at the granularity of intents, when nobody knows how many groups there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.discovery.merging import merge_groups
from turnloom.discovery.neighbours import Numbers, nearest, neighbour_count, shared_neighbours, smooth_means
from turnloom.runtime.protocols import Vectors, unit_rows

FINE = 22.6
"""The resolution of the groups that are merged.

One to six of them per intent on the sets it was chosen on, which have 150 to 15 intents; it bounds how many are found.
"""
ROUNDS = 2
"""How often messages then move to the nearest group."""
BLOCK = 8_192
LOWEST_COHESION = 0.05
SEED = 0


@dataclass(frozen=True)
class Centres:
    """Groups by their mean vectors.

    Attributes:
        means: The mean vector of each group.
        sizes: The number of members.
        cohesion: The mean similarity of two different members.
    """

    means: Vectors
    sizes: Numbers
    cohesion: npt.NDArray[np.float64]


def centres_of(vectors: Vectors, groups: Numbers) -> Centres:
    """Return the centres of groups numbered from 0; vectors of group -1 are left out."""
    from scipy import sparse

    count = int(groups.max(initial=-1)) + 1
    inside = np.flatnonzero(groups >= 0)
    member = sparse.csr_matrix((np.ones(len(inside), np.float32), (groups[inside], inside)), (count, len(groups)))
    sizes = np.bincount(groups[inside], minlength=count)
    sums = np.asarray(member @ vectors, np.float64)
    pairs = np.maximum(sizes * (sizes - 1), 1)
    cohesion = (np.einsum("ij,ij->i", sums, sums) - sizes) / pairs
    means = (sums / np.maximum(sizes, 1)[:, None]).astype(np.float32)
    return Centres(means, sizes, np.maximum(cohesion, LOWEST_COHESION))


def centred(vectors: Vectors) -> Vectors:
    """Remove what all messages of a domain share, which does not separate groups."""
    return centred_with_mean(vectors)[0]


def centred_with_mean(vectors: Vectors) -> tuple[Vectors, Vectors]:
    """Return centred unit vectors, and the mean that was removed."""
    unit = unit_rows(vectors)
    mean = unit.mean(axis=0)
    unit -= mean
    # In place: of a million messages, a copy takes 1.5 GB.
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    return unit, mean


def find_groups(vectors: Vectors, on_progress: Callable[[str, float], None] = lambda *_: None) -> Numbers:
    """Return a group number per vector, numbered from 0; `vectors` are centred unit vectors.

    Louvain's method finds fine groups in the graph of shared neighbours. They are merged as long as two are closer than
    different intents are; what counts are vectors averaged with those of their neighbours, which say more about what
    is meant than how it is said. In the end messages move to the nearest group.
    """
    if len(vectors) < 4:
        return np.zeros(len(vectors), np.int64)
    indices, _ = nearest(vectors, neighbour_count(len(vectors)), lambda share: on_progress("neighbours", share))
    on_progress("groups", 0.0)
    fine = _louvain(shared_neighbours(indices), FINE)
    on_progress("groups", 0.5)
    merges = merge_groups(smooth_means(vectors, indices, fine), np.bincount(fine))
    groups = merges.cut(merges.count())[fine]
    on_progress("groups", 0.8)
    for _ in range(ROUNDS):
        groups = _nearest_group(vectors, groups)
    on_progress("groups", 1.0)
    return groups


def _louvain(graph: Any, resolution: float) -> Numbers:
    from sknetwork.clustering import Louvain

    found = Louvain(resolution=resolution, random_state=SEED, shuffle_nodes=True).fit_predict(graph)
    return np.asarray(found, np.int64)


def _nearest_group(vectors: Vectors, groups: Numbers) -> Numbers:
    """Return the group with the nearest mean for each vector; groups that become empty are gone."""
    means = unit_rows(centres_of(vectors, groups).means)
    near = [(vectors[start : start + BLOCK] @ means.T).argmax(axis=1) for start in range(0, len(vectors), BLOCK)]
    return np.unique(np.concatenate(near), return_inverse=True)[1].astype(np.int64)
