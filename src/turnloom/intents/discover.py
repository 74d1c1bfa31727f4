"""Group messages that mean the same, and draft intents from the groups."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.discovery.names import name_groups
from turnloom.intents.examples import Examples, Turns, drawn
from turnloom.intents.fitted import Fitted
from turnloom.intents.scope import familiarity
from turnloom.runtime.protocols import Vectors, unit_rows

Places = npt.NDArray[np.int64]
MOST_TOGETHER, MOST_KNOWN = 5_000, 1_500
"""At most this many messages are grouped pairwise (quadratic time and memory). The rest join the nearest group."""
CUTS = 60
FINEST = 0.6
"""Messages closer than this share an intent, in every labelled set and with every model that we tried."""
COVERED = 0.8
"""The share of messages that should end up in a group."""
CLEARLY = 0.1
"""A silhouette gain below this does not justify coarser groups: on real messages all silhouettes are near zero."""
BLOCK = 1_024
EXAMPLES = 50
"""The most examples that a group contributes to its intent."""
FEWEST = 5
NEAR_COPY = 0.8
"""At or above this similarity, two messages differ only in a name, a number or a greeting."""
FEWEST_WORDINGS, MOST_WORDINGS = 10, 1_000


@dataclass(frozen=True)
class Cluster:
    """A group of similar messages.

    Attributes:
        name: A short phrase that many members contain and other groups do not; unique.
        typical: The most typical members.
        size: The number of members.
        cohesion: The mean similarity to the group's centre.
        places: The members' indices in the list of messages, most typical first.
    """

    name: str
    typical: tuple[str, ...]
    size: int
    cohesion: float
    places: tuple[int, ...]


def _tree(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Merge groups step by step, by mean similarity."""
    from scipy.cluster.hierarchy import linkage

    first, second = np.triu_indices(len(vectors), 1)
    distances = np.clip(1 - (vectors @ vectors.T)[first, second].astype(np.float64), 0, None)
    return np.asarray(linkage(distances, "average"))


def known_cut(examples: Examples) -> float | None:
    """Return the distance at which blind grouping of the examples best recovers their intents; None if too few.

    New groups are cut there, so they are as fine-grained as the existing intents.
    """
    from scipy.cluster.hierarchy import fcluster
    from sklearn.metrics import adjusted_rand_score

    known = examples.take(drawn(len(examples), MOST_KNOWN))
    if (known.counts > 1).sum() < 2:
        return None
    truth = np.argmax(known.member, axis=1)
    tree = _tree(known.vectors)
    cuts = np.quantile(tree[:, 2], np.linspace(0, 1, CUTS))
    return float(max(cuts, key=lambda cut: adjusted_rand_score(truth, fcluster(tree, cut, "distance"))))


def _group(vectors: Vectors, cut: float | None, min_size: int) -> Places:
    """Return a group number per vector, -1 for none; without a cut, choose one that suits `min_size`."""
    from scipy.cluster.hierarchy import fcluster

    if len(vectors) < 2:
        return np.zeros(len(vectors), np.int64)
    together = drawn(len(vectors), MOST_TOGETHER)
    tree = _tree(vectors[together])
    if cut is None:
        cut = _covering_cut(tree, vectors[together], max(2, round(min_size * len(together) / len(vectors))))
    found = np.full(len(vectors), -1)
    found[together] = fcluster(tree, cut, "distance") - 1
    others = np.flatnonzero(found < 0)
    if len(others):
        centres = unit_rows(np.stack([vectors[found == group].mean(axis=0) for group in range(found.max() + 1)]))
        near = vectors[others] @ centres.T
        found[others] = np.where(near.max(axis=1) >= 1 - cut, near.argmax(axis=1), -1)
    return found


def _covering_cut(tree: npt.NDArray[np.float64], vectors: Vectors, min_size: int) -> float:
    """Return the finest cut that leaves few messages ungrouped, or a coarser one with clearly better separation.

    On labelled messages (banking77, CLINC150) the finest such cut comes within 0.03 of the best adjusted Rand index of
    any cut. The silhouette alone prefers groups of near copies and leaves most other messages ungrouped.
    """
    from scipy.cluster.hierarchy import fcluster
    from sklearn.metrics import silhouette_score

    def covered(cut: float) -> float:
        groups = fcluster(tree, cut, "distance")
        return float((np.bincount(groups)[groups] >= min_size).mean())

    heights = tree[:, 2]
    # Groups only grow with the cut, so bisection finds the finest one.
    first = min(bisect_left(heights, COVERED, key=covered), len(heights) - 1)
    finest = max(float(heights[first]), FINEST)
    seen = drawn(len(vectors), MOST_KNOWN)
    distances = np.clip(1 - (vectors[seen] @ vectors[seen].T).astype(np.float64), 0, None)
    np.fill_diagonal(distances, 0)
    scores = {}
    coarser = heights[heights > finest]
    for cut in (finest, *(np.quantile(coarser, np.linspace(0, 1, CUTS)) if len(coarser) else ())):
        groups = fcluster(tree, cut, "distance")[seen]
        scores[float(cut)] = (
            silhouette_score(distances, groups, metric="precomputed") if 2 <= len(np.unique(groups)) < len(seen) else -1
        )
    best = max(scores, key=lambda cut: scores[cut])
    return best if scores[best] > scores[finest] + CLEARLY else finest


