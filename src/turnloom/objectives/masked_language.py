"""Masked language modelling on a SentenceTransformer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.func import functional_call

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, bare_model, in_mini_batches
from turnloom.objectives.gathering import SharedHead, total, world_size
from turnloom.objectives.loss import Loss

TARGETS = "masked_targets"
IGNORED = -100


class _Heads(nn.Module):
    """The layers that turn token states into words."""

    def __init__(self, width: int, words: int) -> None:
        super().__init__()
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.bias = nn.Parameter(torch.zeros(words))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def forward(self, states: Tensor, targets: Tensor, table: Tensor) -> Tensor:
        """Return the cross-entropy of each row, summed over its masked tokens."""
        rows, places = (targets != IGNORED).nonzero(as_tuple=True)
        words = nn.functional.linear(self.transform(states[rows, places]), table, self.bias)
        words = words.to(torch.promote_types(words.dtype, torch.float32))
        losses = nn.functional.cross_entropy(words, targets[rows, places], reduction="none")
        return losses.new_zeros(len(states)).index_add(0, rows, losses)


def _special_ids(tokenizer: Any) -> set[int]:
    """Return the ids of all special tokens; `all_special_ids` lacks marks that were added as special."""
    added = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    return added.union(tokenizer.all_special_ids)


class MaskedLanguage(Loss):
    """Predict masked words from the encoder's token states (Devlin et al., 2019).

    Formula:
        The mean over masked tokens of the cross-entropy of the true token under
        `softmax(E norm(gelu(W h)) + b)`, with the state `h` and the encoder's own word embeddings `E`. For every batch,
        15 % of the tokens are chosen: 80 % of them become the mask token, 10 % another word, 10 % stay. Special tokens,
        including speaker marks, are never chosen.

    Inputs:
        Any number of columns, each treated separately; no labels.

    When to use:
        To adapt a pre-trained or a small random encoder (`small_transformer`) to the words of a domain: before a
        contrastive stage, or summed with one (`Sum`), as TOD-BERT does with its contexts.

    Relations to other losses:
        The masking is that of BERT and of TOD-BERT's Equation 1. It trains no sentence vector.

    Where it differs:
        Replacement words are ordinary words, never special tokens. The output layer starts at random, because sentence
        embedding checkpoints do not contain it. With several processes, the mean is taken over the masked tokens of all
        of them.

    Args:
        model: The SentenceTransformer to train; its first module is a transformer with a mask token.
        probability: The share of tokens to choose.
        columns: The columns to use; all by default.
        mini_batch_size: As for `Contrast`.
    """

    kind = "masked_language"
    settings = ("probability", "columns", "mini_batch_size")
    reference = """
@inproceedings{devlin-etal-2019-bert,
    title = "{BERT}: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    author = "Devlin, Jacob and Chang, Ming-Wei and Lee, Kenton and Toutanova, Kristina",
    booktitle = "Proceedings of NAACL-HLT",
    year = "2019",
    pages = "4171--4186",
}
"""

    def __init__(
        self,
        model: Any,
        *,
        probability: Annotated[float, Field(gt=0, lt=1)] = 0.15,
        columns: Sequence[int] | None = None,
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        tokenizer = model.tokenizer
        table: Tensor = model[0].auto_model.get_input_embeddings().weight
        if getattr(tokenizer, "mask_token_id", None) is None:
            raise TurnloomError(
                "the model's tokenizer has no mask token", "choose a checkpoint of a masked language model"
            )
        self.model = model
        self.probability = probability
        self.columns = None if columns is None else tuple(columns)
        self.mini_batch_size = mini_batch_size
        self.heads = _Heads(table.shape[1], table.shape[0]).to(device=table.device, dtype=table.dtype)
        special = torch.zeros(table.shape[0], dtype=torch.bool)
        special[[number for number in _special_ids(tokenizer) if number < len(special)]] = True
        self.special: Tensor
        self.register_buffer("special", special.to(table.device), persistent=False)
        self.mask_id: int = tokenizer.mask_token_id
        self._shared = SharedHead(self.heads)

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Compute the loss of a batch, as a trainer calls it; labels are ignored."""
        columns = list(sentence_features)
        if self.columns is not None:
            columns = [columns[place] for place in self.columns]
        parameters = self._shared.parameters()
        corrupted = [self.corrupt(column) for column in columns]
        found = torch.cat([self._row_losses(column, parameters) for column in corrupted])
        masked = torch.stack([(column[TARGETS] != IGNORED).sum() for column in corrupted]).sum()
        return found.sum() * world_size() / total(masked).clamp(min=1)

    def _row_losses(self, features: Features, parameters: dict[str, Tensor]) -> Tensor:
        def step(model: Any, features: Features) -> Tensor:
            targets = features.pop(TARGETS)
            # Looked up here, so that the encoder's word embeddings are trained from both ends.
            table = bare_model(model)[0].auto_model.get_input_embeddings().weight
            states = model(features)["token_embeddings"]
            return functional_call(self.heads, parameters, (states, targets, table))  # type: ignore[no-any-return]

        return in_mini_batches(self.model, features, step, self.mini_batch_size)

    def corrupt(self, features: Features) -> Features:
        """Mask some tokens of a column, and add the true ones to its features."""
        tokens = features["input_ids"]
        chance = torch.rand(tokens.shape, device=tokens.device)
        chosen = (chance < self.probability) & ~self.special[tokens] & features["attention_mask"].bool()
        fate = torch.rand(tokens.shape, device=tokens.device)
        ordinary = (~self.special).nonzero()[:, 0]
        other = ordinary[torch.randint(len(ordinary), tokens.shape, device=tokens.device)]
        changed = torch.where(chosen & (fate < 0.8), self.mask_id, tokens)
        changed = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), other, changed)
        return {**features, "input_ids": changed, TARGETS: torch.where(chosen, tokens, IGNORED)}
