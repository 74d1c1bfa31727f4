"""A discovery of five topics, and random edits of it."""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.discovery.toy import TOPICS, TopicEncoder, said
from tests.replies.toy import dialogue, write_table
from turnloom.corpus.schema import Dialogue
from turnloom.discovery import Discovery, MessageOptions, discover
from turnloom.replies import ReplyIndex
from turnloom.runtime.protocols import Vectors
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
from turnloom.studio.folder import prepare
from turnloom.studio.workspace import Workspace


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


class StudioEncoder(TopicEncoder):
    """Knows topics by a word of theirs; a context is its last turn."""

    name = fingerprint = "studio"

    def encode_query(self, contexts: Sequence[Sequence[str]]) -> Vectors:
        return self.encode([context[-1] for context in contexts])


HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>&lt;b&gt; {{x}} ${x} `'
"""What people may write, and a page must only show."""


def chats(hostile: Container[int] = (7,)) -> list[Dialogue]:
    """Conversations of five topics that follow each other, with hostile texts in some."""
    found = []
    for number in range(120):
        topic = list(TOPICS)[number % 5]
        text = TOPICS[topic][number // 5 % 4]
        text = text.format(number) if "{}" in text else f"{text} {number}"
        more = f" {HOSTILE}" if number in hostile else ""
        answer = f"your number for the {topic}?{more}"
        found.append(dialogue(number, text + more, answer, f"number {number}", f"{topic} done"))
    return found


def make_studio(folder: Path, hostile: Container[int] = (7,)) -> Path:
    """Make a studio of these chats, with an index of their replies."""
    encoder: Any = StudioEncoder()
    table = write_table(folder / "table", chats(hostile))
    ReplyIndex.build(table, folder / "replies", encoder)
    prepare(folder / "studio", table, "studio", encoder, MessageOptions(first=True), replies=folder / "replies")
    return folder / "studio"


def opened(folder: Path) -> Workspace:
    """Open a studio with its encoder."""
    return Workspace(folder, StudioEncoder())  # type: ignore[arg-type]
