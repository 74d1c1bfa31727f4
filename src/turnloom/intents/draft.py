"""A first draft of intents from messages that nobody has labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnloom.intents.choose import drawn
from turnloom.intents.discover import group_messages
from turnloom.runtime.protocols import Vectors, unit_rows

__all__ = ["Draft", "draft_intents", "smallest_group"]

EXAMPLES = 50
"""Of each group, that become examples of its intent, at most."""
FEWEST = 5
NEAR_COPY = 0.8
"""The similarity from which on a message says the same as another but for a name, a number or a greeting."""
FEWEST_WORDINGS, MOST_WORDINGS = 10, 1_000


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
    """Group messages, and give each group a name and examples.

    Examples are spread evenly from the most typical member to the least: new messages will be as mixed, and a threshold
    that is learned from typical ones only turns many of them away. Near copies are no examples, since they make new
    wordings look stranger than they are.

    Args:
        texts: The messages, each once.
        vectors: Their embeddings.
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
