"""A named hierarchy of what people say: groups of messages, in two to four levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from turnloom.discovery.grouping import Centres, centred_with_mean, centres_of, find_groups
from turnloom.discovery.levels import dissolve_small, members_of, nest, similarity_to_centre
from turnloom.discovery.messages import Messages
from turnloom.discovery.names import GroupName, Meaning, Namer
from turnloom.discovery.neighbours import Numbers
from turnloom.runtime.protocols import Encoder, Progress, Vectors, unit_rows

MIN_SIZE = 5
TYPICAL = 5
BLANK, ALONE = "it has no words", "too few other messages are like it"


class Group(BaseModel):
    """A group of messages.

    Attributes:
        id: The group's number, the same in all files of a discovery.
        name: At most five words; unique.
        level: 0 for the top level.
        parent: The group that it belongs to on the level above.
        keywords: What its members say and members of other groups don't.
        size: How often its messages were said.
        messages: How many distinct messages it has.
        share: The share of everything said that is in this group.
        cohesion: The mean similarity of two members.
        typical: The messages nearest to its centre.
    """

    model_config = ConfigDict(extra="forbid")

    id: int
    name: str
    level: int
    parent: int | None
    keywords: list[str]
    size: int
    messages: int
    share: float
    cohesion: float
    typical: list[str]


class Summary(BaseModel):
    """A discovery in numbers, and its groups.

    Attributes:
        version: The version of this layout.
        model: The encoder's name.
        fingerprint: Identifies the encoder's weights.
        role: Whose messages were read.
        first: Whether only the first message of each dialogue was read.
        context: Whether short messages were read with the turn before.
        dialogues: How many dialogues were read.
        messages: How many distinct messages.
        occurrences: How often they were said.
        levels: The number of groups on each level, the top first.
        unassigned: Why messages are in no group, and how often they were said.
        groups: The groups, level by level, the largest first.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = 1
    model: str = ""
    fingerprint: str = ""
    role: str = "customer"
    first: bool = False
    context: bool = False
    dialogues: int = 0
    messages: int
    occurrences: int
    levels: list[int]
    unassigned: dict[str, int]
    groups: list[Group]

    def leaves(self) -> list[Group]:
        """Return the groups of the lowest level."""
        return [group for group in self.groups if group.level == len(self.levels) - 1]


@dataclass(frozen=True)
class Discovery:
    """A hierarchy of groups, with their members.

    Attributes:
        summary: The groups.
        messages: The messages.
        group: The id of each message's group on the lowest level; -1 for none.
        reasons: Why a message is in no group; empty if it is in one.
        similarity: How near each message is to the centre of its group.
        mean: The mean of all messages' vectors.
        centres: The centres of the groups of the lowest level, in the order of `summary.leaves()`.
    """

    summary: Summary
    messages: Messages
    group: Numbers
    reasons: list[str]
    similarity: Vectors
    mean: Vectors
    centres: Vectors


