"""The journal of a studio: every action is on disk before it counts, and can be undone and redone."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turnloom.discovery import Discovery
from turnloom.errors import TurnloomError
from turnloom.journal import Journal
from turnloom.studio.actions import ACTION, Action
from turnloom.studio.board import Board
from turnloom.studio.rules import apply

FORMAT = 1
UNDO, REDO = {"do": "undo"}, {"do": "redo"}


def discovery_digest(found: Discovery) -> str:
    """Identify a discovery: actions name its messages and groups by number."""
    digest = hashlib.sha256("\x00".join(found.messages.texts).encode("utf-8", "surrogatepass"))
    digest.update(found.group.tobytes())
    return digest.hexdigest()


@dataclass
class _State:
    """The board, and how it came about."""

    board: Board
    done: list[Action] = field(default_factory=list)
    undone: list[Action] = field(default_factory=list)


class Edits:
    """The board of a folder, shared by all browsers and processes that have it open.

    An action is checked against everything that others did before, written to disk, and only then used. Nothing that
    was acknowledged is lost by a kill, and no two edits overwrite each other.

    Args:
        path: The journal's file.
        found: The discovery that actions refer to.

    Raises:
        TurnloomError: If the journal belongs to another discovery.
    """

    def __init__(self, path: Path, found: Discovery) -> None:
        self._journal = Journal(path)
        self._digest = discovery_digest(found)
        self._start = Board.of(found)
        self._state = _State(self._start.copy())
        self._position = 0
        self._lock = threading.RLock()
        self._catch_up()

    @property
    def board(self) -> Board:
        """The board with everything that anyone did until now; do not change it."""
        with self._lock:
            self._catch_up()
            return self._state.board

    @property
    def version(self) -> int:
        """Changes with every action; equal versions are equal boards."""
        with self._lock:
            self._catch_up()
            return self._position

    @property
    def history(self) -> list[Action]:
        """The actions that count, oldest first."""
        with self._lock:
            self._catch_up()
            return list(self._state.done)

    @property
    def can_redo(self) -> bool:
        """Whether an undone action can be redone."""
        with self._lock:
            self._catch_up()
            return bool(self._state.undone)

    def do(self, action: Action) -> Board:
        """Do an action, and return the board after it.

        Raises:
            TurnloomError: If it does not fit what others did in the meantime, or cannot be written.
        """
        return self._write(lambda _: action.model_dump(mode="json"))

    def undo(self) -> Action:
        """Undo the last action that counts, and return it.

        Raises:
            TurnloomError: If there is none.
        """
        undone: list[Action] = []

        def record(state: _State) -> dict[str, Any]:
            if not state.done:
                raise TurnloomError("there is nothing to undo", "edit something first")
            undone.append(state.done[-1])
            return UNDO

        self._write(record)
        return undone[0]

    def redo(self) -> Action:
        """Redo the action that was undone last, and return it.

        Raises:
            TurnloomError: If there is none.
        """
        redone: list[Action] = []

        def record(state: _State) -> dict[str, Any]:
            if not state.undone:
                raise TurnloomError("there is nothing to redo", "undo something first")
            redone.append(state.undone[-1])
            return REDO

        self._write(record)
        return redone[0]

    def _write(self, record_for: Callable[[_State], dict[str, Any]]) -> Board:
        with self._lock, self._journal.writing():
            self._catch_up()
            record = record_for(self._state)
            after = self._after(self._state, record)
            records = [record] if self._position else [self._opening(), record]
            try:
                self._position = self._journal.append(records)
            except OSError as error:
                problem = f"{self._journal.path} cannot be written ({error.strerror}); nothing was changed"
                raise TurnloomError(problem, "free some space, or ask for the right to write there") from error
            self._state = after
            return after.board

    def _opening(self) -> dict[str, Any]:
        return {"do": "open", "format": FORMAT, "discovery": self._digest}

    def _catch_up(self) -> None:
        """Apply what other processes wrote."""
        if self._journal.size == self._position:
            return
        records, end = self._journal.read(self._position)
        state = self._state
        for record in records:
            state = self._read(state, record)
        self._state, self._position = state, end

    def _read(self, state: _State, record: dict[str, Any]) -> _State:
        try:
            return self._after(state, record)
        except (TurnloomError, IndexError):
            # Whatever was written did fit: an entry before it was damaged and is skipped, and so is this one.
            if self._journal.damaged and record["do"] != "open":
                return state
            raise

    def _after(self, state: _State, record: dict[str, Any]) -> _State:
        """Return the state after a record, leaving the state before as it is."""
        if record["do"] == "open":
            self._check(record)
            return state
        if record["do"] == "undo":
            board = self._start.copy()
            for action in state.done[:-1]:
                apply(board, action)
            return _State(board, state.done[:-1], [*state.undone, state.done[-1]])
        again = record["do"] == "redo"
        action = state.undone[-1] if again else _action_of(record, self._journal.path)
        board = state.board.copy()
        apply(board, action)
        return _State(board, [*state.done, action], state.undone[:-1] if again else [])

    def _check(self, record: dict[str, Any]) -> None:
        if record["format"] != FORMAT or record["discovery"] != self._digest:
            raise TurnloomError(
                f"{self._journal.path} has edits of another discovery",
                "restore that discovery, or move the file away to begin with this one",
            )


def _action_of(record: dict[str, Any], path: Path) -> Action:
    try:
        return ACTION.validate_python(record)
    except ValidationError as error:
        raise TurnloomError(
            f"{path} has an entry that cannot be read ({record.get('do')})", "update Turnloom"
        ) from error
