"""Whole runs of a tiny model: what comes out, and what an interruption changes (nothing)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from tests.training.toy import conversations, write_start, write_table
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.training import Recipe, TrainResult, load_recipe, train
from turnloom.training.base_model import add_tokens
from turnloom.training.folder import WORK
from turnloom.training.stage import StageRun

TEXTS = ["please tell me about q1 and q2", "the a1 is that a2 was"]


def recipe(name: str, start: Path, **changes: str) -> Recipe:
    settings = {
        "model.start": str(start),
        "stages.0.batch_size": "16",
        "stages.0.steps": "6",
        "stages.0.encoder_rate": "1e-3",
        "report_to": "none",
        "bf16": "false",
        "save_every": "2",
        "evaluate_every": "2",
    }
    return load_recipe(name, {**settings, **changes})


class PowerCutError(Exception):
    """The power went out."""


def stop_at(step: int) -> Any:
    def on_progress(doing: str, part: float, note: str) -> None:
        if doing == "training" and note.startswith(f"step {step},"):
            raise PowerCutError

    return on_progress


@pytest.mark.parametrize("name", ["dse", "dse-123-1", "wmdc", "simcse", "tod-bert", "mlm", "dialoguecse"])
def test_every_method_trains_and_leaves_an_ordinary_folder(name: str, table: Path, start: Path, tmp_path: Path) -> None:
    few = {"stages.0.view.turns": "[1]"} if name == "dse-123-1" else {}
    few = {"stages.0.view.sizes": "[1]"} if name == "wmdc" else few
    result = train(recipe(name, start, **few), [table], tmp_path / "model")
    assert result.steps == 6
    assert result.pairs == 6 * 16
    assert result.tokens > result.pairs
    model = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True)
    before = SentenceTransformer(str(start), device="cpu", local_files_only=True)
    assert np.abs(model.encode(TEXTS) - before.encode(TEXTS)).max() > 1e-4
    assert model.max_seq_length == before.max_seq_length
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"recipe `{name}`" in card
    assert "| table |" in card
    assert not list((tmp_path / "model" / WORK).rglob("checkpoint-*"))


def test_kept_heads_are_three_views_of_one_encoder(table: Path, start: Path, tmp_path: Path) -> None:
    train(recipe("dse-heads", start), [table], tmp_path / "heads")
    encoder = load_encoder(tmp_path / "heads")
    assert encoder.has_heads
    model = SentenceTransformer(str(tmp_path / "heads"), device="cpu", local_files_only=True)
    meaning, context, reply = model.encode(TEXTS), model.encode_query(TEXTS), model.encode_document(TEXTS)
    assert np.abs(meaning - context).max() > 1e-4
    assert np.abs(context - reply).max() > 1e-4
    assert np.linalg.norm(context, axis=1) == pytest.approx([1, 1], abs=1e-5)
    # `encode` is the encoder alone, of length one.
    bare = SentenceTransformer(modules=list(model)[:2], device="cpu").encode(TEXTS, normalize_embeddings=True)
    assert meaning == pytest.approx(bare, abs=1e-6)
    # And training can go on from such a folder.
    train(recipe("dse", tmp_path / "heads"), [table], tmp_path / "next")
    assert not load_encoder(tmp_path / "next").has_heads


def test_what_goes_on_from_a_model_with_heads_goes_on_from_its_heads(table: Path, start: Path, tmp_path: Path) -> None:
    train(recipe("dse-heads", start), [table], tmp_path / "first")
    still = {"stages.0.encoder_rate": "0", "stages.0.head_rate": "1e-12", "stages.0.steps": "1"}
    train(recipe("dse-heads", tmp_path / "first", **still), [table], tmp_path / "second")
    texts = ["where is my parcel"]
    one, other = (load_encoder(tmp_path / name) for name in ("first", "second"))
    assert np.allclose(one.encode_document(texts), other.encode_document(texts), atol=1e-5)
    assert not np.allclose(one.encode_document(texts), one.encode(texts), atol=1e-3)


def test_a_recipe_says_how_it_adapts() -> None:
    adapted = load_recipe("turnloom", {"stages.0.head_rate": "1e-4"}, adapt=True)
    assert adapted.model.start == "turnloom-mini"
    assert adapted.stages[0].encoder_rate < load_recipe("turnloom").stages[0].encoder_rate
    assert adapted.stages[0].head_rate == 1e-4
    with pytest.raises(TurnloomError, match="does not say how to adapt"):
        load_recipe("dse", adapt=True)


def test_other_servers_find_the_keys_they_know(table: Path, start: Path, tmp_path: Path) -> None:
    """As text-embeddings-inference reads a folder: pooling by older keys, the length from sentence_bert_config."""
    train(recipe("dse", start), [table], tmp_path / "model")
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    pooling = next(module["path"] for module in modules if module["type"].endswith("Pooling"))
    config = json.loads((tmp_path / "model" / pooling / "config.json").read_text())
    chosen = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    assert chosen == ["pooling_mode_mean_tokens"]
    assert json.loads((tmp_path / "model" / "sentence_bert_config.json").read_text())["max_seq_length"] == 48
    assert (tmp_path / "model" / "model.safetensors").exists()
    assert not list((tmp_path / "model").glob("*.bin"))


@pytest.mark.parametrize(("name", "optimizer"), [("dse", "adamw"), ("dse-heads", "adamw"), ("dse-heads", "muon")])
def test_a_resumed_run_ends_bit_identical(name: str, optimizer: str, table: Path, start: Path, tmp_path: Path) -> None:
    wanted = recipe(name, start, **{"model.dropout": "0.1", "stages.0.optimizer": optimizer})
    whole = train(wanted, [table], tmp_path / "whole")
    for step in (3, 5):
        with pytest.raises(PowerCutError):
            train(wanted, [table], tmp_path / "broken", resume=step > 3, on_progress=stop_at(step))
    # A checkpoint that was being written when the power went out.
    half = tmp_path / "broken" / WORK / "stage-0" / "checkpoint-5"
    half.mkdir()
    (half / "trainer_state.json").write_text("{")
    again = train(wanted, [table], tmp_path / "broken", resume=True)
    assert (again.steps, again.pairs, again.tokens) == (whole.steps, whole.pairs, whole.tokens)
    for path in (tmp_path / "whole").rglob("model.safetensors"):
        twin = load_file(tmp_path / "broken" / path.relative_to(tmp_path / "whole"))
        for key, tensor in load_file(path).items():
            assert torch.equal(tensor, twin[key]), key


@pytest.mark.parametrize("validated", [False, True])
def test_a_run_that_was_stopped_after_its_last_step_makes_no_other(
    validated: bool, table: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train_into(name: str, resume: bool = False) -> TrainResult:
        # The second of three looks is the best one.
        scores = iter([10.0, 30.0, 20.0])
        validate = (lambda _: {"score": next(scores)}) if validated else None
        return train(recipe("dse-heads", start), [table], tmp_path / name, resume=resume, validate=validate)

    def power_cut(*_: Any) -> None:
        raise PowerCutError

    whole = train_into("whole")
    with monkeypatch.context() as broken:
        broken.setattr(StageRun, "_done", power_cut)
        with pytest.raises(PowerCutError):
            train_into("broken")
    again = train_into("broken", resume=True)
    assert (again.steps, again.pairs, again.tokens) == (whole.steps, whole.pairs, whole.tokens)
    assert len(again.curve) == len(whole.curve) == (3 if validated else 0)
    for path in (tmp_path / "whole").rglob("model.safetensors"):
        twin = load_file(tmp_path / "broken" / path.relative_to(tmp_path / "whole"))
        assert all(torch.equal(tensor, twin[key]) for key, tensor in load_file(path).items())


def test_the_best_checkpoint_by_validation_is_kept(table: Path, start: Path, tmp_path: Path) -> None:
    scores = iter([10.0, 30.0, 20.0])
    seen: list[np.ndarray] = []

    def validate(model: Any) -> dict[str, float]:
        seen.append(model.encode(TEXTS))
        return {"score": next(scores)}

    result = train(recipe("dse", start), [table], tmp_path / "model", validate=validate)
    assert [point["score"] for point in result.curve] == [10, 30, 20]
    assert [point["step"] for point in result.curve] == [2, 4, 6]
    kept = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True).encode(TEXTS)
    assert kept == pytest.approx(seen[1], abs=1e-6)


def test_curves_go_to_tensorboard_unless_told_otherwise(table: Path, start: Path, tmp_path: Path) -> None:
    plain = recipe("dse", start, report_to=load_recipe("dse").report_to)
    train(plain, [table], tmp_path / "model")
    assert list((tmp_path / "model" / WORK).rglob("events.out.tfevents*"))


def test_mistakes_are_said(table: Path, start: Path, tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="does not say what to start from"):
        train(load_recipe("dse"), [table], tmp_path / "a")
    with pytest.raises(TurnloomError, match="fewer than a batch"):
        train(recipe("dse", start, **{"stages.0.batch_size": "1024"}), [table], tmp_path / "b")
    # Nothing was learned there: with the mistake fixed, the folder is free.
    train(recipe("dse", start), [table], tmp_path / "b")
    with pytest.raises(TurnloomError, match="holds a run already"):
        train(recipe("dse", start), [table], tmp_path / "b")
    with pytest.raises(TurnloomError, match="is another recipe"):
        train(recipe("dse-heads", start), [table], tmp_path / "b", resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    with pytest.raises(TurnloomError, match=r"holds files that are not a model's \(README\.md\)"):
        train(recipe("dse", start), [table], tmp_path / "mine")
    with pytest.raises(TurnloomError, match="matching_guided takes a batch as a whole"):
        train(recipe("dialoguecse", start, **{"stages.0.mini_batch_size": "8"}), [table], tmp_path / "c")
    with pytest.raises(TurnloomError, match="keep_heads needs the head 'context-reply'"):
        train(recipe("dse", start, keep_heads="true"), [table], tmp_path / "d")
    assert not list((tmp_path / "d").rglob("checkpoint-*")), "it was said after the training"
    assert not (tmp_path / "d" / "training" / "recipe.yaml").exists()


def test_a_run_resumes_with_its_own_tables_and_base_model_only(start: Path, tmp_path: Path) -> None:
    table, base = write_table(tmp_path / "table", conversations(60)), tmp_path / "base"
    shutil.copytree(start, base)
    wanted = recipe("dse", base)
    with pytest.raises(PowerCutError):
        train(wanted, [table], tmp_path / "model", on_progress=stop_at(3))
    other = write_table(tmp_path / "other", conversations(60, seed=1))
    for tables in ([other], [table, other]):
        with pytest.raises(TurnloomError, match="began with other tables"):
            train(wanted, tables, tmp_path / "model", resume=True)
    write_start(base, width=16)
    with pytest.raises(TurnloomError, match=f"{base} has changed since"):
        train(wanted, [table], tmp_path / "model", resume=True)
    shutil.copytree(start, base, dirs_exist_ok=True)
    shutil.copytree(table, tmp_path / "moved")  # The same rows in another folder are the same table.
    assert train(wanted, [tmp_path / "moved"], tmp_path / "model", resume=True).steps == 6


def test_frozen_parts_stay(table: Path, start: Path, tmp_path: Path) -> None:
    train(recipe("dse", start, **{"model.freeze_layers": "1"}), [table], tmp_path / "model")
    before, after = load_file(start / "model.safetensors"), load_file(tmp_path / "model" / "model.safetensors")
    changed = {name for name, tensor in before.items() if not torch.equal(tensor, after[name])}
    assert not any("encoder.layer.0." in name or "word_embeddings" in name for name in changed)
    assert any("LayerNorm" in name for name in changed)


def test_frozen_words_do_not_decay_while_added_marks_learn(table: Path, start: Path, tmp_path: Path) -> None:
    changes = {"model.freeze_embeddings": "true", "stages.0.weight_decay": "0.5"}
    train(recipe("tod-bert", start, **changes), [table], tmp_path / "model")
    before, after = (
        next(tensor for name, tensor in load_file(folder / "model.safetensors").items() if "word_embeddings" in name)
        for folder in (start, tmp_path / "model")
    )
    marks = SentenceTransformer(str(tmp_path / "model"), device="cpu").tokenizer.convert_tokens_to_ids(
        ["[USR]", "[SYS]"]
    )
    assert marks == [len(before), len(before) + 1]
    assert torch.equal(after[: len(before)], before)
    still = recipe("tod-bert", start, **changes, **{"stages.0.encoder_rate": "0"})
    train(still, [table], tmp_path / "still")
    first = load_file(tmp_path / "still" / "model.safetensors")
    untrained = next(tensor for name, tensor in first.items() if "word_embeddings" in name)
    assert (after[marks] != untrained[marks]).any(dim=1).all()


def test_marks_that_are_added_later_leave_earlier_ones_free(start: Path) -> None:
    model = SentenceTransformer(str(start), device="cpu")
    network = model[0].auto_model
    network.get_input_embeddings().requires_grad_(False)
    known = len(model.tokenizer)
    for mark in ("[ONE]", "[TWO]"):
        add_tokens(model.tokenizer, network, [mark], frozen=True)
    weight = network.get_input_embeddings().weight
    weight.sum().backward()
    assert not weight.grad[:known].any()
    assert weight.grad[known:].all()


def test_two_views_in_one_stage_have_losses_of_their_own(table: Path, start: Path, tmp_path: Path) -> None:
    also = "[{view: {kind: dropout, min_words: 0}, objective: {kind: nt_xent, form: symmetric}}]"
    changes = {"stages.0.also": also, "stages.0.mixing": "equal", "stages.0.steps": "8", "stages.0.view.sizes": "[1]"}
    result = train(recipe("wmdc-heads", start, **changes), [table], tmp_path / "model")
    assert result.steps == 8
    assert (tmp_path / "model" / WORK / "stage-0" / "view-1" / "manifest.json").exists()
    assert "Router" in (tmp_path / "model" / "modules.json").read_text(encoding="utf-8")
