"""What the groups, intents and labels are after some actions: the same actions always give the same board."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.discovery import Discovery
from turnloom.errors import TurnloomError

Numbers = npt.NDArray[np.int64]
NOWHERE, DISCARDED = -1, -2
"""Instead of a group: a message that was never in one, and one that was taken out."""


@dataclass(frozen=True)
class Intent:
    """An intent that a group became.

    Attributes:
        description: What it is called, if the group's name says too little.
        examples: The messages that it was given as examples.
    """

    description: str
    examples: tuple[int, ...]


@dataclass
class Board:
    """The state of a studio.

    Attributes:
        group: The group of each message on the lowest level, or `NOWHERE` or `DISCARDED`.
        names: The name of each open group, on all levels.
        parents: The group that each belongs to on the level above.
        leaves: The open groups that messages can be in.
        intents: The groups that are intents.
        labels: What people said that messages mean: a group, `OUTSIDE`, or None where they would not say.
        next_group: The number of the next new group.
    """

    group: Numbers
    names: dict[int, str]
    parents: dict[int, int | None]
    leaves: set[int]
    intents: dict[int, Intent] = field(default_factory=dict)
    labels: dict[int, int | None] = field(default_factory=dict)
    next_group: int = 0

    @classmethod
    def of(cls, found: Discovery) -> Board:
        """Return the board before any action: groups as they were discovered."""
        groups = found.summary.groups
        return cls(
            found.group.astype(np.int64),
            {group.id: group.name for group in groups},
            {group.id: group.parent for group in groups},
            {group.id for group in found.summary.leaves()},
            next_group=max((group.id for group in groups), default=-1) + 1,
        )

    def copy(self) -> Board:
        """Return a board whose changes leave this one alone."""
        return replace(
            self,
            group=self.group.copy(),
            names=dict(self.names),
            parents=dict(self.parents),
            leaves=set(self.leaves),
            intents=dict(self.intents),
            labels=dict(self.labels),
        )

    def digest(self) -> str:
        """Return a hash that is equal for equal boards."""
        plain: list[Any] = [
            sorted(self.names.items()),
            sorted(self.parents.items()),
            sorted(self.leaves),
            [(number, one.description, one.examples) for number, one in sorted(self.intents.items())],
            sorted(self.labels.items()),
            self.next_group,
        ]
        return hashlib.sha256(self.group.tobytes() + json.dumps(plain).encode()).hexdigest()

    def members(self, group: int) -> Numbers:
        """Return the messages of a group of the lowest level."""
        return np.flatnonzero(self.group == group)

    def below(self, group: int) -> list[int]:
        """Return the groups of the lowest level that a group consists of."""
        if group in self.leaves:
            return [group]
        return [leaf for child, parent in self.parents.items() if parent == group for leaf in self.below(child)]

    def counts(self) -> dict[int, int]:
        """Return the number of messages of each group of the lowest level."""
        inside = self.group[self.group >= 0]
        counts = np.bincount(inside, minlength=self.next_group)
        return {leaf: int(counts[leaf]) for leaf in self.leaves}

    def labelled(self, group: int) -> list[int]:
        """Return the messages that people labelled with a group or `OUTSIDE`."""
        return [row for row, label in self.labels.items() if label == group]

    def leaf(self, group: int) -> int:
        """Return a group if messages can be in it.

        Raises:
            TurnloomError: If it is closed, or not of the lowest level.
        """
        if group not in self.leaves:
            raise TurnloomError(
                f"group {group} is no open group of the lowest level", "another edit may have closed it; choose again"
            )
        return group

    def rows(self, messages: tuple[int, ...]) -> Numbers:
        """Return messages as an index.

        Raises:
            TurnloomError: If there is no such message.
        """
        rows = np.asarray(messages, np.int64)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self.group)):
            raise TurnloomError(f"there is no message {rows.max()}", f"there are {len(self.group):,}, from 0 on")
        return rows
