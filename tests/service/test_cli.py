"""`turnloom serve` as a user meets it, but for serving itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.test_commands import run
from turnloom.service.config_file import config_text
from turnloom.service.keys import hashed

Capture = pytest.CaptureFixture[str]


def test_init_prints_the_commented_configuration(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, monkeypatch, "serve", "--init")[:2] == (0, config_text())


def test_a_new_key_is_shown_once_with_its_entry(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, "serve", "--new-key", "website")
    first, entry = out.split("\n", 1)
    assert code == 0
    assert yaml.safe_load(entry)[0]["hash"] == hashed(first.removeprefix("key: ").strip())
    code, _, error = run(capsys, monkeypatch, "serve", "--new-key", "no spaces")
    assert code == 2
    assert "is not a valid name for a key" in error


def test_what_is_missing_is_said(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, _, error = run(capsys, monkeypatch, "serve")
    assert code == 2
    assert "turnloom serve --init" in error
    (tmp_path / "config.yaml").write_text(config_text(), encoding="utf-8")
    code, _, error = run(capsys, monkeypatch, "serve", str(tmp_path / "config.yaml"), "--check")
    assert code == 2
    assert "model: there is no folder" in error
    (tmp_path / "model").mkdir()
    code, _, error = run(capsys, monkeypatch, "serve", str(tmp_path / "config.yaml"), "--check")
    assert code == 2
    assert "model holds no model" in error
