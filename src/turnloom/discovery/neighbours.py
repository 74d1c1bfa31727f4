"""The graph of shared neighbours: who is near whom among many vectors, without comparing every pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.runtime.protocols import Vectors, unit_rows

Numbers = npt.NDArray[np.int64]
FEWEST, MOST = 8, 20
COMPARE_ALL = 20_000
"""Up to this many vectors, every pair is compared."""
PER_CELL, MOST_CELLS = 400, 1_024
CELLS_SEARCHED = 10
SAMPLE_PER_CELL = 40
BLOCK = 1_024
SEED = 0


def neighbour_count(rows: int) -> int:
    """Return how many neighbours each vector gets: about log2 of their number, which keeps a graph connected.

    Of very few vectors, at most a quarter are neighbours: else everything would be near to everything.
    """
    return min(max(round(math.log2(max(rows, 2))), FEWEST), MOST, max(rows // 4, 1))


def nearest(
    vectors: Vectors, count: int, on_progress: Callable[[float], None] = lambda _: None
) -> tuple[Numbers, Vectors]:
    """Return the nearest neighbours of each unit vector, itself excluded, and their similarities.

    Up to 20,000 vectors the answer is exact. Above, vectors are put into cells by k-means, and those of a cell are
    compared with those of the ten nearest cells only: the time per vector hardly grows.
    """
    rows = len(vectors)
    indices, similarities = np.zeros((rows, count), np.int64), np.zeros((rows, count), np.float32)
    if rows <= COMPARE_ALL:
        everyone = np.arange(rows)
        searches = [(everyone[start : start + BLOCK], everyone) for start in range(0, rows, BLOCK)]
    else:
        searches = _cells(vectors)
    done = 0
    for members, candidates in searches:
        others = vectors[candidates].astype(np.float32)
        for start in range(0, len(members), BLOCK):
            asked = members[start : start + BLOCK]
            scores = vectors[asked].astype(np.float32) @ others.T
            scores[asked[:, None] == candidates] = -2
            near = np.argpartition(-scores, count - 1, axis=1)[:, :count]
            indices[asked] = candidates[near]
            similarities[asked] = np.take_along_axis(scores, near, axis=1)
        done += len(members)
        on_progress(done / rows)
    return indices, similarities


def _cells(vectors: Vectors) -> list[tuple[Numbers, Numbers]]:
    """Return the members of each cell, and the candidates for their neighbours: those of the nearest cells."""
    from sklearn.cluster import MiniBatchKMeans

    count = min(len(vectors) // PER_CELL, MOST_CELLS)
    rng = np.random.default_rng(SEED)
    sample = np.sort(rng.choice(len(vectors), min(len(vectors), SAMPLE_PER_CELL * count), replace=False))
    means = MiniBatchKMeans(count, random_state=SEED, n_init=1, batch_size=8_192, max_iter=10)
    centres = unit_rows(means.fit(vectors[sample].astype(np.float32)).cluster_centers_)
    cell = np.concatenate(
        [(vectors[start : start + BLOCK] @ centres.T).argmax(axis=1) for start in range(0, len(vectors), BLOCK)]
    )
    order = np.argsort(cell, kind="stable")
    bounds = np.searchsorted(cell[order], np.arange(count + 1))
    members = [order[bounds[number] : bounds[number + 1]] for number in range(count)]
    near = np.argsort(-(centres @ centres.T), axis=1, kind="stable")[:, :CELLS_SEARCHED]
    return [
        (members[number], np.sort(np.concatenate([members[other] for other in near[number]])))
        for number in range(count)
        if len(members[number])
    ]


def _listed(indices: Numbers) -> Any:
    """Return a sparse matrix with a 1 for each neighbour in a row."""
    from scipy import sparse

    rows, count = indices.shape
    start = np.arange(0, rows * count + 1, count, dtype=np.int32)
    places = indices.ravel().astype(np.int32)  # Half the memory of the default.
    return sparse.csr_matrix((np.ones(rows * count, np.float32), places, start), shape=(rows, rows))


def shared_neighbours(indices: Numbers) -> Any:
    """Return a sparse graph: neighbours are joined by the share of neighbours that they have in common.

    Sharing neighbours says more than being near: in many dimensions some vectors are near to everything.
    """
    from scipy import sparse

    rows, count = indices.shape
    listed = _listed(indices)
    joined = listed.maximum(listed.T).tocsr()
    own = (listed + sparse.identity(rows, dtype=np.float32, format="csr")).tocsr()
    turned = own.T.tocsr()
    blocks = []
    for first in range(0, rows, 8 * BLOCK):
        last = first + 8 * BLOCK
        common = (own[first:last] @ turned).multiply(joined[first:last]).tocsr()
        common.data = common.data / (2 * (count + 1) - common.data)
        blocks.append(common)
    return sparse.vstack(blocks, format="csr")


def smooth_means(vectors: Vectors, indices: Numbers, groups: Numbers) -> Vectors:
    """Return the mean of each group's smoothed vectors: unit vectors that are averaged with their neighbours twice.

    Args:
        vectors: Centred unit vectors.
        indices: The neighbours of each.
        groups: The group of each, numbered from 0.
    """
    from scipy import sparse

    rows = len(vectors)
    listed = _listed(indices)
    joined = listed.maximum(listed.T).tocsr()
    del listed
    weight = (0.5 / np.maximum(np.asarray(joined.sum(axis=1)).ravel(), 1)).astype(np.float32)
    blocks = [slice(start, start + 8 * BLOCK) for start in range(0, rows, 8 * BLOCK)]
    once = np.empty_like(vectors, np.float32)
    for part in blocks:
        once[part] = 0.5 * vectors[part] + weight[part, None] * (joined[part] @ vectors)
    mean = (0.5 + joined @ weight) / rows @ once
    sums = np.zeros((int(groups.max()) + 1, vectors.shape[1]), np.float64)
    for part in blocks:
        twice = unit_rows(0.5 * once[part] + weight[part, None] * (joined[part] @ once) - mean)
        size = len(twice)
        member = sparse.csr_matrix((np.ones(size, np.float32), (groups[part], np.arange(size))), (len(sums), size))
        sums += member @ twice
    return np.asarray(sums / np.bincount(groups)[:, None], np.float32)