def discover(
    messages: Messages,
    vectors: Vectors,
    *,
    min_size: int = MIN_SIZE,
    namer: Namer | None = None,
    encoder: Encoder | None = None,
    on_progress: Progress = lambda *_: None,
) -> Discovery:
    """Group messages into a named hierarchy.

    Args:
        messages: The distinct messages.
        vectors: Their embeddings.
        min_size: Groups of fewer distinct messages are dissolved: members join another group if they fit.
        namer: Names the groups; by default, from the words of their members.
        encoder: The encoder of the vectors; with it, names are also chosen by meaning.
        on_progress: Called with a step, the share of it that is done, and a note.

    Returns:
        The hierarchy. Every message is in a group or has a reason why not.
    """
    unit, mean = centred_with_mean(vectors)
    said = np.array([any(map(str.isalnum, text)) for text in messages.texts])
    leaf = np.full(len(unit), -1, np.int64)
    spoken = unit if said.all() else unit[said]
    found = find_groups(spoken, lambda step, share: on_progress(step, share, ""))
    leaf[said] = dissolve_small(spoken, found, min_size)
    del spoken
    reasons = ["" if group >= 0 else ALONE if words else BLANK for group, words in zip(leaf, said, strict=True)]
    centres = centres_of(unit, leaf)
    near = similarity_to_centre(unit, leaf, centres)
    levels = nest(centres)
    members = [members_of(leaf, near, of_leaf, _count(of_leaf)) for of_leaf in levels]
    on_progress("names", 0.0, "")
    named = _name_levels(messages, members, levels, centres, namer or Namer(), encoder, mean)
    on_progress("names", 1.0, "")
    groups, numbers = _groups(messages, members, levels, centres, named)
    first = sum(len(set(level.tolist())) for level in levels[:-1])
    order = np.argsort(numbers)
    summary = Summary(
        messages=len(messages),
        occurrences=int(messages.occurrences.sum()),
        levels=[len(set(level.tolist())) for level in levels],
        unassigned={
            reason: int(messages.occurrences[[one == reason for one in reasons]].sum())
            for reason in (ALONE, BLANK)
            if reason in reasons
        },
        groups=groups,
        dialogues=messages.dialogues,
    )
    ids = np.where(leaf >= 0, numbers[leaf] + first if len(numbers) else -1, -1)
    return Discovery(summary, messages, ids, reasons, near, mean, unit_rows(centres.means)[order])


def _count(of_leaf: Numbers) -> int:
    """Return the number of groups on a level."""
    return int(of_leaf.max(initial=-1)) + 1


def _name_levels(
    messages: Messages,
    members: Sequence[Sequence[Numbers]],
    levels: Sequence[Numbers],
    centres: Centres,
    namer: Namer,
    encoder: Encoder | None,
    mean: Vectors,
) -> list[list[GroupName]]:
    """Name the groups of each level, the leaves first: they are what people look at."""
    taken: list[str] = []
    named = []
    for of_leaf, of_level in zip(reversed(levels), reversed(members), strict=True):
        count = len(of_level)
        texts = [[messages.texts[place] for place in found] for found in of_level]
        weights = centres.sizes.astype(np.float64)
        means = (
            np.stack(
                [
                    np.average(centres.means[of_leaf == group], axis=0, weights=weights[of_leaf == group])
                    for group in range(count)
                ]
            )
            if count
            else np.zeros((0, len(mean)), np.float32)
        )
        meaning = Meaning(encoder.encode, means.astype(np.float32), mean) if encoder is not None else None
        names = namer.name(texts, meaning, taken)
        taken += [name.name for name in names]
        named.append(names)
    return named[::-1]


def _groups(
    messages: Messages,
    members: Sequence[Sequence[Numbers]],
    levels: Sequence[Numbers],
    centres: Centres,
    named: Sequence[Sequence[GroupName]],
) -> tuple[list[Group], Numbers]:
    """Return all groups, level by level and the largest first, and the rank of each leaf on the last level."""
    total = max(int(messages.occurrences.sum()), 1)
    groups: list[Group] = []
    above: dict[int, int] = {}
    rank = np.zeros(0, np.int64)
    for level, of_leaf in enumerate(levels):
        sizes = np.array([messages.occurrences[found].sum() for found in members[level]], np.int64)
        order = np.argsort(-sizes, kind="stable")
        rank = np.argsort(order)
        first = len(groups)
        for group in order.tolist():
            leaves = np.flatnonzero(of_leaf == group)
            found = members[level][group]
            groups.append(
                Group(
                    id=len(groups),
                    name=named[level][group].name,
                    level=level,
                    parent=above[int(leaves[0])] if level else None,
                    keywords=list(named[level][group].keywords),
                    size=int(sizes[group]),
                    messages=len(found),
                    share=round(float(sizes[group]) / total, 6),
                    cohesion=round(float(np.average(centres.cohesion[leaves], weights=centres.sizes[leaves])), 4),
                    typical=[messages.texts[place] for place in found[:TYPICAL]],
                )
            )
        above = {place: first + int(rank[of_leaf[place]]) for place in range(len(of_leaf))}
    return groups, rank
