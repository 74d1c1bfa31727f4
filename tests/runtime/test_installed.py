"""Models that come as packages."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import turnloom
from tests.test_plugins import install
from tests.training.toy import write_start
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.runtime.model_folder import model_folder

ENTRY = "[turnloom.models]\na-model = a_model\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `a_model` with a model in it, as an installer leaves it."""
    write_start(tmp_path / "model")
    shutil.copytree(tmp_path / "model", tmp_path / "site" / "a_model")
    (tmp_path / "site" / "a_model" / "__init__.py").touch()
    install(monkeypatch, tmp_path / "site", ENTRY, name="a-model")
    return tmp_path / "model"


def test_an_installed_model_is_loaded_by_its_name(installed: Path) -> None:
    texts = ["where is my parcel?"]
    assert np.array_equal(turnloom.load("a-model").encode(texts), load_encoder(installed).encode(texts))


@pytest.mark.usefixtures("installed")
def test_a_folder_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-model").mkdir()
    assert model_folder("a-model") == Path("a-model")


@pytest.mark.usefixtures("installed")
def test_two_packages_with_a_model_of_one_name_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path / "other", ENTRY, name="another")
    with pytest.raises(TurnloomError, match="a-model and another both have the model 'a-model'"):
        turnloom.load("a-model")


def test_what_is_not_installed_is_said() -> None:
    with pytest.raises(TurnloomError, match="install the package of that name"):
        turnloom.load("no-such-model")


def test_our_model_is_not_looked_for_on_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody could publish something of that name there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("turnloom.runtime.model_folder.find_plugin", lambda *_: None)
    with pytest.raises(TurnloomError, match=r"from a clone of Turnloom: pip install \./models/turnloom-mini"):
        turnloom.load("turnloom-mini")
