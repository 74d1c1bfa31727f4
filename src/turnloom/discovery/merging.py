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
BLOCK = 256
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

    In each round, all pairs merge whose groups are each other's closest. This gives the same steps as merging the
    closest pair of all, because a merged group is never closer to a third one than both of its parts were. It needs no
    matrix of all distances, which takes 5 GB for the fine groups of a million messages.

    Args:
        means: The mean vector of each group's members, which are unit vectors.
        sizes: The number of members.
    """
    groups = _Open(means.astype(np.float32), sizes.astype(np.float64), np.arange(len(sizes)), np.zeros(len(sizes)))
    closest, lowest = groups.closest(np.arange(len(sizes)))
    pairs, costs = [], []
    while len(closest) > 1:
        rows = np.arange(len(closest))
        kept = rows[(closest[closest] == rows) & (rows < closest)]
        gone = closest[kept]
        if not len(kept):  # Rounding broke a tie differently from either side.
            first = int(lowest.argmin())
            kept, gone = np.sort([[first], [closest[first]]], axis=0)
        pairs.append(np.stack([groups.number[kept], groups.number[gone]], axis=1))
        costs.append(groups.merge(kept, gone, lowest[kept]))
        stale = np.isin(closest, np.concatenate([kept, gone]))
        stale[kept] = True
        left = np.delete(rows, gone)
        moved = np.zeros_like(rows)
        moved[left] = np.arange(len(left))
        groups = groups.only(left)
        closest, lowest, again = moved[closest[left]], lowest[left], np.flatnonzero(stale[left])
        closest[again], lowest[again] = groups.closest(again)
    return _ordered(pairs, costs, sizes)


def _ordered(pairs: list[Numbers], costs: list[Floats], sizes: Numbers) -> Merges:
    """Put the merges of all rounds in the order of their costs, and refer costs to a group's mean size."""
    if not pairs:
        return Merges([], np.zeros(0), int(sizes.sum()))
    every, cost = np.concatenate(pairs), np.concatenate(costs)
    order = np.argsort(cost, kind="stable")
    left = len(sizes) - np.arange(len(order))
    steps = [(int(kept), int(gone)) for kept, gone in every[order]]
    return Merges(steps, cost[order] * (left / sizes.sum()) ** SIZE_POWER, int(sizes.sum()))


@dataclass
class _Open:
    """Groups that are still to be merged: their means, sizes, numbers, and what their last merge cost."""

    means: Vectors
    size: Floats
    number: Numbers
    cost: Floats

    def closest(self, rows: Numbers) -> tuple[Numbers, Floats]:
        """Return the closest other group of some groups, and what it costs to merge the two."""
        closest, lowest = np.zeros(len(rows), np.int64), np.full(len(rows), np.inf)
        if len(self.size) < 2:
            return closest, lowest
        for start in range(0, len(rows), BLOCK):
            asked = rows[start : start + BLOCK]
            cost = _size_factor(self.size[asked, None], self.size) * (1 - self.means[asked] @ self.means.T)
            cost[np.arange(len(asked)), asked] = np.inf
            closest[start : start + BLOCK] = cost.argmin(axis=1)
            lowest[start : start + BLOCK] = cost.min(axis=1)
        return closest, lowest

    def merge(self, kept: Numbers, gone: Numbers, costs: Floats) -> Floats:
        """Merge pairs of groups into the first of each; return what it costs, at least as much as their parts did."""
        both = self.size[kept] + self.size[gone]
        sums = self.size[kept, None] * self.means[kept] + self.size[gone, None] * self.means[gone]
        self.means[kept], self.size[kept] = sums / both[:, None], both
        self.cost[kept] = np.maximum(costs, np.maximum(self.cost[kept], self.cost[gone]))
        return np.asarray(self.cost[kept])

    def only(self, rows: Numbers) -> _Open:
        """Return some of the groups."""
        return _Open(self.means[rows], self.size[rows], self.number[rows], self.cost[rows])


def _size_factor(one: Floats, other: Floats) -> Floats:
    return np.asarray((one * other / (one + other)) ** SIZE_POWER)
