"""Group messages that mean the same, and draft intents from the groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.discovery.grouping import centred, centres_of, find_groups
from turnloom.discovery.levels import dissolve_small, groups_of_new, members_of, similarity_to_centre
from turnloom.discovery.names import Meaning, name_groups
from turnloom.intents.examples import Turns, drawn
from turnloom.intents.fitted import Fitted
from turnloom.intents.scope import familiarity
from turnloom.runtime.protocols import Vectors, unit_rows

Places = npt.NDArray[np.int64]
MOST_KNOWN = 1_500
"""At most this many examples show how fine-grained the intents are."""
BLOCK = 1_024
EXAMPLES = 50
"""The most examples that a group contributes to its intent."""
FEWEST = 5
NEAR_COPY = 0.8
"""At or above this similarity, two messages differ only in a name, a number or a greeting."""
NEAR_SHARE = 0.7
"""The same for a model to which all messages look alike, as a share of the way from their mean similarity to 1."""
FEWEST_WORDINGS, MOST_WORDINGS = 10, 1_000
NEAR, MOST_FAR = 0.53, 0.4
"""A message is near its group's centre from this cosine of centred vectors on, but at most this share is far."""
NEAR_MEMBERS = 0.5
"""A group is drafted if so many of its messages are near: what people say by the way is in some group, too."""


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


def discover_clusters(
    fitted: Fitted, messages: Sequence[Turns], vectors: Vectors, min_size: int, typical: int
) -> list[Cluster]:
    """Find groups among messages that fit no intent, largest first.

    They are grouped together with the intents' examples, so new groups are as fine-grained as the intents. A group that
    has more examples than messages is an intent that exists.
    """
    known = fitted.examples
    blocks = [vectors[start : start + BLOCK] for start in range(0, len(vectors), BLOCK)]
    scores = [familiarity(block, block @ known.vectors.T, known) for block in blocks]
    places = np.flatnonzero(np.concatenate(scores) < fitted.scope.threshold) if scores else np.zeros(0, np.int64)
    return _clusters(messages, vectors, places, known.vectors[drawn(len(known), MOST_KNOWN)], min_size, typical)


def group_messages(
    messages: Sequence[Turns],
    vectors: Vectors,
    *,
    min_size: int = 5,
    typical: int = 3,
    encode: Callable[[Sequence[str]], Vectors] | None = None,
) -> list[Cluster]:
    """Group messages before any intent is known, largest group first.

    Args:
        messages: The messages; names and typical members come from the last turn of each.
        vectors: Their embeddings.
        min_size: Groups of fewer distinct messages are dissolved: members join another group if they fit.
        typical: How many typical members to show per group.
        encode: Returns the vectors of phrases, so that names can be ranked by meaning.
    """
    return _clusters(messages, vectors, np.arange(len(messages)), vectors[:0], min_size, typical, encode)


def _clusters(
    messages: Sequence[Turns],
    vectors: Vectors,
    places: Places,
    known: Vectors,
    min_size: int,
    typical: int,
    encode: Callable[[Sequence[str]], Vectors] | None = None,
) -> list[Cluster]:
    """Group some of the messages as `turnloom discover` does, and describe each group."""
    if not len(places):
        return []
    number: dict[Turns, int] = {}
    of_message = np.array([number.setdefault(messages[place], len(number)) for place in places], np.int64)
    first = places[np.unique(of_message, return_index=True)[1]]
    unit = centred(np.concatenate([vectors[first], known]))
    groups = groups_of_new(find_groups(unit), np.arange(len(unit)) < len(first))
    unit = unit[: len(first)]
    inside = groups >= 0
    groups[inside] = dissolve_small(unit[inside], np.unique(groups[inside], return_inverse=True)[1], min_size)
    centres = centres_of(unit, groups)
    near = similarity_to_centre(unit, groups, centres)
    members = members_of(groups, near, np.arange(len(centres.sizes)), len(centres.sizes))
    texts = [[messages[first[distinct]][-1] for distinct in found] for found in members]
    meaning = _meaning(encode, vectors[first], members) if encode and members else None
    clusters = []
    for named, said, found in zip(name_groups(texts, meaning=meaning), texts, members, strict=True):
        # Every time that a message was said, in the order of typical ones.
        rank = np.full(len(first), -1)
        rank[found] = np.arange(len(found))
        said_at = np.flatnonzero(rank[of_message] >= 0)
        said_at = places[said_at[np.argsort(rank[of_message[said_at]], kind="stable")]]
        cohesion = float(near[found].mean())
        shown = tuple(dict.fromkeys(said))[:typical]
        clusters.append(Cluster(named.name, shown, len(said_at), cohesion, tuple(map(int, said_at))))
    return sorted(clusters, key=lambda cluster: -cluster.size)


