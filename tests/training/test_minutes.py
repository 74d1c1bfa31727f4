"""Runs with a deadline: everything counts, and there is always a model at the end."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from sentence_transformers import SentenceTransformer

from tests.training.test_refit import what_is_encoded
from tests.training.test_run import PowerCutError, recipe, stop_at
from turnloom.corpus.table import read_manifest
from turnloom.objectives import ContextReplyHeads
from turnloom.runtime import load_encoder
from turnloom.training import TrainResult, train
from turnloom.training import data as data_module
from turnloom.training.clock import RunClock
from turnloom.training.folder import WORK
from turnloom.training.recipe import Refit
from turnloom.training.refit import refit_heads

SECONDS = 6.0
BUSY = 4.0
"""How many times as long a run may take on a machine that does other things too; without a bound it would be more."""
REFIT = {"refit": "{pairs: 300, passes: 200000, batch_size: 50}", "stages.0.view.sizes": "[1]"}


def timed(*arguments: Any, **options: Any) -> tuple[float, TrainResult]:
    began = time.monotonic()
    result = train(*arguments, minutes=SECONDS / 60, **options)
    return time.monotonic() - began, result


def test_all_phases_share_the_time(table: Path, start: Path, tmp_path: Path) -> None:
    """Passes that would take hours end in time, and every phase shows its progress to the end."""
    phases: dict[str, float] = {}

    def show(doing: str, part: float, note: str) -> None:
        del note
        phases[doing] = part

    took, _ = timed(recipe("wmdc-heads", start, **REFIT), [table], tmp_path / "model", on_progress=show)
    assert 0.6 * SECONDS < took < BUSY * SECONDS
    shown = ["loading the base model", "making rows", "training", "encoding for the heads", "refitting heads", "saving"]
    assert [name for name in phases if name in shown] == shown
    assert all(phases[name] == 1 for name in shown if name not in ("making rows", "training"))
    assert phases["training"] == pytest.approx(1, abs=0.5)
    assert load_encoder(tmp_path / "model").has_heads


def test_building_views_takes_time_from_training(
    table: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = data_module.build_view

    def slowly(*arguments: Any, **options: Any) -> Any:
        time.sleep(3)
        return build(*arguments, **options)

    monkeypatch.setattr(data_module, "build_view", slowly)
    _, result = timed(recipe("dse", start), [table], tmp_path / "model")
    assert 60 * result.minutes < SECONDS - 2


def test_a_look_that_takes_too_long_is_given_up(table: Path, start: Path, tmp_path: Path) -> None:
    looks: list[bool] = []

    def validate(model: SentenceTransformer) -> dict[str, float]:
        looks.append(False)
        for _ in range(120):
            time.sleep(0.25)
            model.encode(["please tell me about q1"])
        looks[-1] = True
        return {"score": 1.0}

    wanted = recipe("wmdc-heads", start, **REFIT, evaluate_every="100000")
    took, _ = timed(wanted, [table], tmp_path / "model", validate=validate)
    assert took < BUSY * SECONDS
    assert looks
    assert not any(looks)
    assert json.loads((tmp_path / "model" / WORK / "result.json").read_text(encoding="utf-8"))["curve"] == []
    assert load_encoder(tmp_path / "model").has_heads


def test_looks_that_fit_are_taken(table: Path, start: Path, tmp_path: Path) -> None:
    def validate(_: SentenceTransformer) -> dict[str, float]:
        time.sleep(0.2)
        return {"score": 1.0}

    wanted = recipe("wmdc-heads", start, **REFIT, evaluate_every="5")
    took, _ = timed(wanted, [table], tmp_path / "model", validate=validate)
    assert took < BUSY * SECONDS
    curve = json.loads((tmp_path / "model" / WORK / "result.json").read_text(encoding="utf-8"))["curve"]
    assert len(curve) >= 3  # On the way, at the stage's end, and after refitting.


def test_time_before_an_interruption_counts(table: Path, start: Path, tmp_path: Path) -> None:
    wanted, out = recipe("dse", start), tmp_path / "model"
    with pytest.raises(PowerCutError):
        train(wanted, [table], out, minutes=10, on_progress=stop_at(5))
    noted = json.loads((out / WORK / "clock.json").read_text(encoding="utf-8"))["seconds"]
    assert 0 < noted < 60
    (out / WORK / "clock.json").write_text(json.dumps({"seconds": 599.0}), encoding="utf-8")
    began = time.monotonic()
    result = train(wanted, [table], out, minutes=10, resume=True)
    assert time.monotonic() - began < 30
    assert result.steps >= 4
    assert (out / "model.safetensors").exists()


def test_minutes_of_a_stage_count_training_alone(table: Path, start: Path, tmp_path: Path) -> None:
    """As studies compare methods: looks at validation do not take from the time to learn in."""
    looks = []

    def validate(_: Any) -> dict[str, float]:
        time.sleep(1)
        looks.append(1.0)
        return {"score": float(len(looks))}

    wanted = recipe("dse", start, **{"stages.0.minutes": "0.03", "evaluate_every": "20"})
    result = train(wanted, [table], tmp_path / "model", validate=validate)
    assert looks
    assert result.minutes == pytest.approx(0.03, rel=0.5)


def test_refitting_encodes_what_fits(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SentenceTransformer(str(start), device="cpu")
    encoded = what_is_encoded(model, monkeypatch)
    inner = model.encode

    def slowly(texts: list[str], **options: Any) -> Any:
        time.sleep(0.2)
        return inner(texts, **options)

    monkeypatch.setattr(model, "encode", slowly)
    rows = [f"q{n % 40} and q{n // 40}" for n in range(1_600)]
    groups = {
        str(size): Dataset.from_dict({"context": [f"{size} {row}" for row in rows], "reply": rows}) for size in (1, 2)
    }
    heads = ContextReplyHeads(model.get_embedding_dimension() or 0)
    before = [weight.detach().clone() for weight in heads.parameters()]
    end = time.monotonic() + 2.0
    options = Refit(pairs=3_200, passes=100_000, batch_size=64)
    refit_heads(model, heads, groups, options, bf16=False, seed=0, left=lambda: end - time.monotonic())
    assert -0.7 < time.monotonic() - end < BUSY
    assert 256 <= len(encoded) < 4_800
    assert {text[0] for text in encoded if text[1] == " "} == {"1", "2"}  # All groups, as far as it went.
    assert any(not np.array_equal(old, new.detach()) for old, new in zip(before, heads.parameters(), strict=True))


def test_too_large_tables_are_sampled(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_manifest(table)
    assert data_module.tables_within([table], 1.0, tmp_path, lambda *_: None) == [table]
    monkeypatch.setattr(data_module, "TURNS_A_MINUTE", whole.turns / 2)
    (half,) = data_module.tables_within([table], 1.0, tmp_path, lambda *_: None)
    assert read_manifest(half).dialogues == pytest.approx(whole.dialogues / 2, rel=0.25)
    assert data_module.tables_within([table], 1.0, tmp_path, lambda *_: None) == [half]


def test_stages_share_what_refitting_leaves() -> None:
    clock = RunClock(minutes=10, before=100)
    windows = [clock.window(number, 2, refits=True) for number in (0, 1)]
    assert [window.ends for window in windows if window] == [225, 450]
    assert windows[0] is not None
    assert windows[0].begins == pytest.approx(100, abs=1)
    assert RunClock().window(0, 1, refits=False) is None
    assert RunClock().left == math.inf
