"""What the buttons of the groups do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.studio.actions import (
    Action,
    Create,
    Discard,
    DiscardGroup,
    DropIntent,
    MakeIntent,
    Merge,
    Move,
    Rename,
    Split,
)
from turnloom.studio.page.groups import GroupsTab, Updates
from turnloom.studio.page.look import Look
from turnloom.studio.page.parts import notice
from turnloom.studio.page.words import sentence
from turnloom.studio.workspace import Workspace

EXAMPLES = 10
"""How many typical messages become examples of an intent if none are checked."""


def wire_edits(tab: GroupsTab) -> None:
    """Connect the buttons that edit."""
    work, out, hidden = tab.work, tab.outputs, {"show_progress": "hidden"}

    def button(pressed: Any, inputs: list[Any], action: Callable[..., Action]) -> None:
        def act(look: Look, *values: Any) -> Updates:
            return tab.guarded(look, lambda: tab.done(look, action(look, *values)))

        pressed(act, [tab.look, *inputs], out, **hidden)

    for event in (tab.rename.click, tab.name.submit):
        button(event, [tab.name], lambda look, name: Rename(group=_group(look), name=_named(name)))
    button(tab.merge.click, [tab.other], lambda look, other: Merge(groups=(_group(look),), into=_other(other)))
    button(
        tab.move.click,
        [tab.messages, tab.other],
        lambda _look, rows, other: Move(messages=_checked(rows), group=_other(other)),
    )
    tab.split.click(_splitter(tab), [tab.look, tab.messages, tab.new_name], out, **hidden)
    button(tab.halve.click, [], lambda look: _halved(work, _group(look)))
    button(tab.discard.click, [tab.messages], lambda _look, rows: Discard(messages=_checked(rows)))
    button(tab.discard_group.click, [], lambda look: DiscardGroup(group=_group(look)))
    button(
        tab.make_intent.click,
        [tab.messages, tab.description],
        lambda look, rows, said: _intent(work, _group(look), rows, said),
    )
    button(tab.drop_intent.click, [], lambda look: DropIntent(group=_group(look)))
    tab.undo.click(lambda look: tab.guarded(look, lambda: _again(tab, look, "Undone")), tab.look, out, **hidden)
    tab.redo.click(lambda look: tab.guarded(look, lambda: _again(tab, look, "Redone")), tab.look, out, **hidden)


def _again(tab: GroupsTab, look: Look, what: str) -> Updates:
    edits = tab.work.edits
    action = edits.undo() if what == "Undone" else edits.redo()
    return tab.shown(look, {tab.said: notice(f"{what}: {sentence(action, tab.work.board)}.")})


def _group(look: Look) -> int:
    if look.group is None:
        raise TurnloomError("no group is chosen", "choose one from the list or the map")
    return look.group


def _named(name: str) -> str:
    if not name.strip():
        raise TurnloomError("the name is empty", "write one")
    return name


def _other(other: int | None) -> int:
    if other is None:
        raise TurnloomError("no other group is chosen", "choose one under “Another group”")
    return other


def _checked(rows: list[int]) -> tuple[int, ...]:
    if not rows:
        raise TurnloomError("no message is checked", "check the messages that are meant")
    return tuple(rows)


def _splitter(tab: GroupsTab) -> Callable[[Look, list[int], str], Updates]:
    """Return what makes a new group of the checked messages, from one group or from several."""
    work = tab.work

    def split(look: Look, rows: list[int], name: str) -> Updates:
        checked = _checked(rows)
        called = _new_name(work, rows, name)
        homes = set(work.board.group[list(checked)].tolist())
        if len(homes) == 1 and homes <= work.board.leaves:
            return tab.done(look, Split(group=homes.pop(), parts=(checked,), names=(called,)))
        group = work.edits.do(Create(name=called)).next_group - 1
        return tab.done(look, Move(messages=checked, group=group))

    return lambda look, rows, name: tab.guarded(look, lambda: split(look, rows, name))


def _new_name(work: Workspace, rows: list[int], name: str) -> str:
    """Return the name of a new group: as it was typed, or from its messages."""
    import numpy as np

    if name.strip():
        return name
    group = int(work.board.group[_checked(rows)[0]])
    others = sorted(set(work.board.members(group).tolist()) - set(rows))
    return work.name_for(np.array(rows, np.int64), others)


def _halved(work: Workspace, group: int) -> Split:
    rows, name = work.halves(work.board, group)
    return Split(group=group, parts=(tuple(rows.tolist()),), names=(name,))


def _intent(work: Workspace, group: int, checked: list[int], description: str) -> MakeIntent:
    """Make an intent of the checked messages; else of its examples if it has some, else of the most typical ones."""
    known = work.board.intents.get(group)
    typical = work.typical(work.board, work.board.leaf(group))[:EXAMPLES].tolist()
    examples = tuple(checked) or (known.examples if known else ()) or tuple(typical)
    return MakeIntent(group=group, description=description, examples=examples)
