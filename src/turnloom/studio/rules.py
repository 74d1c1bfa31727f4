"""What each action does to a board, and which are refused."""

from __future__ import annotations

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.studio.actions import (
    LONGEST_NAME,
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
from turnloom.studio.board import DISCARDED, Board, Intent, Numbers


def apply(board: Board, action: Action) -> None:
    """Change a board.

    Raises:
        TurnloomError: If the action does not fit the board; the board may then be half changed.
    """
    match action:
        case Rename():
            _rename(board, action)
        case Merge():
            _merge(board, action)
        case Split():
            _split(board, action)
        case Move():
            _move(board, action)
        case Discard():
            _leave(board, board.rows(action.messages))
            board.group[board.rows(action.messages)] = DISCARDED
        case DiscardGroup():
            rows = board.members(board.leaf(action.group))
            _close(board, action.group)
            board.group[rows] = DISCARDED
        case Create():
            _open(board, action.name, None)
        case MakeIntent():
            _make_intent(board, action)
        case DropIntent():
            _drop_intent(board, action)
        case Label():
            _label(board, action)


def _open(board: Board, name: str, parent: int | None) -> int:
    group = board.next_group
    board.next_group += 1
    board.names[group], board.parents[group] = name, parent
    board.leaves.add(group)
    return group


def _close(board: Board, group: int) -> None:
    """Remove a group, the groups above that become empty, and what people said with it."""
    board.intents.pop(group, None)
    board.labels = {row: label for row, label in board.labels.items() if label != group}
    board.leaves.discard(group)
    above: int | None = group
    while above is not None and not board.below(above):
        del board.names[above]
        above = board.parents.pop(above)


def _leave(board: Board, rows: Numbers) -> None:
    """Messages that leave a group are no examples of its intent, and not labelled with it."""
    gone = set(rows.tolist())
    for group, intent in list(board.intents.items()):
        if not gone.isdisjoint(intent.examples):
            kept = tuple(row for row in intent.examples if row not in gone)
            board.intents[group] = Intent(intent.description, kept)
    for row in gone:
        board.labels.pop(row, None)


def _rename(board: Board, action: Rename) -> None:
    if action.group not in board.names:
        raise TurnloomError(f"there is no group {action.group}", "another edit may have closed it; choose again")
    if action.group in board.intents:
        _refuse_same_intent(board, action.group, action.name)
    board.names[action.group] = action.name


def _refuse_same_intent(board: Board, group: int, name: str) -> None:
    for other in board.intents:
        if other != group and board.names[other].casefold() == name.casefold():
            raise TurnloomError(f"there is an intent {name!r} already", "merge the two groups, or choose another name")


def _merge(board: Board, action: Merge) -> None:
    into = board.leaf(action.into)
    groups = [board.leaf(group) for group in dict.fromkeys(action.groups) if group != into]
    if not groups:
        raise TurnloomError("a group cannot be merged into itself", "choose another one")
    known = board.intents.get(into)
    examples = known.examples if known else ()
    for group in groups:
        other = board.intents.get(group)
        if known and other:
            examples += other.examples
        for row in board.labelled(group):
            board.labels[row] = into
        board.group[board.group == group] = into
        _close(board, group)
    if known:
        board.intents[into] = Intent(known.description, tuple(dict.fromkeys(examples)))


def _split(board: Board, action: Split) -> None:
    group = board.leaf(action.group)
    if len(action.names) != len(action.parts):
        raise TurnloomError("a split needs a name for each part", "give as many names as lists of messages")
    for part, name in zip(action.parts, action.names, strict=True):
        rows = board.rows(part)
        if not (board.group[rows] == group).all():
            raise TurnloomError("a message to split off is in another group by now", "look at the group again")
        _leave(board, rows)
        board.group[rows] = _open(board, name, board.parents[group])
    if not (board.group == group).any():
        _close(board, group)


def _move(board: Board, action: Move) -> None:
    group, rows = board.leaf(action.group), board.rows(action.messages)
    _leave(board, rows[board.group[rows] != group])
    board.group[rows] = group


def _make_intent(board: Board, action: MakeIntent) -> None:
    group, rows = board.leaf(action.group), board.rows(action.examples)
    if not (board.group[rows] == group).all():
        raise TurnloomError("an example is in another group by now", "look at the group again")
    if len(board.names[group]) > LONGEST_NAME:
        raise TurnloomError("the name is too long for an intent", f"rename the group to {LONGEST_NAME} characters")
    _refuse_same_intent(board, group, board.names[group])
    board.intents[group] = Intent(action.description, tuple(dict.fromkeys(action.examples)))


def _drop_intent(board: Board, action: DropIntent) -> None:
    if action.group not in board.intents:
        raise TurnloomError(f"group {action.group} is no intent", "another edit may have changed it; look again")
    del board.intents[action.group]
    board.labels = {row: label for row, label in board.labels.items() if label != action.group}


def _label(board: Board, action: Label) -> None:
    """A labelled message moves to the group of its intent; one that fits none leaves its group."""
    rows = board.rows((action.message,))
    if action.group is not None:
        if action.group != OUTSIDE and action.group not in board.intents:
            raise TurnloomError(f"group {action.group} is no intent", "another edit may have changed it; choose again")
        if board.group[rows[0]] != action.group:
            _leave(board, np.asarray(rows, np.int64))
        board.group[rows] = DISCARDED if action.group == OUTSIDE else action.group
    board.labels[action.message] = action.group
