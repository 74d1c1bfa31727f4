"""What changed between two sets of messages: which groups grew, shrank, appeared or disappeared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from turnloom.discovery.grouping import centred, centres_of, find_groups
from turnloom.discovery.hierarchy import MIN_SIZE, TYPICAL, Discovery
from turnloom.discovery.levels import dissolve_small, groups_of_new
from turnloom.discovery.messages import Messages
from turnloom.discovery.names import Namer
from turnloom.discovery.neighbours import Numbers
from turnloom.runtime.protocols import Vectors, unit_rows

FITS = 0.05
"""A new message belongs to an old group if it is as near to its centre as all but this share of its members were."""
SAME = 0.8
"""Unfamiliar messages whose mean is this similar to an old group's are at its edge."""
CERTAIN = 2.58
"""Changes of less than so many standard errors are not reported: one in a hundred such would be chance."""
BLOCK = 8_192
Floats = npt.NDArray[np.float64]
Verdict = Literal["grew", "shrank", "appeared", "disappeared", "steady"]


class GroupChange(BaseModel):
    """How often a group's messages were said, before and now.

    Attributes:
        name: The group's name.
        verdict: What happened; "steady" if the difference may be chance.
        old_share: Its share of everything said before.
        new_share: Its share now.
        old_size: How often before.
        new_size: How often now.
        typical: Typical messages; those of a group that appeared are new.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    verdict: Verdict
    old_share: float
    new_share: float
    old_size: int
    new_size: int
    typical: list[str]


class IntentChange(BaseModel):
    """How confident a classifier was about an intent, before and now.

    Attributes:
        intent: The intent's name; "out of scope" for messages that fit none.
        old_share: The share of messages before.
        new_share: The share now.
        old_confidence: The mean probability before.
        new_confidence: The mean probability now.
        lost: Whether confidence fell by more than chance explains.
    """

    model_config = ConfigDict(extra="forbid")

    intent: str
    old_share: float
    new_share: float
    old_confidence: float
    new_confidence: float
    lost: bool


class Drift(BaseModel):
    """What changed.

    Attributes:
        version: The version of this layout.
        old_messages: How many messages were said before.
        new_messages: How many now.
        unfamiliar: The share of new messages that are in no old group.
        groups: The groups, the largest change first.
        intents: The intents, if a classifier was named.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = 1
    old_messages: int
    new_messages: int
    unfamiliar: float
    groups: list[GroupChange]
    intents: list[IntentChange] = []


def _borders(old: Discovery) -> list[float]:
    """Return how near to its centre a message must be, for each group of the lowest level."""
    return [float(np.quantile(old.similarity[old.group == leaf.id], FITS)) for leaf in old.summary.leaves()]


def assign(old: Discovery, vectors: Vectors) -> Numbers:
    """Return the id of the old group that each new message belongs to; -1 for none."""
    leaves = old.summary.leaves()
    if not leaves:
        return np.full(len(vectors), -1, np.int64)
    border, ids = np.array(_borders(old)), np.array([leaf.id for leaf in leaves])
    found = np.full(len(vectors), -1, np.int64)
    for start in range(0, len(vectors), BLOCK):
        unit = unit_rows(unit_rows(vectors[start : start + BLOCK]) - old.mean)
        near = unit @ old.centres.T
        best = near.argmax(axis=1)
        fits = near[np.arange(len(unit)), best] >= border[best]
        found[start : start + BLOCK] = np.where(fits, ids[best], -1)
    return found


def measure_drift(
    old: Discovery, messages: Messages, vectors: Vectors, *, min_size: int = MIN_SIZE, namer: Namer | None = None
) -> Drift:
    """Compare new messages with a discovery of old ones.

    Old messages are assigned by the same rule as new ones were: those at the edge of a group count as being in none.

    Args:
        old: The discovery of the old messages.
        messages: The new messages.
        vectors: Their embeddings, by the same model.
        min_size: Unfamiliar messages form a new group from this many distinct ones on.
        namer: Names new groups.
    """
    group = assign(old, vectors)
    new = _new_groups(old, vectors, group, min_size)
    before, now = int(old.messages.occurrences.sum()), int(messages.occurrences.sum())
    changes = []
    for leaf, border in zip(old.summary.leaves(), _borders(old), strict=True):
        members = old.group == leaf.id
        was = int(old.messages.occurrences[members & (old.similarity >= border)].sum())
        chosen = np.flatnonzero(group == leaf.id)
        size = int(messages.occurrences[chosen].sum())
        changes.append(_change(leaf.name, (was, before), (size, now), leaf.typical))
    taken = [one.name for one in old.summary.groups]
    changes += _appeared(messages, new, (before, now), namer or Namer(), taken)
    changes.sort(key=lambda one: (-abs(one.new_share - one.old_share), one.name))
    unfamiliar = float(messages.occurrences[group < 0].sum() / max(now, 1))
    return Drift(old_messages=before, new_messages=now, unfamiliar=round(unfamiliar, 6), groups=changes)


