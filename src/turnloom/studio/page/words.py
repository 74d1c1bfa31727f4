"""What an action was, in a sentence."""

from __future__ import annotations

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


def counted(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sentence(action: Action, board: Board) -> str:
    """Say what an action did to a board as it was before."""

    def name(group: int) -> str:
        return f"“{board.names.get(group, 'a group')}”"

    match action:
        case Rename():
            return f"Renamed {name(action.group)} to “{action.name}”"
        case Merge():
            return f"Merged {', '.join(map(name, action.groups))} into {name(action.into)}"
        case Split():
            return f"Split {counted(sum(map(len, action.parts)), 'message')} off {name(action.group)}"
        case Move():
            return f"Moved {counted(len(action.messages), 'message')} to {name(action.group)}"
        case Discard():
            return f"Discarded {counted(len(action.messages), 'message')}"
        case DiscardGroup():
            return f"Discarded the group {name(action.group)}"
        case Create():
            return f"Opened the group “{action.name}”"
        case MakeIntent():
            return f"Made {name(action.group)} an intent with {counted(len(action.examples), 'example')}"
        case DropIntent():
            return f"{name(action.group)} is no intent any more"
        case Label():
            meant = (
                "skipped" if action.group is None else "fits none" if action.group == OUTSIDE else name(action.group)
            )
            return f"Labelled a message: {meant}"
