"""What people do in the studio, as values that a journal keeps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

LONGEST_NAME, LONGEST_DESCRIPTION = 80, 500
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_DESCRIPTION)]
Rows = Annotated[tuple[int, ...], Field(min_length=1)]
"""Messages, by their number in the discovery."""
OUTSIDE = -1
"""Stands for the intent of a message that fits none."""


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rename(_Action):
    """Give a group another name."""

    do: Literal["rename"] = "rename"
    group: int
    name: Name


class Merge(_Action):
    """Move all messages of some groups into another one, and close them."""

    do: Literal["merge"] = "merge"
    groups: Rows
    into: int


class Split(_Action):
    """Move messages of a group into new groups, one per list; each name belongs to a list."""

    do: Literal["split"] = "split"
    group: int
    parts: Annotated[tuple[Rows, ...], Field(min_length=1)]
    names: tuple[Name, ...]


class Move(_Action):
    """Move messages into a group."""

    do: Literal["move"] = "move"
    messages: Rows
    group: int


class Discard(_Action):
    """Take messages out of all groups."""

    do: Literal["discard"] = "discard"
    messages: Rows


class DiscardGroup(_Action):
    """Close a group and take its messages out of all groups."""

    do: Literal["discard_group"] = "discard_group"
    group: int


class Create(_Action):
    """Open an empty group."""

    do: Literal["create"] = "create"
    name: Name


class MakeIntent(_Action):
    """Make an intent of a group, or change it: its examples and, if the name says too little, a description."""

    do: Literal["intent"] = "intent"
    group: int
    description: Description = ""
    examples: tuple[int, ...] = ()


class DropIntent(_Action):
    """Make an intent a mere group again."""

    do: Literal["drop_intent"] = "drop_intent"
    group: int


class Label(_Action):
    """Say what a message means: the group of an intent, `OUTSIDE` if none fits, or None to be asked no more."""

    do: Literal["label"] = "label"
    message: int
    group: int | None


Action = Annotated[
    Rename | Merge | Split | Move | Discard | DiscardGroup | Create | MakeIntent | DropIntent | Label,
    Field(discriminator="do"),
]
ACTION: TypeAdapter[Action] = TypeAdapter(Action)
