"""A studio's folder, and what it shows of its groups."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.discovery.toy import TOPICS, planted
from tests.studio.toy import chats, make_studio, opened
from turnloom.cli.main import app
from turnloom.errors import TurnloomError
from turnloom.studio.actions import Discard, Move
from turnloom.studio.folder import load_studio, prepare, refuse_foreign
from turnloom.studio.page.look import BOUNDARY, Look, choices_of, rows_of, tree_value
from turnloom.studio.projection import MOST_POINTS, points_shown, project
from turnloom.studio.workspace import Workspace


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("studio"))


@pytest.fixture
def work(folder: Path, tmp_path: Path) -> Workspace:
    return opened(Path(shutil.copytree(folder, tmp_path / "studio")))


def topic_of(text: str) -> str:
    return next(topic for topic in TOPICS if topic in text)


def test_a_studio_is_what_its_table_says(folder: Path) -> None:
    files = load_studio(folder)
    assert len(files.found.messages) == len(files.vectors) == len(files.points) == len(chats())
    assert files.found.summary.first
    assert np.abs(files.points).max() <= 1
    behind = {f"{example.source}\t{example.dialogue_id}" for edge in files.flow.edges for example in edge.examples}
    assert behind == set(files.conversations)
    assert all(len(turns) == 4 for turns in files.conversations.values())


def test_the_tree_counts_every_message_once(work: Workspace) -> None:
    rows = work.tree(work.board)
    assert sum(row.count for row in rows if row.depth == 0) + len(work.outside(work.board)) == len(chats())
    assert sum(row.count for row in rows if row.leaf) == sum(row.count for row in rows if row.depth == 0)
    assert {row.id for row in rows} == set(work.board.names)


def test_typical_and_boundary_messages_follow_the_edits(work: Workspace) -> None:
    board = work.board
    one, two = sorted(board.leaves)[:2]
    stray = int(work.typical(board, two)[0])
    board = work.edits.do(Move(messages=(stray,), group=one))
    assert work.typical(board, one)[-1] == stray
    assert work.boundary(board, one)[0] == stray
    board = work.edits.do(Discard(messages=(stray,)))
    assert stray in work.outside(board)
    assert tree_value(work, board, Look())["rows"][-1]["name"] == "In no group"


def test_search_finds_by_meaning(work: Workspace) -> None:
    found = work.search("where is my refund", 10)
    assert {topic_of(work.texts[row]) for row in found} == {"refund"}
    rows = rows_of(work, work.board, Look(query="refund"))
    text, row = choices_of(work, work.board, Look(query="refund"), rows)[0]
    assert text.startswith(work.texts[row][:20])


def test_a_page_of_messages_has_an_order(work: Workspace) -> None:
    group = sorted(work.board.leaves)[0]
    typical = rows_of(work, work.board, Look(group))
    boundary = rows_of(work, work.board, Look(group, view=BOUNDARY))
    assert sorted(typical) == sorted(boundary) == sorted(work.board.members(group))
    assert Look(group=999).at(work).group is None


def test_halves_of_a_group_are_what_it_mixes(work: Workspace) -> None:
    board = work.board
    one, two = (
        next(g for g in board.leaves if topic_of(work.texts[board.members(g)[0]]) == t) for t in ("refund", "parcel")
    )
    moved = tuple(board.members(two)[:6].tolist())
    board = work.edits.do(Move(messages=moved, group=one))
    rows, name = work.halves(board, one)
    assert sorted(rows.tolist()) == sorted(moved)
    assert name


def test_projection_keeps_groups_together() -> None:
    unit, truth = planted(6, 60, noise=0.4)
    points = project(unit)
    assert (points == project(unit)).all()
    far = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(far, np.inf)
    assert (truth[far.argmin(axis=1)] == truth).mean() > 0.95
    assert project(unit[:5]).shape == (5, 2)
    assert project(unit[:1]).shape == (1, 2)


def test_a_large_map_is_an_even_sample() -> None:
    shown = points_shown(3 * MOST_POINTS)
    assert len(shown) == MOST_POINTS
    assert (shown[0], shown[-1]) == (0, 3 * MOST_POINTS - 1)


def test_a_folder_of_something_else_is_left_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(TurnloomError, match=r"mine\.txt"):
        refuse_foreign(tmp_path)
    with pytest.raises(TurnloomError, match="--table"):
        load_studio(tmp_path)
    broken = Path(shutil.copytree(folder, tmp_path / "studio"))
    np.save(broken / "drawn" / "vectors.npy", np.zeros((3, 4)))
    with pytest.raises(TurnloomError, match="damaged"):
        load_studio(broken)
    (broken / "drawn" / "flow.json").write_text(json.dumps({"nodes": 3}))
    with pytest.raises(TurnloomError, match="cannot be read"):
        load_studio(broken)


def test_another_model_is_refused(folder: Path) -> None:
    from tests.replies.toy import WordEncoder

    with pytest.raises(TurnloomError, match="holds vectors of studio"):
        Workspace(folder, WordEncoder()).search("x", 1)


def test_the_command_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["studio", str(tmp_path / "none")])
    assert isinstance(result.exception, TurnloomError)
    assert "--table" in result.exception.fix
    result = CliRunner().invoke(app, ["studio", str(folder), "--table", str(tmp_path)])
    assert isinstance(result.exception, TurnloomError)
    assert "holds a studio already" in result.exception.problem


def test_a_studio_can_be_made_again_after_a_kill(folder: Path, tmp_path: Path) -> None:
    from tests.studio.toy import StudioEncoder
    from turnloom.discovery import MessageOptions

    half = Path(shutil.copytree(folder, tmp_path / "studio"))
    (half / "studio.json").unlink()
    table = folder.parent / "table"
    encoder: Any = StudioEncoder()
    prepare(half, table, "studio", encoder, MessageOptions(first=True), replies=folder.parent / "replies")
    assert load_studio(half).settings == load_studio(folder).settings
