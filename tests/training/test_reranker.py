"""Cross-encoders: what training reads, whole runs, and an ordinary folder at the end."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.training.test_run import PowerCutError, stop_at
from tests.training.test_run import recipe as small_recipe
from tests.training.toy import write_start, write_table
from turnloom.benchmarks.validation import rerank_score
from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.scorer import is_cross_encoder, load_scorer
from turnloom.training import Recipe, load_recipe, train
from turnloom.training.base_model import PASSED, as_cross_encoder, load_base_model
from turnloom.training.folder import WORK
from turnloom.views import Manipulations
from turnloom.views.manipulations import ToReplyPairs
from turnloom.views.utterance_tasks import Task
from turnloom.views.view import Reading

CLOSED = ContextFormat(separator="[EOT]", closed=True)


def talks(count: int, turns: int = 5) -> list[dict[str, object]]:
    rng = random.Random(4)
    return [
        {
            "id": f"talk-{n}",
            "turns": [
                {"speaker": "user" if place % 2 == 0 else "system", "text": f"tell me about q{rng.randrange(40)}"}
                for place in range(turns)
            ],
        }
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def talk_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("talks") / "table", talks(60))


@pytest.fixture(scope="module")
def longer_start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_start(tmp_path_factory.mktemp("model") / "start")


def recipe(name: str, start: Path, **changes: str) -> Recipe:
    return small_recipe(name, start, **{"model.max_length": "40", "stages.0.batch_size": "8", **changes})


def test_the_whole_way_to_an_ordinary_cross_encoder(talk_table: Path, longer_start: Path, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    wanted = recipe("ums", longer_start)
    result = train(wanted, [talk_table], tmp_path / "model", validate=rerank_score(CLOSED, talk_table))
    assert (result.steps, result.pairs) == (6, 48)
    assert result.tokens > 5 * result.pairs
    assert {"r10_at_1", "adversarial_r10_at_1", "planted_first"} <= set(result.curve[-1])
    folder = tmp_path / "model"
    assert is_cross_encoder(folder)
    model = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    assert (model.num_labels, model.max_seq_length) == (1, 40)
    assert model.tokenizer.truncation_side == "left"
    assert model.tokenizer.tokenize("[EOT] tell [SRCH]") == ["[EOT]", "tell", "[SRCH]"]
    # The scorer writes turns as training did.
    scorer = load_scorer(folder)
    alone = model.predict([("tell me [EOT] about q1 [EOT]", "q2 [EOT]")], show_progress_bar=False)
    assert scorer.score(["tell me", "about q1"], ["q2"]) == pytest.approx(np.asarray(alone, np.float64), abs=1e-6)
    card = (folder / "README.md").read_text()
    assert "A dialogue re-ranker" in card
    assert "whang-etal-2021" in card
    assert not list((folder / WORK).rglob("checkpoint-*"))
    # And training can go on from there.
    train(recipe("selection", folder), [talk_table], tmp_path / "next")
    before, after = (load_file(path / "model.safetensors") for path in (folder, tmp_path / "next"))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_resumed_run_ends_bit_identical(talk_table: Path, longer_start: Path, tmp_path: Path) -> None:
    wanted = recipe("ums", longer_start, **{"model.dropout": "0.1"})
    whole = train(wanted, [talk_table], tmp_path / "whole")
    with pytest.raises(PowerCutError):
        train(wanted, [talk_table], tmp_path / "broken", on_progress=stop_at(5))
    again = train(wanted, [talk_table], tmp_path / "broken", resume=True)
    assert (again.steps, again.pairs, again.tokens) == (whole.steps, whole.pairs, whole.tokens)
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_masked_words_first(talk_table: Path, longer_start: Path, tmp_path: Path) -> None:
    """The paper's "+": a stage on the encoder, then the cross-encoder that is made of it."""
    plain = recipe("ums", longer_start)
    masked = load_recipe("mlm", {"stages.0.batch_size": "8", "stages.0.steps": "3"}).stages[0]
    both = plain.model_copy(update={"stages": [masked, *plain.stages], "name": "ums-plus"})
    result = train(both, [talk_table], tmp_path / "model")
    assert result.steps == 9
    assert is_cross_encoder(tmp_path / "model")


def test_recipes_that_cannot_be_are_refused(longer_start: Path) -> None:
    with pytest.raises(TurnloomError, match="go together"):
        load_recipe("ums", {"stages.0.view": "{kind: consecutive}"})


def test_of_frozen_words_the_marks_are_learned_all_the_same(longer_start: Path) -> None:
    frozen = recipe("ums", longer_start, **{"model.freeze_embeddings": "true"})
    made = as_cross_encoder(load_base_model(frozen)[0], frozen)
    words = made.model.get_input_embeddings().weight
    ids = torch.tensor([[5, made.tokenizer.convert_tokens_to_ids("[EOT]")]])
    made.model.get_input_embeddings()(ids).square().sum().backward()
    assert words.grad is not None
    assert not words.grad[5].any()
    assert words.grad[ids[0, 1]].any()


