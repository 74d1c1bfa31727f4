"""States of conversations: turns grouped by what they do, per role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turnloom.discovery.neighbours import Numbers
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import Encoder, Vectors, unit_rows

STATES_PER_ROLE = 16
"""Two roles with their states, the start and the end are 34 nodes: what fits on a page."""
TURNS_PER_STATE = 20
"""Fewer states if there are fewer turns of a role than this for each."""
TEMPLATES = 0.5
"""How much more the meaning of a turn counts for a role of which every turn is a repeated one."""
SAMPLE = 40_000
BLOCK = 8_192
SEED = 0
DECIMALS = 5
"""Vectors that agree to so many decimals are the same."""


@dataclass(frozen=True)
class Turns:
    """The turns of conversations in flat lists.

    Attributes:
        texts: What was said.
        roles: Whose turn it is.
        offsets: Where each conversation starts, and where the last one ends.
    """

    texts: list[str]
    roles: list[str]
    offsets: Numbers

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def starts(self) -> Numbers:
        """The indices of first turns."""
        return self.offsets[:-1]


def flatten(conversations: Sequence[Sequence[tuple[str, str]]]) -> Turns:
    """Put conversations, lists of (role, text), into flat lists."""
    offsets = np.cumsum([0, *map(len, conversations)])
    flat = [turn for conversation in conversations for turn in conversation]
    return Turns([text for _, text in flat], [role for role, _ in flat], offsets)


def encode_states(encoder: Encoder, turns: Turns) -> tuple[Vectors, Vectors]:
    """Return a vector per turn that says what it does, and one of what it means.

    The first has three parts: what the turn calls for in its context, what the turn before it called for, and what it
    means. "Yes" after an offer and "yes" after a question differ in the second. What all turns of a role share is
    removed from each part. The third counts more for a role that repeats itself: answers made of templates are told
    apart by their words. A model without a conversation encoder has only the third.
    """
    texts = list(dict.fromkeys(turns.texts))
    row = {text: number for number, text in enumerate(texts)}
    meaning = unit_rows(encoder.encode(texts))[[row[text] for text in turns.texts]]
    if not isinstance(encoder, ConversationEncoder):
        return meaning, meaning
    bounds = list(zip(turns.offsets[:-1].tolist(), turns.offsets[1:].tolist(), strict=True))
    read = encoder.encode_all_turns(
        [turns.texts[start:end] for start, end in bounds], [turns.roles[start:end] for start, end in bounds]
    )
    width = encoder.reader.shape.width
    calls = np.zeros((len(turns), width), np.float32)
    before = np.zeros((len(turns), width), np.float32)
    for (_, end), vectors in zip(bounds, read, strict=True):
        own = unit_rows(vectors[:, :width])
        calls[end - len(own) : end] = own
        before[end - len(own) + 1 : end] = own[:-1]
    vectors = np.zeros((len(turns), 2 * width + meaning.shape[1]), np.float32)
    for role, repeated in _repeated(turns).items():
        rows = np.flatnonzero(np.array(turns.roles) == role)
        parts = [_centred(calls[rows]), _centred(before[rows]), (1 + TEMPLATES * repeated) * _centred(meaning[rows])]
        vectors[rows] = np.concatenate(parts, axis=1)
    return vectors, meaning


def _repeated(turns: Turns) -> dict[str, float]:
    """Return the share of each role's turns whose text the role says more than once."""
    said = Counter(zip(turns.roles, turns.texts, strict=True))
    again = Counter(role for (role, _), count in said.items() for _ in range(count) if count > 1)
    return {role: again[role] / count for role, count in sorted(Counter(turns.roles).items())}


def _centred(vectors: Vectors) -> Vectors:
    """Remove the mean of vectors; those of zeros, for want of a turn before, stay zeros."""
    known = vectors.any(axis=1)
    centred = np.zeros_like(vectors)
    if known.any():
        centred[known] = unit_rows(vectors[known] - vectors[known].mean(axis=0))
    return centred


@dataclass(frozen=True)
class States:
    """States of turns.

    Attributes:
        state: The state of each turn.
        roles: The role of each state.
        near: How near each turn is to the centre of its state; higher is nearer.
    """

    state: Numbers
    roles: list[str]
    near: Vectors


def find_states(vectors: Vectors, roles: Sequence[str], per_role: int = STATES_PER_ROLE) -> States:
    """Group the turns of each role into states, the largest first.

    Args:
        vectors: What the turns do, as `encode_states` returns it.
        roles: The role of each turn.
        per_role: At most how many states a role has.
    """
    state = np.zeros(len(vectors), np.int64)
    near = np.zeros(len(vectors), np.float32)
    of_state: list[str] = []
    role_of = np.array(roles)
    for role in sorted(set(roles)):
        rows = np.flatnonzero(role_of == role)
        distinct = len(np.unique(vectors[rows].round(DECIMALS), axis=0)) if len(rows) <= SAMPLE else len(rows)
        count = min(per_role, max(1, len(rows) // TURNS_PER_STATE), distinct)
        found, distance = _k_means(vectors[rows], count)
        order = np.argsort(-np.bincount(found, minlength=count), kind="stable")
        state[rows] = np.argsort(order)[found] + len(of_state)
        near[rows] = -distance
        of_state += [role] * count
    return States(state, of_state, near)


def _k_means(vectors: Vectors, count: int) -> tuple[Numbers, Vectors]:
    """Return the group of each vector and its distance from the centre; many vectors are grouped by a sample."""
    from sklearn.cluster import KMeans

    chosen = np.random.default_rng(SEED).choice(len(vectors), min(SAMPLE, len(vectors)), replace=False)
    model = KMeans(count, n_init=3, random_state=SEED).fit(vectors[np.sort(chosen)])
    groups, distances = np.zeros(len(vectors), np.int64), np.zeros(len(vectors), np.float32)
    for start in range(0, len(vectors), BLOCK):
        apart = model.transform(vectors[start : start + BLOCK])
        groups[start : start + BLOCK] = apart.argmin(axis=1)
        distances[start : start + BLOCK] = apart.min(axis=1)
    return groups, distances
