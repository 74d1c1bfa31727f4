"""Training on vectors: it learns from earlier turns, resumes exactly, and is the same over several processes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from tests.training.test_learning import in_two_processes
from tests.training.toy import TOPICS, write_headed, write_table
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import turn_encoder
from turnloom.training import (
    ConversationRecipe,
    load_recipe,
    recipe_names,
    recipe_text,
    train,
    train_conversation,
    trained_on_vectors,
)
from turnloom.training import conversation as conversation_training
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.vector_recipe import ConversationData
from turnloom.vectors import VectorOptions, VectorTable, build_vectors

FILLERS = ["the", "is", "that", "was"]
SMALL = {
    "model.size": "32",
    "model.reply_size": "32",
    "data.dialogues": "16",
    "data.contexts": "1",
    "bf16": "false",
    "steps": "60",
}


def talks(count: int, seed: int = 0) -> list[dict[str, object]]:
    """The last question says nothing of its topic: only the first turn tells which answer is right."""
    rng = random.Random(seed)
    topics = [rng.randrange(TOPICS) for _ in range(count)]
    return [
        {
            "id": f"{seed}-{number}",
            "turns": [
                {"speaker": "user", "text": f"q{topic}"},
                {"speaker": "system", "text": "thanks"},
                {"speaker": "user", "text": "and more please"},
                {"speaker": "system", "text": f"a{topic} {rng.choice(FILLERS)}"},
            ],
        }
        for number, topic in enumerate(topics)
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_headed(tmp_path_factory.mktemp("headed") / "model")


def vectors_of(folder: Path, dialogues: list[dict[str, object]], model: Path) -> Path:
    table = write_table(folder / "table", dialogues)
    build_vectors([table], folder / "vectors", VectorOptions(lambda: turn_encoder(load_encoder(model))))
    return folder / "vectors"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    return vectors_of(tmp_path_factory.mktemp("vectors"), talks(300), model)


def recipe(model: Path, **changes: str) -> ConversationRecipe:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return load_recipe("conversation", {**SMALL, "model.start": str(model), **named}, schema=ConversationRecipe)


def weights(folder: Path) -> dict[str, Any]:
    return load_file(folder / "conversation" / "weights.safetensors")


def test_the_recipe_is_told_apart() -> None:
    assert [name for name in recipe_names() if trained_on_vectors(name)] == ["conversation", "rerank"]
    recipe = load_recipe("conversation", schema=ConversationRecipe)
    assert recipe == ConversationRecipe(name="conversation", trains="conversation", adapt=recipe.adapt)
    assert recipe_text("conversation").startswith("# ")


@pytest.mark.slow
def test_it_learns_what_only_earlier_turns_tell(model: Path, vectors: Path, tmp_path: Path) -> None:
    train_conversation(
        recipe(model, steps="600", rate="3e-3", model__size="64", data__dialogues="32"), [vectors], tmp_path / "out"
    )
    encoder = load_encoder(tmp_path / "out")
    assert isinstance(encoder, ConversationEncoder)
    contexts = [[f"q{topic}", "thanks", "and more please"] for topic in range(TOPICS)]
    replies = [f"a{topic} about" for topic in range(TOPICS)]
    scores = encoder.encode_query(contexts) @ encoder.encode_document(replies).T
    assert (scores.argmax(1) == np.arange(TOPICS)).mean() > 0.5
    before = load_encoder(model)
    blind = before.encode_query(contexts) @ before.encode_document(replies).T
    assert (blind.argmax(1) == np.arange(TOPICS)).mean() < 0.2


def test_a_killed_run_goes_on_bit_for_bit(
    model: Path, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = recipe(model, steps="30", save_every="10")
    train_conversation(wanted, [vectors], tmp_path / "whole")
    real, steps = conversation_training.conversation_loss, []

    def until(*arguments: Any, **options: Any) -> Any:
        steps.append(1)
        if len(steps) > 17:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(conversation_training, "conversation_loss", until)
    with pytest.raises(KeyboardInterrupt):
        train_conversation(wanted, [vectors], tmp_path / "killed")
    monkeypatch.setattr(conversation_training, "conversation_loss", real)
    with pytest.raises(TurnloomError, match="holds a run already"):
        train_conversation(wanted, [vectors], tmp_path / "killed")
    result = train_conversation(wanted, [vectors], tmp_path / "killed", resume=True)
    assert result.steps == 30
    whole, killed = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(bool((whole[name] == killed[name]).all()) for name in whole)


@pytest.mark.slow
def test_processes_train_as_one(model: Path, vectors: Path, tmp_path: Path) -> None:
    changes = {"model__dropout": "0", "steps": "5"}
    train_conversation(recipe(model, **changes), [vectors], tmp_path / "one")
    settings = {**SMALL, "model.start": str(model), "model.dropout": "0", "steps": "5"}
    options = [f"--set={name}={value}" for name, value in settings.items()]
    in_two_processes(
        "conversation",
        str(vectors),
        "--out",
        str(tmp_path / "more"),
        *options,
        port=29653,
        processes=3,
    )
    one, more = weights(tmp_path / "one"), weights(tmp_path / "more")
    for name in one:
        # Whitening enlarges what differs in rounding, in directions in which states hardly vary.
        if name != "whitening":
            assert np.allclose(one[name].float(), more[name].float(), atol=2e-3), name


def test_adapting_goes_on_from_what_is_there(model: Path, vectors: Path, tmp_path: Path) -> None:
    train_conversation(recipe(model, steps="30"), [vectors], tmp_path / "first")
    adapted = load_recipe(
        "conversation",
        {**SMALL, "model.start": str(tmp_path / "first"), "steps": "1"},
        adapt=True,
        schema=ConversationRecipe,
    )
    train_conversation(adapted, [vectors], tmp_path / "second")
    first, second = weights(tmp_path / "first"), weights(tmp_path / "second")
    kept = [name for name in first if name not in ("familiar", "whitening")]  # What is familiar is measured anew.
    assert all(np.allclose(first[name].float(), second[name].float(), atol=2e-3) for name in kept)
    assert any(not np.array_equal(first[name].numpy(), second[name].numpy()) for name in first)
    none = load_recipe("conversation", {**SMALL, "model.start": str(model)}, adapt=True, schema=ConversationRecipe)
    with pytest.raises(TurnloomError, match="no conversation encoder to adapt"):
        train_conversation(none, [vectors], tmp_path / "third")


def test_vectors_of_another_model_are_refused(vectors: Path, tmp_path: Path) -> None:
    from tests.training.toy import write_start

    other = write_start(tmp_path / "other", width=16)
    with pytest.raises(TurnloomError, match="holds vectors of model, not of"):
        train_conversation(recipe(other), [vectors], tmp_path / "out")


def test_a_batch_has_each_reply_after_the_turns_before_it(vectors: Path) -> None:
    sampler = ConversationSampler([VectorTable(vectors)], ConversationData(dialogues=8, contexts=1, short=0.0), seed=0)
    batch = sampler.batch(0)
    whole = (batch.speakers >= 0).sum(1)
    assert batch.vectors.shape[0] == 8
    assert len(batch.text) == int((whole - 1).sum())  # Speakers alternate: every turn but the first is a reply.
    assert bool((batch.frequency >= 1).all())
    again, other = sampler.batch(0), sampler.batch(1)
    assert bool((again.text == batch.text).all())
    assert again.text.tolist() != other.text.tolist()


def test_processes_share_a_batch_out(vectors: Path) -> None:
    sampler = ConversationSampler([VectorTable(vectors)], ConversationData(dialogues=7, contexts=1), seed=3)
    whole, parts = sampler.batch(5), [sampler.batch(5, rank, 3) for rank in range(3)]
    assert [row for part in parts for row in part.dialogue.tolist()] == whole.dialogue.tolist()
    assert [text for part in parts for text in part.text.tolist()] == whole.text.tolist()


def test_an_encoder_that_is_trained_on_loses_what_read_its_old_vectors(
    model: Path, vectors: Path, table: Path, tmp_path: Path
) -> None:
    train_conversation(recipe(model, steps="2"), [vectors], tmp_path / "first")
    changes = {
        "model.start": str(tmp_path / "first"),
        "stages.0.steps": "1",
        "stages.0.batch_size": "8",
        "bf16": "false",
    }
    train(load_recipe("dse", {**changes, "report_to": "none"}), [table], tmp_path / "second")
    assert not isinstance(load_encoder(tmp_path / "second"), ConversationEncoder)


def test_strange_conversations_are_judged_by_meaning(model: Path, vectors: Path, tmp_path: Path) -> None:
    train_conversation(recipe(model), [vectors], tmp_path / "out")
    encoder = load_encoder(tmp_path / "out")
    assert isinstance(encoder, ConversationEncoder)

    def share(context: list[str]) -> float:
        """Of meaning in the query's length: the second half's."""
        fit, meaning = np.split(encoder.encode_query([context])[0], 2)
        return float(np.linalg.norm(meaning) / (np.linalg.norm(fit) + np.linalg.norm(meaning)))

    familiar = np.mean([share([f"q{topic}", "thanks", "and more please"]) for topic in range(TOPICS)])
    strange = np.mean([share([f"a{topic} a{topic + 1}", f"q{topic} please", "is was"]) for topic in range(TOPICS)])
    assert familiar < 0.5 < strange <= 0.6


def test_the_base_model_is_never_overwritten(model: Path, vectors: Path) -> None:
    with pytest.raises(TurnloomError, match="is the model to start from"):
        train_conversation(recipe(model), [vectors], model)
    assert not (model / "training").exists()