def test_making_a_base_model_prints_no_bars(
    longer_start: Path, bars_on: None, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = recipe("ums", longer_start, **{"model.random": "{layers: 1, width: 16, heads: 2}"})
    as_cross_encoder(load_base_model(wanted)[0], wanted)
    assert "Loading weights" not in capfd.readouterr().err


@pytest.fixture(scope="module")
def tokenizer(longer_start: Path) -> Any:
    wanted = recipe("ums", longer_start)
    return as_cross_encoder(load_base_model(wanted)[0], wanted).tokenizer


class Rows(dict[str, list[Any]]):
    """Rows of a view, as much of a dataset as is needed."""

    def select(self, places: range) -> Rows:
        return Rows({name: [column[place] for place in places] for name, column in self.items()})

    def __len__(self) -> int:
        return len(self["reply"])


def rows(count: int = 12) -> Rows:
    """Two rows for each conversation; turns are numbered words of it."""
    found = Rows({"context": [], "reply": [], "dialogue": []})
    for number in range(count):
        talk = [f"q{number // 2 * 3} about q{place}" for place in range(8)]
        place = 5 + number % 2
        for name, value in (("context", talk[:place]), ("reply", talk[place]), ("dialogue", number // 2)):
            found[name].append(value)
    return found


def columns(
    tokenizer: Any, tasks: tuple[Task, ...] = ("insertion", "deletion", "search"), seed: int = 0, **options: Any
) -> dict[str, list[Any]]:
    given = rows()
    return ToReplyPairs(Reading(CLOSED, tokenizer, 48, seed), view=Manipulations(**options), tasks=tasks, rows=given)(
        given
    )


def test_same_seed_same_columns_and_no_column_depends_on_another(tokenizer: Any) -> None:
    whole = columns(tokenizer)
    assert whole == columns(tokenizer)
    assert whole != columns(tokenizer, seed=1)
    for task in ("insertion", "deletion", "search"):
        alone = columns(tokenizer, (task,))
        assert alone[task] == whole[task]
        assert alone["negative"] == whole["negative"]


@pytest.mark.parametrize("questions", [1, 2, 3, "all"])
def test_a_row_is_asked_in_so_many_tasks_and_no_answer_changes(tokenizer: Any, questions: int | str) -> None:
    whole, drawn = columns(tokenizer), columns(tokenizer, questions=questions)
    tasks = ("insertion", "deletion", "search")
    for place in range(len(whole["reply"])):
        assert sum(drawn[task][place] is not None for task in tasks) == (3 if questions == "all" else questions)
    for task in tasks:
        asked = [place for place, given in enumerate(drawn[task]) if given is not None]
        assert asked
        assert [drawn[task][place] for place in asked] == [whole[task][place] for place in asked]
    assert drawn["negative"] == whole["negative"]
    assert drawn == columns(tokenizer, questions=questions)


def test_wrong_replies_are_of_other_conversations_or_of_the_context(tokenizer: Any) -> None:
    given = rows()
    seen = {kind: columns(tokenizer, (), negatives=(kind,)) for kind in ("random", "self", "bm25")}
    for place, (turns, reply, dialogue) in enumerate(zip(*given.values(), strict=True)):
        texts = {kind: found["negative"][place].removesuffix(" [EOT]") for kind, found in seen.items()}
        assert all(found["reply"][place] == f"{reply} [EOT]" for found in seen.values())
        others = [given["reply"][n] for n in range(len(given)) if given["dialogue"][n] != dialogue]
        assert texts["random"] in others
        assert texts["self"] in turns
        assert texts["bm25"] not in [*turns, reply]
    mixed = columns(tokenizer, (), negatives=("random", "self"))
    own = [
        text.removesuffix(" [EOT]") in turns for text, turns in zip(mixed["negative"], given["context"], strict=True)
    ]
    assert 0 < sum(own) < len(own)


def test_contexts_end_as_the_scorer_writes_them(tokenizer: Any) -> None:
    found, given = columns(tokenizer), rows()
    for text, turns in zip(found["context"], given["context"], strict=True):
        kept = text.removesuffix(" [EOT]").split(" [EOT] ")
        assert kept == turns[-len(kept) :]
        assert text.endswith(" [EOT]")


def test_one_conversation_alone_has_no_wrong_replies(tokenizer: Any) -> None:
    given = rows(2)
    made = ToReplyPairs(Reading(CLOSED, tokenizer, 48, 0), view=Manipulations(), tasks=(), rows=given)
    with pytest.raises(TurnloomError, match="one conversation only"):
        made(given)


def test_selection_reads_the_first_token_as_in_the_paper(start: Path) -> None:
    """Equation 1 is w x + b; through an untrained pooler, a hundredth of the gradient reached the encoder."""
    wanted = load_recipe("selection", {"model.start": str(start), "report_to": "none"})
    model = as_cross_encoder(load_base_model(wanted)[0], wanted)
    given = {"input_ids": torch.tensor([[2, 5, 6, 7, 3]]), "attention_mask": torch.ones(1, 5, dtype=torch.long)}
    found = model.model(**given, output_hidden_states=True)
    state, last = found.hidden_states[-1][0, 0].detach(), model.model.classifier
    weight, bias = PASSED * last.weight[0].detach(), last.bias.item()
    near = 0.05 * (state.norm() * weight.norm()).item()
    assert found.logits.item() == pytest.approx((state @ weight).item() + bias, abs=near)
    (through,) = torch.autograd.grad(found.logits.sum(), [found.hidden_states[-1]])
    assert (through[0, 0] @ weight).item() > 0.8 * weight.square().sum().item()
