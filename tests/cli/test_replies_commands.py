"""What `turnloom replies` prints."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.training.toy import conversations, write_start, write_table


def test_people_count_turns_from_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As the service's page does; JSON counts from 0, as documented."""
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder

    model = write_start(tmp_path / "model")
    write_table(tmp_path / "table", conversations(40))
    ReplyIndex.build([tmp_path / "table"], tmp_path / "replies", load_encoder(model))
    command = ["replies", "search", str(tmp_path / "replies"), "--model", str(model), "-k", "1"]

    monkeypatch.setattr(sys, "stdin", io.StringIO('{"context": ["please tell me about q1"]}\n'))
    _, lines, _ = run(capsys, monkeypatch, *command)
    place = json.loads(lines)["replies"][0]["conversations"][0]
    _, table, _ = run(capsys, monkeypatch, *command, "please tell me about q1")
    assert f"{place['dialogue_id']}, turn {place['turn'] + 1}" in table