def discover_clusters(
    fitted: Fitted, messages: Sequence[Turns], vectors: Vectors, min_size: int, typical: int
) -> list[Cluster]:
    """Find groups among messages that fit no intent, largest first."""
    known = fitted.examples
    blocks = [vectors[start : start + BLOCK] for start in range(0, len(vectors), BLOCK)]
    scores = [familiarity(block, block @ known.vectors.T, known) for block in blocks]
    places = np.flatnonzero(np.concatenate(scores) < fitted.scope.threshold) if scores else np.zeros(0, np.int64)
    cut = known_cut(known)
    groups = _group(vectors[places], 1 - fitted.scope.threshold if cut is None else cut, min_size)
    return _clusters(messages, vectors, places, groups, min_size, typical)


def group_messages(
    messages: Sequence[Turns], vectors: Vectors, *, min_size: int = 5, typical: int = 3
) -> list[Cluster]:
    """Group messages before any intent is known, largest group first.

    No intents show how fine-grained groups should be, so the cut is chosen such that most messages join a group of at
    least `min_size`. Vectors are centred first: what all messages of a domain share does not separate groups.

    Args:
        messages: The messages; names and typical members come from the last turn of each.
        vectors: Their embeddings.
        min_size: Smaller groups are not reported; larger values also make groups coarser.
        typical: How many typical members to show per group.
    """
    if not len(messages):
        return []
    unit = unit_rows(vectors)
    centred = unit_rows(unit - unit.mean(axis=0))
    return _clusters(messages, centred, np.arange(len(unit)), _group(centred, None, min_size), min_size, typical)


def _clusters(
    messages: Sequence[Turns], vectors: Vectors, places: Places, groups: Places, min_size: int, typical: int
) -> list[Cluster]:
    """Describe each group that is large enough."""
    members = [places[groups == group] for group in range(groups.max(initial=-1) + 1)]
    members = sorted((found for found in members if len(found) >= min_size), key=lambda found: -len(found))
    if not members:
        return []
    ordered, cohesions = [], []
    for found in members:
        towards = vectors[found] @ unit_rows(vectors[found].mean(axis=0, keepdims=True))[0]
        ordered.append(found[np.argsort(-towards, kind="stable")])
        cohesions.append(float(towards.mean()))
    texts = [[messages[place][-1] for place in found] for found in ordered]
    return [
        Cluster(named.name, tuple(dict.fromkeys(said))[:typical], len(found), cohesion, tuple(map(int, found)))
        for named, said, found, cohesion in zip(name_groups(texts), texts, ordered, cohesions, strict=True)
    ]


@dataclass(frozen=True)
class Draft:
    """Drafted intents: examples with labels, and held-out wordings.

    Attributes:
        examples: Texts and labels, most typical first within each label.
        wordings: Messages that are not near copies of an example, in any group or none. Pass them as `held_out`, and
            the threshold accepts most new wordings. Empty if there are too few.
    """

    examples: list[tuple[str, str]]
    wordings: list[str]


def smallest_group(messages: int) -> int:
    """Return the minimum size of a drafted intent. It grows with the messages: people review dozens, not hundreds."""
    return max(FEWEST, math.isqrt(messages) // 3)


def draft_intents(texts: Sequence[str], vectors: Vectors) -> Draft:
    """Group distinct messages, and give each group a name and examples.

    Examples are spread evenly from the most to the least typical member. New messages vary as much, and a threshold
    learned from typical members alone would reject many of them. Near copies are skipped, because they make new
    wordings look less familiar than they are.
    """
    unit = unit_rows(vectors)
    rows, used = [], []
    for group in group_messages([(text,) for text in texts], vectors, min_size=smallest_group(len(texts))):
        distinct = _distinct(group.places, unit)
        chosen = np.unique(np.linspace(0, len(distinct) - 1, min(EXAMPLES, len(distinct))).round().astype(int))
        rows += [(texts[distinct[number]], group.name) for number in chosen]
        used += [distinct[number] for number in chosen]
    return Draft(rows, [texts[place] for place in _unlike(used, unit)])


def _distinct(places: Sequence[int], unit: Vectors) -> list[int]:
    """Drop near copies of earlier messages."""
    kept: list[int] = []
    for place in places:
        if not kept or (unit[kept] @ unit[place]).max() < NEAR_COPY:
            kept.append(place)
    return kept


def _unlike(used: Sequence[int], unit: Vectors) -> list[int]:
    """Return the indices of messages that are not near copies of the ones in use; a sample if there are many."""
    if not used:
        return []
    nearest = np.concatenate(
        [(block @ unit[used].T).max(axis=1) for block in np.array_split(unit, 1 + len(unit) // 1024)]
    )
    found = np.flatnonzero(nearest < NEAR_COPY)
    if len(found) < FEWEST_WORDINGS:
        return []
    return [int(place) for place in found[drawn(len(found), MOST_WORDINGS)]]
