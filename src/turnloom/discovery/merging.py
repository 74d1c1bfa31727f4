"""Merge fine groups, the closest first, until the next two would be as far apart as different intents are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.discovery.neighbours import Numbers
from turnloom.runtime.protocols import Vectors

SIZE_POWER = 0.2
"""How much size counts: 0 merges by distance alone, which makes some groups huge; 1 makes all of one size."""
COUNT_POWER = 0.2
"""Among more intents, the two most similar ones are more similar: the limit falls with their number."""
MEMBERS_POWER, FEWEST_MEMBERS, MOST_MEMBERS = 0.1, 20, 200
"""Larger groups vary more after smoothing, which reaches a smaller part of them: the limit rises with their mean size.

Nothing was measured beyond 200.
"""
LIMIT = 0.566
"""Merging stops where it would cost more than this for a single group of one member (`studies/discovery`)."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Merges:
    """The steps of merging, from all groups down to one.

    Attributes:
        pairs: The groups merged in each step; the second becomes a part of the first.
        costs: How far apart they were: the mean distance of their members, times how large they are for a group.
        members: The members of all groups.
    """

    pairs: list[tuple[int, int]]
    costs: Floats
    members: int

    def count(self) -> int:
        """Return how many groups there are when the closest two are as far apart as different intents."""
        groups = len(self.pairs) + 1 - np.arange(len(self.pairs))
        members = np.clip(self.members / groups, FEWEST_MEMBERS, MOST_MEMBERS)
        exceeding = np.flatnonzero(self.costs > LIMIT * groups**-COUNT_POWER * members**MEMBERS_POWER)
        return int(groups[exceeding[0]]) if len(exceeding) else 1

    def cut(self, count: int) -> Numbers:
        """Return the group that each fine group is in if there are so many."""
        group = np.arange(len(self.pairs) + 1)
        for kept, gone in self.pairs[: len(group) - count]:
            group[group == gone] = kept
        return np.unique(group, return_inverse=True)[1].astype(np.int64)


def merge_groups(means: Vectors, sizes: Numbers) -> Merges:
    """Merge groups step by step: average linkage, but small groups join others sooner than large ones.

    Args:
        means: The mean vector of each group's members, which are unit vectors.
        sizes: The number of members.
    """
    count = len(sizes)
    size = sizes.astype(np.float64)
    distance = 1 - means.astype(np.float64) @ means.T.astype(np.float64)
    cost = _size_factor(size[:, None], size) * distance
    np.fill_diagonal(cost, np.inf)
    nearest = cost.argmin(axis=1)
    lowest = cost.min(axis=1)
    alive = np.ones(count, bool)
    pairs, costs = [], []
    for left in range(count, 1, -1):
        first = int(lowest.argmin())
        kept, gone = sorted((first, int(nearest[first])))
        pairs.append((kept, gone))
        costs.append(lowest[first] * (left / sizes.sum()) ** SIZE_POWER)
        both = size[kept] + size[gone]
        distance[kept] = (size[kept] * distance[kept] + size[gone] * distance[gone]) / both
        distance[:, kept] = distance[kept]
        size[kept], alive[gone] = both, False
        cost[kept] = np.where(alive, _size_factor(both, size) * distance[kept], np.inf)
        cost[kept, kept] = np.inf
        cost[:, kept] = cost[kept]
        cost[gone], cost[:, gone], lowest[gone] = np.inf, np.inf, np.inf
        closer = alive & (cost[kept] < lowest)
        nearest[closer], lowest[closer] = kept, cost[kept, closer]
        stale = np.flatnonzero(alive & ((nearest == kept) | (nearest == gone)) & ~closer)
        for group in {kept, *stale.tolist()}:
            nearest[group] = cost[group].argmin()
            lowest[group] = cost[group, nearest[group]]
    return Merges(pairs, np.array(costs), int(sizes.sum()))


def _size_factor(one: Floats | float, other: Floats) -> Floats:
    return np.asarray((one * other / (one + other)) ** SIZE_POWER)
