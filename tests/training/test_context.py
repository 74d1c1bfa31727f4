"""How many turns a trained model reads of a conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.test_run import recipe
from tests.training.toy import write_start
from turnloom.runtime import load_encoder
from turnloom.runtime.context_format import FILE, ContextFormat, read_context_format
from turnloom.runtime.protocols import turn_encoder
from turnloom.training import load_recipe, train
from turnloom.training.base_model import context_formats

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model that reads three turns, by its own separator."""
    folder = write_start(tmp_path_factory.mktemp("limited") / "model")
    (folder / FILE).write_text(ContextFormat(separator="|", max_turns=3).model_dump_json())
    return folder


def test_a_trained_model_reads_as_many_turns_as_its_context_head_has_seen(
    table: Path, start: Path, tmp_path: Path
) -> None:
    train(recipe("dse-heads", start), [table], tmp_path / "model")
    encoder = load_encoder(tmp_path / "model")
    assert encoder.format_context(["please tell me", "more about q1"]) == "more about q1"
    assert "Give at most the last 1" in (tmp_path / "model" / "README.md").read_text()
    assert read_context_format(tmp_path / "model").max_turns == 1


@pytest.mark.parametrize(
    ("name", "changes", "goes_on", "rows", "saved"),
    [
        ("turnloom", {}, False, None, 3),
        ("wmdc-heads", {"stages.0.view.sizes": "[1, 2]"}, False, None, 2),
        # Going on from a head that reads three turns: it has learned from these and from the new ones.
        ("wmdc-heads", {"stages.0.view.sizes": "[1, 2]"}, True, None, 3),
        ("turnloom", {"stages.0.view.turns": "[1, 5]"}, True, None, 5),
        # What the recipe sets holds, in training too.
        ("turnloom", {"model.context.max_turns": "2"}, True, 2, 2),
        # Without a context head, the base model's setting stays.
        ("dse", {}, True, None, 3),
        ("dse", {"stages.0.view.turns": "[4]"}, True, None, 4),
        ("mlm", {}, True, None, None),
        ("tadse", {}, True, None, 3),
    ],
)
def test_turns_in_training_rows_and_in_the_folder(
    name: str, changes: dict[str, str], goes_on: bool, rows: int | None, saved: int | None, limited: Path
) -> None:
    training, folder = context_formats(load_recipe(name, {"model.start": str(limited), **changes}), goes_on=goes_on)
    assert (training.max_turns, folder.max_turns) == (rows, saved)
    assert training.separator == folder.separator == (None if changes.get("model.context.max_turns") else "|")


def test_an_encoder_without_heads_and_a_cross_encoder_are_not_limited(start: Path) -> None:
    for name in ("dse", "dse-123-1", "wmdc", "tod-bert", "ums", "selection"):
        assert context_formats(load_recipe(name, {"model.start": str(start)}), goes_on=False)[1].max_turns is None


def test_the_heads_of_turnloom_mini_read_three_turns() -> None:
    folder = ROOT / "models" / "turnloom-mini"
    assert json.loads((folder / FILE).read_text())["max_turns"] == 3
    encoder = turn_encoder(load_encoder(folder))
    assert encoder.format_context(["a", "b", "c", "d"]) == "b [SEP] c [SEP] d"
    turns = ("hello", "my card is lost", "which one?", "the blue one")
    long, short = encoder.encode_query([turns])[0], encoder.encode_query([turns[1:]])[0]
    assert long == pytest.approx(short, abs=1e-6)