def _change(name: str, was: tuple[int, int], now: tuple[int, int], typical: Sequence[str]) -> GroupChange:
    old_share, new_share = was[0] / max(was[1], 1), now[0] / max(now[1], 1)
    verdict: Verdict = "steady"
    if _differs(*was, *now):
        verdict = "disappeared" if not now[0] else "grew" if new_share > old_share else "shrank"
    return GroupChange(
        name=name,
        verdict=verdict,
        old_share=round(old_share, 6),
        new_share=round(new_share, 6),
        old_size=was[0],
        new_size=now[0],
        typical=list(typical),
    )


def _differs(was: int, before: int, now: int, after: int) -> bool:
    """Whether two shares differ by more than chance explains (a test of two proportions)."""
    if not before or not after:
        return False
    pooled = (was + now) / (before + after)
    error = math.sqrt(pooled * (1 - pooled) * (1 / before + 1 / after))
    return error > 0 and abs(was / before - now / after) > CERTAIN * error


def _new_groups(old: Discovery, vectors: Vectors, group: Numbers, min_size: int) -> list[Numbers]:
    """Group the messages that are in no old group, the most typical first.

    Messages at the edge of old groups are not new, though they may form a group: its mean is that of an old one, or its
    members are closer to old groups than to each other. They join the old groups, in `group`.
    """
    unfamiliar = np.flatnonzero(group < 0)
    if len(unfamiliar) < min_size:
        return []
    # All messages are grouped: the familiar ones show how far apart topics are, even if only one topic is new.
    unit = centred(vectors)
    found = groups_of_new(find_groups(unit), group < 0)
    unit = unit[unfamiliar]
    in_old = unit_rows(unit_rows(vectors[unfamiliar]) - old.mean)
    grouped = found >= 0
    found[grouped] = dissolve_small(unit[grouped], found[grouped], min_size)
    ids = np.array([leaf.id for leaf in old.summary.leaves()])
    near = in_old @ old.centres.T if len(ids) else np.full((len(unfamiliar), 1), -1.0)
    together = np.sqrt(centres_of(in_old, found).cohesion)
    new = []
    for number in range(int(found.max(initial=-1)) + 1):
        inside = np.flatnonzero(found == number)
        alike = unit_rows(in_old[inside].mean(axis=0, keepdims=True)) @ old.centres.T
        if alike.max(initial=-1) >= SAME or near[inside].max(axis=1).mean() >= together[number]:
            group[unfamiliar[inside]] = ids[near[inside].argmax(axis=1)]
            continue
        towards = unit[inside] @ unit[inside].mean(axis=0)
        new.append(unfamiliar[inside[np.argsort(-towards, kind="stable")]])
    return new


def _appeared(
    messages: Messages, groups: Sequence[Numbers], totals: tuple[int, int], namer: Namer, taken: Sequence[str]
) -> list[GroupChange]:
    """Describe groups that were not there before."""
    texts = [[messages.texts[place] for place in members] for members in groups]
    found = []
    for name, members, said in zip(namer.name(texts, None, taken), groups, texts, strict=True):
        size = int(messages.occurrences[members].sum())
        change = _change(name.name, (0, totals[0]), (size, totals[1]), said[:TYPICAL])
        found.append(change.model_copy(update={"verdict": "appeared"} if change.verdict == "grew" else {}))
    return found


Answers = Callable[[Sequence[str]], list[tuple[str, float]]]


def measure_intents(answer: Answers, old: Messages, new: Messages) -> list[IntentChange]:
    """Compare what a classifier makes of old and new messages, the largest loss of confidence first.

    Args:
        answer: Returns the intent and the probability of each message.
        old: The old messages.
        new: The new messages.
    """
    both = [_by_intent(answer(messages.texts), messages.occurrences) for messages in (old, new)]
    totals = [max(sum(weights.sum() for _, weights in found.values()), 1) for found in both]
    nothing = (np.zeros(0), np.zeros(0))
    changes = []
    for intent in sorted({*both[0], *both[1]}):
        (was, was_weights), (now, now_weights) = (found.get(intent, nothing) for found in both)
        means = [
            float(np.average(p, weights=w)) if len(p) else 0.0 for p, w in ((was, was_weights), (now, now_weights))
        ]
        error = math.sqrt(sum(float(np.var(p)) / len(p) for p in (was, now) if len(p)))
        changes.append(
            IntentChange(
                intent=intent,
                old_share=round(float(was_weights.sum()) / totals[0], 6),
                new_share=round(float(now_weights.sum()) / totals[1], 6),
                old_confidence=round(means[0], 4),
                new_confidence=round(means[1], 4),
                lost=min(len(was), len(now)) > 1 and means[0] - means[1] > CERTAIN * error,
            )
        )
    return sorted(changes, key=lambda one: (one.new_confidence - one.old_confidence, one.intent))


def _by_intent(answers: list[tuple[str, float]], occurrences: Numbers) -> dict[str, tuple[Floats, Floats]]:
    found: dict[str, list[tuple[float, int]]] = {}
    for (intent, probability), count in zip(answers, occurrences.tolist(), strict=True):
        found.setdefault(intent, []).append((probability, count))
    return {
        intent: (np.array([one for one, _ in rows]), np.array([count for _, count in rows], np.float64))
        for intent, rows in found.items()
    }
