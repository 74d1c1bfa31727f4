"""Settle which group each message is in, and which groups make up a larger one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from turnloom.discovery.grouping import Centres, centres_of
from turnloom.discovery.neighbours import Numbers
from turnloom.runtime.protocols import Vectors, unit_rows

FITS = 0.1
"""A message of a small group joins another one if it is as close to it as all but this share of its members."""
TWO_LEVELS, THREE_LEVELS = 60, 400
"""Up to so many groups, a hierarchy has two or three levels; else four."""
MOST_IN_TREE = 4_000
"""More leaves are joined to so many before they are merged; the level above them has fewer groups."""
BLOCK = 8_192


def dissolve_small(unit: Vectors, groups: Numbers, min_size: int) -> Numbers:
    """Dissolve groups that are too small: a member joins the nearest other group if it fits, or becomes -1.

    The others are numbered from 0, in their order.
    """
    sizes = np.bincount(groups, minlength=1) if len(groups) else np.zeros(0, np.int64)
    kept = np.flatnonzero(sizes >= min_size)
    number = np.full(len(sizes), -1, np.int64)
    number[kept] = np.arange(len(kept))
    found = number[groups] if len(groups) else groups
    loose = np.flatnonzero(found < 0)
    if not len(loose) or not len(kept):
        return found
    centres = centres_of(unit, found)
    near = similarity_to_centre(unit, found, centres)
    members = members_of(found, near, np.arange(len(kept)), len(kept))
    border = np.array([np.quantile(near[inside], FITS) for inside in members])
    means = unit_rows(centres.means)
    for start in range(0, len(loose), BLOCK):
        part = loose[start : start + BLOCK]
        scores = unit[part] @ means.T
        best = scores.argmax(axis=1)
        fits = scores[np.arange(len(part)), best] >= border[best]
        found[part] = np.where(fits, best, -1)
    return found


def groups_of_new(groups: Numbers, new: npt.NDArray[np.bool_]) -> Numbers:
    """Return the groups of the new messages, numbered from 0; -1 in groups that have at least as many known ones."""
    count = int(groups.max(initial=-1)) + 1
    mostly = np.bincount(groups[new], minlength=count) > np.bincount(groups[~new], minlength=count)
    number = np.where(mostly, np.cumsum(mostly) - 1, -1)
    return np.asarray(number[groups[new]], np.int64)


def similarity_to_centre(unit: Vectors, groups: Numbers, centres: Centres) -> Vectors:
    """Return how near each message is to the centre of its group; 0 for those in none."""
    means = unit_rows(centres.means)
    near = np.zeros(len(unit), np.float32)
    for start in range(0, len(unit), BLOCK):
        part = slice(start, start + BLOCK)
        inside = groups[part] >= 0
        rows = np.flatnonzero(inside) + start
        near[rows] = np.einsum("ij,ij->i", unit[rows], means[groups[rows]])
    return near


def nest(centres: Centres) -> list[Numbers]:
    """Return the group that each leaf belongs to, level by level from the top; the last level is the leaves.

    Groups are merged by Ward's method, so each level is made of whole groups of the next.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    count = len(centres.sizes)
    leaves = np.arange(count)
    if count < 4:
        return [leaves]
    depth = 2 if count <= TWO_LEVELS else 3 if count <= THREE_LEVELS else 4
    means = unit_rows(centres.means)
    near = _near_leaves(means)
    sums = np.zeros((int(near.max()) + 1, means.shape[1]))
    np.add.at(sums, near, means)
    tree = linkage(sums / np.bincount(near)[:, None], "ward")
    wanted = [max(2, round(count ** ((level + 1) / depth))) for level in range(depth - 1)]
    return [*(fcluster(tree, number, "maxclust").astype(np.int64)[near] - 1 for number in wanted), leaves]


def _near_leaves(means: Vectors) -> Numbers:
    """Return a number per leaf: its own, or for very many leaves one that it shares with the nearest ones.

    Ward's method compares every pair, which takes 2 GB for the leaves of a million messages.
    """
    if len(means) <= MOST_IN_TREE:
        return np.arange(len(means))
    from sklearn.cluster import KMeans

    found = KMeans(MOST_IN_TREE, n_init=1, max_iter=5, random_state=0).fit_predict(means)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def members_of(leaf: Numbers, near: Vectors, of_leaf: Numbers, count: int) -> list[Numbers]:
    """Return the members of each group of a level, the most typical first."""
    inside = np.flatnonzero(leaf >= 0)
    group = of_leaf[leaf[inside]]
    order = np.lexsort((-near[inside], group))
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    return [inside[order[start:end]] for start, end in pairwise(bounds)]
