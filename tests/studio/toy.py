"""A discovery of five topics, and random edits of it."""

from __future__ import annotations

import random
from functools import cache

from tests.discovery.toy import said
from turnloom.discovery import Discovery, discover
from turnloom.studio.actions import (
    OUTSIDE,
    Action,
    Create,
    Discard,
    DiscardGroup,
    DropIntent,
    Label,
    MakeIntent,
    Merge,
    Move,
    Rename,
    Split,
)
from turnloom.studio.board import Board


@cache
def found() -> Discovery:
    messages, vectors, _ = said()
    return discover(messages, vectors)


def any_action(board: Board, rng: random.Random) -> Action:
    """An action that fits the board, unless an intent of the name exists already."""
    leaves, messages = sorted(board.leaves), range(len(board.group))
    group = rng.choice(leaves)
    members = board.members(group).tolist()
    some = tuple(rng.sample(messages, 3))
    choices: list[Action] = [
        Rename(group=group, name=f"name {rng.random():.3f}"),
        Move(messages=some, group=group),
        Discard(messages=some),
        Create(name="new"),
        MakeIntent(group=group, examples=tuple(members[:4]), description="what they want"),
        Label(message=some[0], group=rng.choice([OUTSIDE, None, *board.intents])),
    ]
    if len(leaves) > 3:
        choices += [Merge(groups=tuple(rng.sample(leaves, 2)), into=group), DiscardGroup(group=group)]
    if len(members) > 3:
        choices.append(Split(group=group, parts=(tuple(members[:2]),), names=("part",)))
    if board.intents:
        choices.append(DropIntent(group=rng.choice(sorted(board.intents))))
    return rng.choice(choices)
