"""The turn-level re-ranker: it starts as the search, learns from lists of replies, and trains like one over many."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.training.test_conversation import recipe as conversation_recipe
from tests.training.test_conversation import talks, vectors_of
from tests.training.test_learning import in_two_processes
from tests.training.toy import write_headed
from turnloom.errors import TurnloomError
from turnloom.objectives.listwise import list_loss
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.conversation_folder import TorchReader
from turnloom.runtime.export import export_model
from turnloom.runtime.rerank_network import SCALE
from turnloom.runtime.reranker import ConversationScorer
from turnloom.training import RerankRecipe, load_recipe, train_conversation, train_rerank
from turnloom.training import rerank as rerank_training
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.rerank_data import draw_lists, read_dialogues, with_noise
from turnloom.training.utterance_tasks import deletion, insertion, search
from turnloom.training.vector_recipe import RerankData
from turnloom.vectors import VectorTable

SMALL = {
    "model.size": "32",
    "data.dialogues": "16",
    "data.contexts": "1",
    "data.lists": "24",
    "data.others": "8",
    "bf16": "false",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_headed(tmp_path_factory.mktemp("headed") / "model")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    return vectors_of(tmp_path_factory.mktemp("vectors"), talks(120), model)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, model: Path, vectors: Path) -> Path:
    out = tmp_path_factory.mktemp("base") / "model"
    train_conversation(conversation_recipe(model, steps="20"), [vectors], out)
    return out


def recipe(base: Path, **changes: str) -> RerankRecipe:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return load_recipe("rerank", {**SMALL, "model.start": str(base), **named}, schema=RerankRecipe)


def weights(folder: Path) -> dict[str, Any]:
    return load_file(folder / "rerank" / "weights.safetensors")


def loaded(folder: Path) -> ConversationEncoder:
    encoder = load_encoder(folder)
    assert isinstance(encoder, ConversationEncoder)
    return encoder


CONTEXT, REPLIES = ["q1", "thanks", "and more please"], ["a1 the", "a2 the", "thanks", "and more please"]


def test_the_recipes_defaults_are_those_of_the_library() -> None:
    assert load_recipe("rerank", schema=RerankRecipe) == RerankRecipe(name="rerank", trains="rerank")


def test_it_loads_in_bfloat16_too(base: Path, vectors: Path, tmp_path: Path) -> None:
    train_rerank(recipe(base, steps="1"), [vectors], tmp_path / "out")
    encoder = load_encoder(tmp_path / "out", bf16=True)
    assert isinstance(encoder, ConversationEncoder)
    assert encoder.reranker is not None


def test_untrained_it_is_the_search(base: Path, vectors: Path, tmp_path: Path) -> None:
    train_rerank(recipe(base, steps="1", rate="1e-12"), [vectors], tmp_path / "out")
    encoder = loaded(tmp_path / "out")
    state = encoder.start()
    state.extend(CONTEXT)
    replies = encoder.encode_document(REPLIES)
    scores = state.rerank(replies)
    np.testing.assert_allclose(scores, SCALE * (state.query() @ replies.T)[0], rtol=1e-3)
    np.testing.assert_allclose(ConversationScorer(encoder).score(CONTEXT, REPLIES), scores, rtol=1e-5)
    assert encoder.fingerprint == loaded(base).fingerprint, "an index made without the re-ranker stays valid"


def test_an_export_ranks_alike(base: Path, vectors: Path, tmp_path: Path) -> None:
    train_rerank(recipe(base, steps="3"), [vectors], tmp_path / "out")
    export_model(tmp_path / "out", tmp_path / "onnx")
    ours, exported = (loaded(tmp_path / name) for name in ("out", "onnx"))
    for context in (CONTEXT, CONTEXT[:1], CONTEXT * 5):
        scores = [ConversationScorer(each).score(context, REPLIES) for each in (ours, exported)]
        np.testing.assert_allclose(scores[0], scores[1], atol=1e-3)
    (tmp_path / "onnx" / "conversation" / "note.txt").write_text("changed")
    with pytest.raises(TurnloomError, match="does not fit the conversation encoder"):
        load_encoder(tmp_path / "onnx")


@pytest.mark.nightly
@pytest.mark.slow
def test_it_learns_not_to_repeat_what_was_said(base: Path, vectors: Path, tmp_path: Path) -> None:
    train_rerank(recipe(base, steps="300", rate="3e-3"), [vectors], tmp_path / "out")
    scorer = ConversationScorer(load_encoder(tmp_path / "out"))
    for topic in range(4):
        context = [f"q{topic}", "thanks", "and more please"]
        scores = scorer.score(context, [f"a{topic} the", *context])
        assert scores[0] > scores[1:].max()


def test_the_loss_is_that_of_a_loop() -> None:
    scores = torch.tensor([[2.0, 1.0, 5.0], [0.0, 3.0, 1.0]])
    usable = torch.tensor([[True, True, False], [True, True, True]])
    first = -math.log(math.exp(2) / (math.exp(2) + math.exp(1)))
    second = -math.log(1 / (1 + math.exp(3) + math.exp(1)))
    assert list_loss(scores, usable).item() == pytest.approx(first + second, rel=1e-5)
    third = -math.log(math.exp(3) / (1 + math.exp(3) + math.exp(1)))
    truth = torch.tensor([0, 1])
    assert list_loss(scores, usable, truth).item() == pytest.approx(first + third, rel=1e-5)


def test_lists_hold_the_true_reply_first_and_no_copy_of_it(base: Path, vectors: Path) -> None:
    reader = loaded(base).reader
    assert isinstance(reader, TorchReader)
    options = RerankData(dialogues=16, contexts=1, lists=20, others=6, mined=4, mined_from=5, before=2, after=1)
    batch = ConversationSampler([VectorTable(vectors)], options, 0).batch(0)
    reading = read_dialogues(reader.network, batch.vectors, batch.speakers)
    lists = draw_lists(reading, batch, options, np.random.default_rng(0), most=3)
    assert lists.replies.shape[:2] == lists.usable.shape == (20, 1 + 6 + 4 + 2 + 1)
    assert lists.usable[:, 0].all()
    copies = (lists.replies == lists.replies[:, :1]).all(-1)
    assert not (copies & lists.usable)[:, 1:].any()
    chosen = np.random.default_rng(0).permutation(len(batch.dialogue))[:20]
    truth = reading.replies[batch.dialogue[chosen], batch.last[chosen] + 1]
    assert torch.equal(lists.replies[:, 0], truth)
    assert torch.equal(lists.turns[:, -1], batch.vectors[batch.dialogue[chosen], batch.last[chosen]])
    assert lists.usable[:, -3:].any(), "own turns are there"
    assert lists.usable[:, 7:11].all(), "a mined reply is never the true one"
    assert lists.search[:, 7:11].mean() > lists.search[:, 1:7][lists.usable[:, 1:7]].mean() + 0.02
    halves = [
        draw_lists(reading, batch, options, np.random.default_rng(0), most=3, process=process, processes=2)
        for process in (0, 1)
    ]
    assert torch.equal(torch.cat([half.search for half in halves]), lists.search)


def test_noise_has_the_length_asked_for(vectors: Path) -> None:
    options = RerankData(dialogues=16, contexts=1)
    batch = ConversationSampler([VectorTable(vectors)], options, 0).batch(0)
    noisy = with_noise(batch.vectors, (0.5, 0.5), np.random.default_rng(0))
    cosine = (noisy * torch.nn.functional.normalize(batch.vectors, dim=-1)).sum(-1)[batch.speakers >= 0]
    # The noise is at a right angle to the vector, give or take.
    assert cosine.mean().item() == pytest.approx(1 / math.sqrt(1 + 0.5**2), abs=0.02)


def test_noise_blurs_what_was_learned_and_not_what_is_meant(base: Path, vectors: Path) -> None:
    reader = loaded(base).reader
    assert isinstance(reader, TorchReader)
    batch = ConversationSampler([VectorTable(vectors)], RerankData(dialogues=16, contexts=1), 0).batch(0)
    noisy = with_noise(batch.vectors, (0.5, 0.5), np.random.default_rng(0))
    clear = read_dialogues(reader.network, batch.vectors, batch.speakers)
    blurred = read_dialogues(reader.network, batch.vectors, batch.speakers, noisy=noisy)
    width = reader.shape.width
    assert torch.equal(clear.vectors, blurred.vectors)
    assert torch.equal(clear.replies[..., width:], blurred.replies[..., width:])
    for one, other in ((clear.calls, blurred.calls), (clear.replies[..., :width], blurred.replies[..., :width])):
        assert not torch.allclose(one, other, atol=0.05)


def test_the_questions_of_ums_know_their_answers() -> None:
    turns = [[0, 1, 2, 3], [10, 11, 12], [20, 21, 22, 23, 24]]
    for seed in range(20):
        draw = np.random.default_rng(seed)
        changed, candidates, usable, truth, sign = insertion(turns, draw)
        for own, row, candidate, place in zip(
            turns, changed.tolist(), candidates.tolist(), truth.tolist(), strict=True
        ):
            kept = [turn for turn in row if turn >= 0]
            assert [*kept[: place + 1], candidate[0], *kept[place + 1 :]] == own
        changed, candidates, usable, truth, sign = deletion(turns, draw)
        assert sign == -1
        for number, place in enumerate(truth.tolist()):
            foreign = int(candidates[number, place])
            assert foreign not in turns[number]
            assert usable[number, place]
            assert [turn for turn in changed[number].tolist() if turn not in (-1, foreign)] == turns[number]
        changed, candidates, usable, truth, sign = search(turns, draw)
        for number, own in enumerate(turns):
            assert changed[number, truth[number]] == own[-2]
            assert candidates[number, 0] == own[-1]
            assert usable[number].sum() == len(own) - 1


def test_a_killed_run_goes_on_bit_for_bit(
    base: Path, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = recipe(base, steps="12", save_every="5", tasks="[insertion, deletion, search]")
    train_rerank(wanted, [vectors], tmp_path / "whole")
    real, steps = rerank_training.rerank_loss, []

    def until(*arguments: Any) -> Any:
        steps.append(1)
        if len(steps) > 8:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(rerank_training, "rerank_loss", until)
    with pytest.raises(KeyboardInterrupt):
        train_rerank(wanted, [vectors], tmp_path / "killed")
    monkeypatch.setattr(rerank_training, "rerank_loss", real)
    train_rerank(wanted, [vectors], tmp_path / "killed", resume=True)
    whole, killed = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert all(bool((whole[name] == killed[name]).all()) for name in whole)


@pytest.mark.nightly
@pytest.mark.slow
def test_processes_train_as_one(base: Path, vectors: Path, tmp_path: Path) -> None:
    changes = {**SMALL, "model.dropout": "0", "steps": "4", "tasks": "[insertion, search]", "model.start": str(base)}
    train_rerank(load_recipe("rerank", changes, schema=RerankRecipe), [vectors], tmp_path / "one")
    options = [f"--set={name}={value}" for name, value in changes.items()]
    in_two_processes("rerank", str(vectors), "--out", str(tmp_path / "two"), *options, port=29660)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=2e-3, atol=2e-4)


def test_what_does_not_fit_is_refused(base: Path, model: Path, vectors: Path, tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="has no conversation encoder"):
        train_rerank(recipe(model), [vectors], tmp_path / "out")
    with pytest.raises(TurnloomError, match="has no re-ranker"):
        ConversationScorer(load_encoder(base))
    train_rerank(recipe(base, steps="1"), [vectors], tmp_path / "out")
    (tmp_path / "out" / "conversation" / "note.txt").write_text("changed")
    with pytest.raises(TurnloomError, match="does not fit the conversation encoder"):
        load_encoder(tmp_path / "out")
