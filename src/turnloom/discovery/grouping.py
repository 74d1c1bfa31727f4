"""Group vectors at the granularity of intents, when nobody knows how many groups there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.discovery.neighbours import Numbers, nearest, neighbour_count, shared_neighbours
from turnloom.runtime.protocols import Vectors, unit_rows

FINEST = 64.0
RESOLUTIONS = tuple(FINEST / 2 ** (step / 2) for step in range(1, 15))
"""From many groups to few, each times √2."""
SIBLINGS = 0.6
"""Groups are too fine if a group's most similar other group is, on average, more similar than this.

The similarity is that of the groups' expected vectors, so it does not depend on how many members were seen. With the
next number, chosen on the training splits of CLINC150, BANKING77, HWU64 and Bitext (`studies/discovery`).
"""
AS_GOOD = 0.01
"""Among groupings that are not too fine, the finest whose separation is within this of the best."""
LOWEST_COHESION = 0.05
SAMPLE = 5_000
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

    def similarities(self) -> npt.NDArray[np.float64]:
        """Return the similarity of groups: the cosine of their expected vectors, corrected for the few members seen."""
        scale = np.sqrt(self.cohesion)
        means = self.means.astype(np.float64) / scale[:, None]
        similarity = np.clip(means @ means.T, -1, 1)
        np.fill_diagonal(similarity, 1)
        return np.asarray(similarity)


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
    return unit_rows(unit), mean


def find_groups(vectors: Vectors, on_progress: Callable[[str, float], None] = lambda *_: None) -> Numbers:
    """Return a group number per vector, numbered from 0; `vectors` are centred unit vectors.

    Louvain's method looks for groups in the graph of shared neighbours. To choose how fine, it runs once at the finest
    resolution and then on the groups of that, which costs next to nothing; at the chosen one it runs on all vectors.
    """
    if len(vectors) < 4:
        return np.zeros(len(vectors), np.int64)
    indices, _ = nearest(vectors, neighbour_count(len(vectors)), lambda share: on_progress("neighbours", share))
    graph = shared_neighbours(indices)
    on_progress("groups", 0.0)
    fine = _louvain(graph, FINEST)
    on_progress("groups", 0.5)
    found = _louvain(graph, _choose(vectors, {FINEST: fine, **_coarser(graph, fine)}))
    on_progress("groups", 1.0)
    return found


def _louvain(graph: Any, resolution: float) -> Numbers:
    from sknetwork.clustering import Louvain

    found = Louvain(resolution=resolution, random_state=SEED, shuffle_nodes=True).fit_predict(graph)
    return np.asarray(found, np.int64)


def _coarser(graph: Any, fine: Numbers) -> dict[float, Numbers]:
    """Return coarser groups by resolution, each made of whole finer ones."""
    from sknetwork.utils import get_membership

    found = {}
    for resolution in RESOLUTIONS:
        member = get_membership(fine)
        fine = _louvain((member.T @ graph @ member).tocsr(), resolution)[fine]
        found[resolution] = fine
    return found


def _choose(vectors: Vectors, choices: dict[float, Numbers]) -> float:
    """Return the finest resolution whose groups are well separated and not too alike."""
    rng = np.random.default_rng(SEED)
    seen = np.sort(rng.choice(len(vectors), min(SAMPLE, len(vectors)), replace=False))
    scores = {}
    for resolution, groups in choices.items():
        centres = centres_of(vectors, groups)
        if len(centres.sizes) > 1 and mean_sibling(centres) <= SIBLINGS:
            scores[resolution] = _separation(vectors[seen], groups[seen], centres)
    if not scores:
        return RESOLUTIONS[-1]
    best = max(scores.values())
    return max(resolution for resolution, score in scores.items() if score >= best - AS_GOOD)


def mean_sibling(centres: Centres) -> float:
    """Return how similar a member's group is to the most similar other group, on average over members."""
    similarity = centres.similarities()
    np.fill_diagonal(similarity, -1)
    return float(np.average(similarity.max(axis=1), weights=centres.sizes))


def _separation(vectors: Vectors, groups: Numbers, centres: Centres) -> float:
    """Return the mean silhouette towards centres."""
    similarity = vectors @ unit_rows(centres.means).T
    rows = np.arange(len(vectors))
    own = similarity[rows, groups].copy()
    similarity[rows, groups] = -2
    other = similarity.max(axis=1)
    return float(np.mean((own - other) / np.maximum(1 - np.minimum(own, other), 1e-6)))
