"""`turnloom serve CONFIG --check`: what passes it starts, and what would stop a start is one line."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_commands import run
from tests.cli.test_mistakes import is_one_line
from tests.objectives.cross_encoders import tiny_cross_encoder
from tests.runtime.test_encoder import tiny_model
from tests.service.toy import with_intents, with_replies
from turnloom.runtime import load_encoder

Capture = pytest.CaptureFixture[str]
Spoil = Callable[[Path, dict[str, Any]], None]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, a cross-encoder, and intents and replies of both models."""
    folder = tmp_path_factory.mktemp("check")
    (folder / "words").mkdir()
    tiny_model.folder = folder / "words"  # type: ignore[attr-defined]
    for name, length in (("mine", 16), ("other", 8)):
        model = tiny_model()
        model.max_seq_length = length
        model.save_pretrained(str(folder / name / "model"), create_model_card=False)
        encoder = load_encoder(folder / name / "model")
        with_intents(folder / name, encoder)
        with_replies(folder / name, encoder)
    scorer: Any = tiny_cross_encoder(folder / "tiny", ["hello", "yes"])
    scorer.save_pretrained(str(folder / "mine" / "reranker"), create_model_card=False)
    return folder


def write_config(world: Path, place: Path) -> tuple[Path, dict[str, Any]]:
    """A folder of its own, and the settings of a service that would start there."""
    shutil.copytree(world / "mine", place)
    found = {
        "port": 0,
        "model": {"path": "model"},
        "reranker": {"path": "reranker"},
        "intents": {"folder": "intents"},
        "replies": {"folder": "replies"},
    }
    return place, found


def replaced(name: str) -> Spoil:
    def spoil(place: Path, _: dict[str, Any]) -> None:
        shutil.rmtree(place / name)
        shutil.copytree(place.parent / "other" / name, place / name)

    return spoil


def cut(name: str) -> Spoil:
    def spoil(place: Path, _: dict[str, Any]) -> None:
        (place / name).write_bytes((place / name).read_bytes()[:100])

    return spoil


def encoder_as_reranker(_: Path, found: dict[str, Any]) -> None:
    found["reranker"]["path"] = "model"


def scorer_as_model(_: Path, found: dict[str, Any]) -> None:
    found["model"]["path"] = "replies"


def state_is_a_file(place: Path, _: dict[str, Any]) -> None:
    (place / "state").touch()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (replaced("intents"), "intents was made with the model 'model'"),
        (replaced("replies"), "replies holds vectors of model"),
        (cut("model/model.safetensors"), "model holds a damaged model"),
        (cut("reranker/model.safetensors"), "reranker holds a damaged model"),
        (cut("intents/intents.safetensors"), "intents.safetensors is damaged"),
        (cut("replies/index.json"), "index.json"),
        (encoder_as_reranker, "model holds no cross-encoder"),
        (scorer_as_model, "replies holds no model"),
        (state_is_a_file, "state cannot be written to"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_stop_a_start_is_found(
    spoil: Spoil, says: str, world: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(world / "other", tmp_path / "other")
    place, found = write_config(world, tmp_path / "service")
    spoil(place, found)
    (place / "config.yaml").write_text(yaml.safe_dump(found))
    code, _, error = run(capsys, monkeypatch, "serve", str(place / "config.yaml"), "--check")
    assert says in error
    assert is_one_line(code, error)


@pytest.mark.parametrize("module", ["fastapi", "prometheus_client"])
def test_a_missing_extra_is_found(module: str, world: Path, tmp_path: Path) -> None:
    place, found = write_config(world, tmp_path / "service")
    (place / "config.yaml").write_text(yaml.safe_dump(found))
    script = f"import sys; sys.modules[{module!r}] = None; from turnloom.cli.main import main; main()"
    command = [sys.executable, "-c", script, "serve", str(place / "config.yaml"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert is_one_line(done.returncode, done.stderr)
    assert "Fix: pip install 'turnloom[" in done.stderr


def test_a_missing_extra_of_replies_is_found(
    world: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Imported last, so a process of its own would import and load everything else first."""
    place, found = write_config(world, tmp_path / "service")
    (place / "config.yaml").write_text(yaml.safe_dump(found))
    monkeypatch.setitem(sys.modules, "lancedb", None)
    code, _, error = run(capsys, monkeypatch, "serve", str(place / "config.yaml"), "--check")
    assert is_one_line(code, error)
    assert "Fix: pip install 'turnloom[" in error


def test_a_port_in_use_is_found(world: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    place, found = write_config(world, tmp_path / "service")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        (place / "config.yaml").write_text(yaml.safe_dump({**found, "port": taken.getsockname()[1]}))
        code, _, error = run(capsys, monkeypatch, "serve", str(place / "config.yaml"), "--check")
    assert "cannot listen on 127.0.0.1:" in error
    assert "(Address already in use)" in error
    assert is_one_line(code, error)


def test_what_would_start_is_fine_and_left_alone(
    world: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, found = write_config(world, tmp_path / "service")
    (place / "config.yaml").write_text(yaml.safe_dump(found))
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    for _ in range(2):
        code, out, error = run(capsys, monkeypatch, "serve", str(place / "config.yaml"), "--check")
        assert (code, error) == (0, "")
        assert "is fine. Start it with" in out
    assert {path: path.read_bytes() for path in before} == before