def _meaning(encode: Callable[[Sequence[str]], Vectors], vectors: Vectors, members: Sequence[Places]) -> Meaning:
    """Return what ranks names by their meaning."""
    unit = unit_rows(vectors)
    mean = unit.mean(axis=0)
    return Meaning(encode, np.stack([unit[found].mean(axis=0) - mean for found in members]).astype(np.float32), mean)


@dataclass(frozen=True)
class Draft:
    """Drafted intents: examples with labels, and held-out wordings.

    Attributes:
        examples: Texts and labels, most typical first within each label.
        wordings: Messages of these groups that are not near copies of an example. Pass them as `held_out`, and the
            threshold accepts most new wordings. Empty if there are too few.
    """

    examples: list[tuple[str, str]]
    wordings: list[str]


def smallest_group(messages: int) -> int:
    """Return the minimum size of a drafted intent. It grows with the messages: people review dozens, not hundreds."""
    return max(FEWEST, math.isqrt(messages) // 3)


def draft_intents(
    texts: Sequence[str], vectors: Vectors, encode: Callable[[Sequence[str]], Vectors] | None = None
) -> Draft:
    """Group distinct messages, and give each group a name and examples; with `encode`, names are ranked by meaning.

    Groups without a common topic are left out, and messages that are far from their group. Examples are spread evenly
    over the others: new messages vary as much, and a threshold learned from the most typical ones alone would reject
    many of them. Near copies are skipped, because they make new wordings look less familiar than they are.
    """
    unit = unit_rows(vectors)
    rows, used, copies_at = [], [], _similarity_of_copies(unit)
    topical: list[int] = []
    messages, fewest = [(text,) for text in texts], smallest_group(len(texts))
    groups = group_messages(messages, vectors, min_size=fewest, encode=encode)
    for group, near in zip(groups, _near_members(groups, centred(vectors)), strict=True):
        if len(near) < max(FEWEST, NEAR_MEMBERS * len(group.places)):
            continue
        topical += group.places
        distinct = _distinct(near, unit, copies_at)
        chosen = np.unique(np.linspace(0, len(distinct) - 1, min(EXAMPLES, len(distinct))).round().astype(int))
        rows += [(texts[distinct[number]], group.name) for number in chosen]
        used += [distinct[number] for number in chosen]
    return Draft(rows, [texts[topical[place]] for place in _unlike(unit[used], unit[topical], copies_at)])


def _near_members(groups: Sequence[Cluster], unit: Vectors) -> list[list[int]]:
    """Return the members of each group that are near its centre, in their order; `unit` are centred vectors."""
    numbers = np.full(len(unit), -1, np.int64)
    for number, group in enumerate(groups):
        numbers[list(group.places)] = number
    near = similarity_to_centre(unit, numbers, centres_of(unit, numbers))
    grouped = near[numbers >= 0]
    least = min(NEAR, float(np.quantile(grouped, MOST_FAR))) if len(grouped) else NEAR
    return [[place for place in group.places if near[place] >= least] for group in groups]


def _similarity_of_copies(unit: Vectors) -> float:
    """Return the similarity from which on two messages are near copies."""
    mean = float(np.square(unit.mean(axis=0)).sum()) if len(unit) else 0.0
    return max(NEAR_COPY, mean + NEAR_SHARE * (1 - mean))


def _distinct(places: Sequence[int], unit: Vectors, copies_at: float) -> list[int]:
    """Drop near copies of earlier messages."""
    kept: list[int] = []
    for place in places:
        if not kept or (unit[kept] @ unit[place]).max() < copies_at:
            kept.append(place)
    return kept


def _unlike(used: Vectors, unit: Vectors, copies_at: float) -> list[int]:
    """Return the indices of messages that are not near copies of the ones in use; a sample if there are many."""
    if not len(used):
        return []
    nearest = np.concatenate([(block @ used.T).max(axis=1) for block in np.array_split(unit, 1 + len(unit) // 1024)])
    found = np.flatnonzero(nearest < copies_at)
    if len(found) < FEWEST_WORDINGS:
        return []
    return [int(place) for place in found[drawn(len(found), MOST_WORDINGS)]]
