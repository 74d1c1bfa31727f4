"""The guide does what it shows: its files are written, its Python is run, its commands are run."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.intents.guide_model import write_model
from turnwise.cli.main import main

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "intents.md"


def run_command(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    given, _, command = line.rpartition(" | ")
    if given:
        monkeypatch.setattr(sys, "stdin", io.StringIO(shlex.split(given)[1] + "\n"))
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_everything_in_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    write_model(tmp_path / "my-model", text)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    kinds = {"csv": 0, "python": 0, "console": 0}
    for kind, title, body in re.findall(r'```(\w+)(?: title="([^"]+)")?\n(.*?)```', text, re.DOTALL):
        kinds[kind] += 1
        if kind == "csv":
            Path(title).write_text(body, encoding="utf-8")
        elif kind == "python":
            exec(compile(body, str(GUIDE), "exec"), names)
        else:
            for line in body.splitlines():
                assert run_command(line.removeprefix("$ "), monkeypatch) == 0, line
    assert kinds["csv"] == 1
    assert kinds["python"] >= 9
    assert kinds["console"] >= 3
    assert (tmp_path / "scores.json").exists()
    assert (tmp_path / "vectors.parquet").exists()
