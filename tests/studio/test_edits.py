"""Edits of groups: they do what they say, can be undone bit by bit, and survive whatever happens."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.studio.toy import any_action, found
from turnloom.errors import TurnloomError
from turnloom.studio.actions import (
    OUTSIDE,
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
from turnloom.studio.board import DISCARDED, Board, Intent
from turnloom.studio.edits import Edits


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def edits(path: Path) -> Edits:
    return Edits(path, found())


def two_leaves(board: Board) -> tuple[int, int]:
    first, second, *_ = sorted(board.leaves)
    return first, second


def test_renaming_changes_a_name_and_nothing_else(edits: Edits) -> None:
    before = edits.board
    group, _ = two_leaves(before)
    after = edits.do(Rename(group=group, name="  broken things "))
    assert after.names[group] == "broken things"
    assert (after.group == before.group).all()
    assert before.names[group] != "broken things"


def test_merging_moves_messages_examples_and_labels(edits: Edits) -> None:
    one, two = two_leaves(edits.board)
    first, second = (edits.board.members(group) for group in (one, two))
    edits.do(MakeIntent(group=one, examples=(int(first[0]),)))
    edits.do(MakeIntent(group=two, examples=(int(second[0]),)))
    edits.do(Label(message=int(second[1]), group=two))
    board = edits.do(Merge(groups=(two,), into=one))
    assert two not in board.leaves
    assert sorted(board.members(one)) == sorted([*first, *second])
    assert board.intents == {one: Intent("", (int(first[0]), int(second[0])))}
    assert board.labels == {int(second[1]): one}


def test_a_group_above_closes_with_its_last_leaf(edits: Edits) -> None:
    board = edits.board
    above = next(parent for leaf in board.leaves if (parent := board.parents[leaf]) is not None)
    for leaf in board.below(above):
        assert above in board.names
        board = edits.do(DiscardGroup(group=leaf))
    assert above not in board.names
    assert not board.below(above) if above in board.names else True


def test_splitting_opens_groups_beside(edits: Edits) -> None:
    group, _ = two_leaves(edits.board)
    rows = edits.board.members(group).tolist()
    board = edits.do(Split(group=group, parts=(tuple(rows[:3]), tuple(rows[3:5])), names=("a", "b")))
    new = [leaf for leaf in board.leaves if board.names[leaf] in ("a", "b")]
    assert [board.members(leaf).tolist() for leaf in sorted(new)] == [rows[:3], rows[3:5]]
    assert all(board.parents[leaf] == board.parents[group] for leaf in new)
    assert board.members(group).tolist() == rows[5:]


def test_moved_and_discarded_messages_are_no_examples_any_more(edits: Edits) -> None:
    one, two = two_leaves(edits.board)
    rows = edits.board.members(one).tolist()
    edits.do(MakeIntent(group=one, examples=tuple(rows[:4])))
    board = edits.do(Move(messages=(rows[0],), group=two))
    assert board.group[rows[0]] == two
    board = edits.do(Discard(messages=(rows[1],)))
    assert board.group[rows[1]] == DISCARDED
    assert board.intents[one].examples == tuple(rows[2:4])


def test_a_label_moves_its_message(edits: Edits) -> None:
    one, two = two_leaves(edits.board)
    edits.do(MakeIntent(group=one))
    row = int(edits.board.members(two)[0])
    assert edits.do(Label(message=row, group=one)).group[row] == one
    board = edits.do(Label(message=row, group=OUTSIDE))
    assert (board.group[row], board.labels[row]) == (DISCARDED, OUTSIDE)
    assert edits.do(Label(message=row, group=None)).labels[row] is None
    edits.do(Label(message=row, group=one))
    assert row not in edits.do(DropIntent(group=one)).labels


@pytest.mark.parametrize(
    "wrong",
    [
        Rename(group=99, name="x"),
        Merge(groups=(99,), into=1),
        Split(group=99, parts=((1,),), names=("x",)),
        Move(messages=(10_000,), group=1),
        Discard(messages=(-3,)),
        DropIntent(group=1),
        Label(message=0, group=2),
    ],
)
def test_what_does_not_fit_is_refused_and_not_written(edits: Edits, path: Path, wrong: object) -> None:
    edits.do(Create(name="empty"))
    before, size = edits.board.digest(), path.stat().st_size
    with pytest.raises(TurnloomError):
        edits.do(wrong)  # type: ignore[arg-type]
    assert (edits.board.digest(), path.stat().st_size) == (before, size)


def test_two_intents_never_have_the_same_name(edits: Edits) -> None:
    one, two = two_leaves(edits.board)
    edits.do(MakeIntent(group=one))
    edits.do(Rename(group=two, name=edits.board.names[one].upper()))
    with pytest.raises(TurnloomError, match="merge the two groups"):
        edits.do(MakeIntent(group=two))


def test_undo_and_redo_restore_every_bit(edits: Edits, path: Path) -> None:
    rng = random.Random(0)
    digests = [edits.board.digest()]
    while len(digests) < 60:
        with suppress(TurnloomError):
            digests.append(edits.do(any_action(edits.board, rng)).digest())
    for digest in reversed(digests[:-1]):
        edits.undo()
        assert edits.board.digest() == digest
    with pytest.raises(TurnloomError, match="nothing to undo"):
        edits.undo()
    for digest in digests[1:]:
        edits.redo()
        assert edits.board.digest() == digest
    with pytest.raises(TurnloomError, match="nothing to redo"):
        edits.redo()
    assert Edits(path, found()).board.digest() == digests[-1]


def test_an_edit_after_an_undo_cannot_be_redone_away(edits: Edits) -> None:
    edits.do(Create(name="one"))
    edits.undo()
    assert edits.can_redo
    edits.do(Create(name="two"))
    assert not edits.can_redo
    assert [action.name for action in edits.history if isinstance(action, Create)] == ["two"]


def test_two_sessions_see_and_keep_each_others_edits(path: Path) -> None:
    sessions = [Edits(path, found()) for _ in range(2)]

    def edit(number: int) -> None:
        for count in range(25):
            sessions[number].do(Create(name=f"{number} {count}"))

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {f"{number} {count}" for number in range(2) for count in range(25)}
    for session in [*sessions, Edits(path, found())]:
        assert names <= set(session.board.names.values())
    assert sessions[0].board.digest() == sessions[1].board.digest()


def test_an_edit_of_what_another_session_closed_is_refused(path: Path) -> None:
    one, two = Edits(path, found()), Edits(path, found())
    group, other = two_leaves(one.board)
    one.do(Merge(groups=(group,), into=other))
    with pytest.raises(TurnloomError, match="another edit may have closed it"):
        two.do(Move(messages=(0,), group=group))


KILLED = """
import sys
from pathlib import Path
from tests.studio.toy import found
from turnloom.studio.actions import Create
from turnloom.studio.edits import Edits
edits = Edits(Path(sys.argv[1]), found())
for number in range(10_000):
    edits.do(Create(name=str(number)))
    print(number, flush=True)
