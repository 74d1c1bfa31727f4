"""Response selection with utterance manipulation (UMS), on a CrossEncoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, bare_model, in_mini_batches
from turnloom.objectives.gathering import SharedHead, total, world_size
from turnloom.objectives.loss import Loss, Weight, check_choice, like_model
from turnloom.views.utterance_tasks import MARKS, MarkedInput, Task

BY_LENGTH = 16
"""Rows that run together on a CPU: a UMS step then takes two thirds of the time (three quarters with 8 or 32)."""
Form = Literal["binary", "softmax"]
Row = tuple[Sequence[int], Sequence[int]]
"""The token ids of an input, and their segments."""


def padded(tokenizer: Any, rows: Sequence[Row], device: torch.device | None = None) -> Features:
    """Pad inputs of different lengths into one batch."""
    width = max(len(ids) for ids, _ in rows)

    def filled(values: Sequence[int], filler: int) -> list[int]:
        return [*values, *[filler] * (width - len(values))]

    features = {
        "input_ids": [filled(ids, tokenizer.pad_token_id) for ids, _ in rows],
        "attention_mask": [filled([1] * len(ids), 0) for ids, _ in rows],
        "token_type_ids": [filled(segments, 0) for _, segments in rows],
    }
    named = tokenizer.model_input_names
    return {name: torch.tensor(value, device=device) for name, value in features.items() if name in named}


def scores_and_states(model: Any, features: Features) -> tuple[Tensor, Tensor]:
    """Return a CrossEncoder's score per input and the last state per token, from one forward pass.

    The scores come from the whole model, which may be wrapped for data-parallel training; a hook captures the states.
    """
    caught: list[Tensor] = []
    network = bare_model(model).model.base_model
    handle = network.register_forward_hook(lambda _module, _given, found: caught.append(found[0]))
    try:
        scores: Tensor = model(features)["scores"]
    finally:
        handle.remove()
    return scores.view(-1), caught[0]


def _by_length(model: Any, features: Features) -> tuple[Tensor, Tensor]:
    """Compute the scores and states of a batch in groups of similar length; states past a row's end are zero."""
    width = features["attention_mask"].shape[1]

    def step(part: Any, rows: Features) -> Tensor:
        scores, states = scores_and_states(part, rows)
        # The helper that sorts rows handles a single tensor, so the score is stored before the states.
        first = scores.view(-1, 1, 1).expand(-1, 1, states.shape[2])
        return nn.functional.pad(torch.cat([first, states], 1), (0, 0, 0, width - states.shape[1]))

    found = in_mini_batches(model, features, step, None, by_length=BY_LENGTH)
    return found[:, 0, 0], found[:, 1:]


def _wide(values: Tensor) -> Tensor:
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _mean_of_all(summed: Tensor, count: int) -> Tensor:
    """Scale a sum to the mean over all processes, for a trainer that averages over processes."""
    return summed * world_size() / total(torch.tensor(float(count), device=summed.device)).clamp(min=1)


