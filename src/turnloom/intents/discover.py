"""Groups of messages that mean the same, and a first draft of intents from them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.intents.examples import Examples, Turns, drawn
from turnloom.intents.fitted import Fitted
from turnloom.intents.naming import name_groups
from turnloom.intents.scope import familiarity
from turnloom.runtime.protocols import Vectors, unit_rows

Places = npt.NDArray[np.int64]
MOST_TOGETHER, MOST_KNOWN = 5_000, 1_500
"""Messages that are grouped pairwise: time and memory grow with the square. Others join the nearest group."""
CUTS = 60
FINEST = 0.6
"""Closer messages are wordings of one intent, in every labelled set that was looked at and by several models."""
COVERED = 0.8
"""The share of messages that shall be in a group."""
CLEARLY = 0.1
"""A silhouette that is higher by less is no reason for coarser groups: of real messages, all of them are near zero."""
BLOCK = 1_024
EXAMPLES = 50
"""Of each group, that become examples of its intent, at most."""
FEWEST = 5
NEAR_COPY = 0.8
"""The similarity from which on a message says the same as another but for a name, a number or a greeting."""
FEWEST_WORDINGS, MOST_WORDINGS = 10, 1_000


@dataclass(frozen=True)
class Cluster:
    """Messages that belong together.

    Attributes:
        name: A short phrase that many of them say and other groups do not; no two groups have the same.
        typical: The most typical members.
        size: How many there are.
        cohesion: The mean similarity to the group's centre.
        places: Where they stood among the messages, the most typical first.
    """

    name: str
    typical: tuple[str, ...]
    size: int
    cohesion: float
    places: tuple[int, ...]


def _tree(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Groups merged by mean similarity, step by step."""
    from scipy.cluster.hierarchy import linkage

    first, second = np.triu_indices(len(vectors), 1)
    distances = np.clip(1 - (vectors @ vectors.T)[first, second].astype(np.float64), 0, None)
    return np.asarray(linkage(distances, "average"))


def known_cut(examples: Examples) -> float | None:
    """The distance at which grouping the examples blindly comes closest to their intents; None if there are too few.

    New groups are cut there: as fine as the intents that the user has made.
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
    """A group for each vector, -1 for one that joins none; without a cut, the one that suits groups of a size."""
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
    """The finest cut that leaves few messages without a group, or a coarser one that sets groups apart clearly better.

    On labelled messages (banking77, CLINC150) the first comes within 0.03 of the best adjusted Rand index of any cut.
    The silhouette alone prefers groups of near copies, and leaves most other messages without any.
    """
    from scipy.cluster.hierarchy import fcluster
    from sklearn.metrics import silhouette_score

    def covered(cut: float) -> float:
        groups = fcluster(tree, cut, "distance")
        return float((np.bincount(groups)[groups] >= min_size).mean())

    heights = tree[:, 2]
    # Groups only grow with the cut, so the finest one can be found by halving.
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
    """Groups among the messages that fit no intent, the largest first."""
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
    """Groups among messages when no intent is known yet, the largest first.

    Without intents that say how fine groups shall be, most messages shall find one of `min_size` or more. Vectors are
    compared by how they differ from their mean: what all messages of a domain share tells no groups apart.

    Args:
        messages: What was said; the last turn of each is named and shown.
        vectors: Their embeddings.
        min_size: Smaller groups are not reported; larger values also make groups coarser.
        typical: How many typical members stand for a group.
    """
    if not len(messages):
        return []
    unit = unit_rows(vectors)
    centred = unit_rows(unit - unit.mean(axis=0))
    return _clusters(messages, centred, np.arange(len(unit)), _group(centred, None, min_size), min_size, typical)


def _clusters(
    messages: Sequence[Turns], vectors: Vectors, places: Places, groups: Places, min_size: int, typical: int
) -> list[Cluster]:
    """What is to be said about each group that is large enough."""
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
        Cluster(name, tuple(dict.fromkeys(said))[:typical], len(found), cohesion, tuple(int(place) for place in found))
        for name, said, found, cohesion in zip(name_groups(texts), texts, ordered, cohesions, strict=True)
    ]


@dataclass(frozen=True)
class Draft:
    """Examples of intents, and what else was said.

    Attributes:
        examples: Texts and labels, the most typical of each label first.
        wordings: Messages that are no near copy of an example, of any intent or none: give them as `held_out`, and the
            threshold lets most new wordings in. Empty if there are too few to tell.
    """

    examples: list[tuple[str, str]]
    wordings: list[str]


def smallest_group(messages: int) -> int:
    """How many messages make an intent: more of more, since a few dozen intents can be looked through, hundreds not."""
    return max(FEWEST, math.isqrt(messages) // 3)


def draft_intents(texts: Sequence[str], vectors: Vectors) -> Draft:
    """Group messages, each given once, and give each group a name and examples.

    Examples are spread evenly from the most typical member to the least: new messages will be as mixed, and a threshold
    that is learned from typical ones only turns many of them away. Near copies are no examples, since they make new
    wordings look stranger than they are.
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
    """Those that are no near copy of one before."""
    kept: list[int] = []
    for place in places:
        if not kept or (unit[kept] @ unit[place]).max() < NEAR_COPY:
            kept.append(place)
    return kept


def _unlike(used: Sequence[int], unit: Vectors) -> list[int]:
    """The places of messages that are no near copy of one in use, some of them if there are many."""
    if not used:
        return []
    nearest = np.concatenate(
        [(block @ unit[used].T).max(axis=1) for block in np.array_split(unit, 1 + len(unit) // 1024)]
    )
    found = np.flatnonzero(nearest < NEAR_COPY)
    if len(found) < FEWEST_WORDINGS:
        return []
    return [int(place) for place in found[drawn(len(found), MOST_WORDINGS)]]