"""


def test_no_acknowledged_edit_is_lost_when_the_process_is_killed(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if int(line) >= 20:
                break
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = [20, *map(int, process.stdout.read().split())]
    again = Edits(path, found())
    assert {str(number) for number in range(acknowledged[-1] + 1)} <= set(again.board.names.values())
    again.do(Create(name="after"))
    assert "after" in Edits(path, found()).board.names.values()


def test_a_journal_of_another_discovery_is_refused(path: Path) -> None:
    from dataclasses import replace

    Edits(path, found()).do(Create(name="x"))
    other = replace(found(), group=np.roll(found().group, 1))
    with pytest.raises(TurnloomError, match="edits of another discovery"):
        Edits(path, other)


def test_a_damaged_entry_costs_only_what_built_on_it(path: Path) -> None:
    edits = Edits(path, found())
    group, _ = two_leaves(edits.board)
    for action in (Create(name="kept"), Create(name="lost"), Rename(group=group, name="renamed")):
        edits.do(action)
    path.write_bytes(path.read_bytes().replace(b'"lost"', b'"1ost"'))
    board = Edits(path, found()).board
    assert "kept" in board.names.values()
    assert board.names[group] == "renamed"
    assert "1ost" not in board.names.values()


def test_a_full_disk_is_said_and_nothing_changes(edits: Edits, monkeypatch: pytest.MonkeyPatch) -> None:
    before = edits.do(Create(name="x")).digest()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("turnloom.journal.os.fsync", full)
        with pytest.raises(TurnloomError, match="No space left on device"):
            edits.do(Create(name="y"))
    assert edits.board.digest() == before
    assert "y" in edits.do(Create(name="y")).names.values()