class UtteranceManipulation(Loss):
    """Response selection plus three tasks on manipulated conversations (Whang et al., 2021).

    Formula:
        The sum of four losses, each times its weight. Selection: the mean over pairs of the binary cross-entropy of
        `g(U, r)` (Equation 1), with one true and one wrong reply per context. Insertion, deletion and search: the mean
        over all marks of the batch of the binary cross-entropy of `sigmoid(w h + b)` (Equation 2), with the mark's
        state `h` and a separate layer per task. With `form="softmax"` a task's loss is instead the mean over inputs of
        `-log( exp(w h_t) / sum_m exp(w h_m) )` over the marks of an input, where `t` is the correct one. If only some
        rows have a task, its loss counts by their share, so each input weighs as much as when all rows have it.

    Inputs:
        Columns (context, reply, negative) as formatted texts, then one column of `MarkedInput` per weighted task, in
        the order insertion, deletion, search; None where a row has no such task. No labels.

    When to use:
        To train the re-ranker of reply search. With selection alone, a cross-encoder learns what is related, and ranks
        an earlier turn above the one that comes next; the tasks teach order.

    Relations to other losses:
        With all task weights 0 it is sentence-transformers' `BinaryCrossEntropyLoss` over pairs.

    Where it differs:
        The paper's losses are those of `form="binary"` with all weights 1; it does not say how they are averaged. All
        inputs go through the model in one pass, on a CPU grouped by length. With several processes, means are taken
        over the pairs and marks of all of them.

    Args:
        model: The CrossEncoder to train, with one output.
        selection: The weight of response selection.
        insertion: The weight of finding where a turn belongs; 0 turns a task off.
        deletion: The weight of finding the turn of another conversation.
        search: The weight of finding the preceding turn among shuffled ones.
        form: "binary" judges each mark independently; "softmax" lets the marks of an input compete.
    """

    kind = "manipulation"
    trains_cross_encoder = True
    reference = """
@inproceedings{whang-etal-2021-ums,
    title = "Do Response Selection Models Really Know What's Next? Utterance Manipulation Strategies for Multi-turn Response Selection",
    author = "Whang, Taesun and Lee, Dongyub and Oh, Dongsuk and Lee, Chanhee and Han, Kijong and Lee, Dong-hun and Lee, Saebyeok",
    booktitle = "Proceedings of AAAI",
    year = "2021",
    pages = "14041--14049",
}
"""  # noqa: E501

    def __init__(
        self,
        model: Any,
        *,
        selection: Weight = 1.0,
        insertion: Weight = 1.0,
        deletion: Weight = 1.0,
        search: Weight = 1.0,
        form: Form = "binary",
    ) -> None:
        super().__init__()
        check_choice("form", form, Form)
        if model.num_labels != 1:
            raise TurnloomError(f"the cross-encoder has {model.num_labels} outputs", "load it with num_labels=1")
        self.model = model
        self.selection = selection
        given: dict[Task, float] = {"insertion": insertion, "deletion": deletion, "search": search}
        self.weights = {task: weight for task, weight in given.items() if weight}
        self.form: Form = form
        width = model.model.config.hidden_size
        self.heads = like_model(nn.ModuleDict({task: nn.Linear(width, 1) for task in self.weights}), model)
        self.tokens = 0
        """Tokens of the last batch, padding left out."""
        self._shared = SharedHead(self.heads)

    @property
    def tasks(self) -> list[Task]:
        """The weighted tasks, in the order of their columns."""
        return list(self.weights)

    def forward(
        self,
        inputs: Sequence[Sequence[Any]],
        labels: Tensor | None = None,
        prompt: str | None = None,
        task: str | None = None,
    ) -> dict[str, Tensor]:
        """Compute the weighted losses of a batch by name, as a CrossEncoderTrainer expects."""
        del labels, prompt, task
        if len(inputs) != 3 + len(self.weights):
            wanted = ", ".join(["context", "reply", "negative", *self.weights])
            raise TurnloomError(f"the loss got {len(inputs)} columns", f"give it {wanted}")
        contexts, replies, negatives, *columns = inputs
        asked = {
            task: [given for given in column if given is not None]
            for task, column in zip(self.weights, columns, strict=True)
        }
        pairs = self._pairs([*contexts, *contexts], [*replies, *negatives])
        marked = [(given.ids, given.segments) for column in asked.values() for given in column]
        model = bare_model(self.model)
        features = padded(model.tokenizer, [*pairs, *marked], next(model.parameters()).device)
        self.tokens = int(features["attention_mask"].sum())
        scores, states = _by_length(self.model, features)
        fits = _wide(scores[: len(pairs)])
        truth = torch.zeros_like(fits)
        truth[: len(replies)] = 1
        summed = nn.functional.binary_cross_entropy_with_logits(fits, truth, reduction="sum")
        selection = self.selection * _mean_of_all(summed, len(pairs))
        return {"selection": selection, **self._mark_losses(states[len(pairs) :], asked, len(contexts))}

    def _pairs(self, contexts: list[str], replies: list[str]) -> list[Row]:
        model = bare_model(self.model)
        # Use the trainer's own tokens and truncation, which match `CrossEncoder.predict`.
        found = model.tokenizer(
            contexts,
            replies,
            truncation="longest_first",
            max_length=model.max_seq_length,
            return_token_type_ids=True,
        )
        return list(zip(found["input_ids"], found["token_type_ids"], strict=True))

    def _mark_losses(self, states: Tensor, asked: dict[Task, list[MarkedInput]], rows: int) -> dict[str, Tensor]:
        parameters = self._shared.parameters()
        losses: dict[str, Tensor] = {}
        first = 0
        counts = [rows, *map(len, asked.values())]
        of_all = total(torch.tensor(counts, dtype=torch.float64, device=states.device))
        shares = (of_all[1:] / of_all[0]).tolist()
        with torch.autocast(states.device.type, enabled=False):
            for (task, column), share in zip(asked.items(), shares, strict=True):
                loss = self._mark_loss(states[first : first + len(column)], column, parameters, task)
                losses[task] = self.weights[task] * share * loss
                first += len(column)
        return losses

    def _mark_loss(
        self, states: Tensor, column: list[MarkedInput], parameters: dict[str, Tensor], task: Task
    ) -> Tensor:
        marks = [given.marks for given in column]
        rows = torch.tensor([row for row, own in enumerate(marks) for _ in own], device=states.device).long()
        places = torch.tensor([place for own in marks for place in own]).to(rows)
        weight, bias = parameters[f"{task}.weight"], parameters[f"{task}.bias"]
        # A batch without such inputs still runs the layer, because other processes wait for its gradient.
        logits = _wide(nn.functional.linear(states[rows, places].to(weight.dtype), weight, bias).squeeze(1))
        right = [number == given.label for given in column for number in range(len(given.marks))]
        truth = torch.tensor(right, device=states.device, dtype=logits.dtype)
        if self.form == "binary":
            summed = nn.functional.binary_cross_entropy_with_logits(logits, truth, reduction="sum")
            count = len(right)
        else:
            numbers = torch.tensor([number for own in marks for number in range(len(own))]).to(rows)
            each = logits.new_full((len(column), max(map(len, marks), default=1)), -torch.inf)
            summed = each.index_put((rows, numbers), logits).logsumexp(1).sum() - (logits * truth).sum()
            count = len(column)
        return _mean_of_all(summed, count)

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {"selection": self.selection, **{task: self.weights.get(task, 0.0) for task in MARKS}, "form": self.form}
