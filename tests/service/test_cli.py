"""`turnloom serve` as a user meets it, but for serving itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.test_commands import run
from turnloom.service.config import KeyEntry
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


def test_a_new_key_has_the_scopes_and_the_tenant_asked_for(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(
        capsys, monkeypatch, "serve", "--new-key", "website", "--scopes", "intents, intents:write", "--tenant", "0123"
    )
    entry = KeyEntry.model_validate(yaml.safe_load(out.split("\n", 1)[1])[0])
    assert (code, entry.scopes, entry.tenant) == (0, {"intents", "intents:write"}, "0123")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--new-key", "a", "--scopes", "intents,replys"), "there is no scope 'replys'. Fix: did you mean replies"),
        (("--new-key", "a", "--scopes", ""), "--scopes names no scope. Fix: the scopes are embeddings, rerank"),
        (("--new-key", "a", "--tenant", "Acme"), "'Acme' is not a valid name for a tenant"),
        (("--new-key", "a", "--tenant", "acme", "--scopes", "admin"), "a tenant's key cannot have the scope admin"),
        (("--scopes", "intents"), "add --new-key NAME"),
    ],
)
def test_a_key_that_cannot_be_made_is_explained(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    code, out, error = run(capsys, monkeypatch, "serve", *options)
    assert (code, out) == (2, "")
    assert said in error


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
