"""What one browser looks at, and what it shows of the groups."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from turnloom.studio.board import NOWHERE, Board, Numbers
from turnloom.studio.page.parts import colour_of, shortened
from turnloom.studio.workspace import Workspace

PER_PAGE = 12
FOUND = 60
"""How many messages a search returns."""
TYPICAL, BOUNDARY = "Typical first", "Boundary first"
VIEWS = [TYPICAL, BOUNDARY]


@dataclass(frozen=True)
class Look:
    """What a browser looks at.

    Attributes:
        group: The chosen group, `NOWHERE` for the messages in none, or None.
        view: The order of its messages.
        page: The page of messages, from 0.
        query: What was searched for; empty if a group is shown.
        version: The version of the edits that is shown.
        name: The group's name as it is shown.
    """

    group: int | None = None
    view: str = TYPICAL
    page: int = 0
    query: str = ""
    version: int = -1
    name: str = ""

    def at(self, work: Workspace) -> Look:
        """Return the look at the latest version; a group that was closed is no longer chosen."""
        version, board = work.edits.version, work.board
        gone = self.group is not None and self.group != NOWHERE and self.group not in board.names
        group = None if gone else self.group
        name = board.names.get(group, "") if group is not None else ""
        return replace(self, group=group, version=version, name=name, page=0 if gone else self.page)


def rows_of(work: Workspace, board: Board, look: Look) -> Numbers:
    """Return the messages that a look shows, all pages."""
    if look.query:
        return work.search(look.query, FOUND)
    if look.group is None:
        return np.zeros(0, np.int64)
    if look.group == NOWHERE:
        return work.outside(board)
    return work.boundary(board, look.group) if look.view == BOUNDARY else work.typical(board, look.group)


def choices_of(work: Workspace, board: Board, look: Look, rows: Numbers) -> list[tuple[str, int]]:
    """Return the messages of a page as choices."""
    page = rows[look.page * PER_PAGE : (look.page + 1) * PER_PAGE].tolist()
    return [(_line(work, board, look, row), row) for row in page]


def _line(work: Workspace, board: Board, look: Look, row: int) -> str:
    times = int(work.occurrences[row])
    text = shortened(work.texts[row]) + (f"  ×{times:,}" if times > 1 else "")
    intent = board.intents.get(int(board.group[row]))
    if intent is not None and row in intent.examples:
        text += "  · example"
    leaf = look.group in board.leaves
    return text if leaf and not look.query else f"{text}  · {board.names.get(int(board.group[row]), 'in no group')}"


def tree_value(work: Workspace, board: Board, look: Look) -> dict[str, Any]:
    """Return what the list of groups shows."""
    rows = [{**asdict(row), "colour": colour_of(row.id)} for row in work.tree(board)]
    outside = work.outside(board)
    if len(outside):
        count = int(work.occurrences[outside].sum())
        rows.append(
            {"id": NOWHERE, "name": "In no group", "depth": 0, "count": count, "leaf": True, "intent": False}
            | {"colour": "#969eaa"}
        )
    return {"rows": rows, "selected": look.group}


def map_value(work: Workspace, board: Board, look: Look, rows: Numbers) -> dict[str, Any]:
    """Return what the map shows."""
    chosen = [] if look.group is None or look.query else [look.group, *board.below(look.group)]
    hits = np.flatnonzero(np.isin(work.shown, rows)).tolist() if look.query else []
    return {
        "version": look.version,
        "chosen": chosen,
        "hits": hits,
        "labels": [{"id": id, "name": board.names[id], "x": x, "y": y} for id, x, y in work.labels_on_map(board)],
        "colours": {str(leaf): colour_of(leaf) for leaf in board.leaves},
    }
