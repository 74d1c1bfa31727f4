"""DialogueCSE: a reply seen through its surrounding turns is still the same reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, text_keys
from turnloom.objectives.gathering import SharedHead, total, world_size
from turnloom.objectives.loss import Loss, Mask, Temperature, check_choice, like_model

Aggregation = Literal["mean", "attention"]


def _stacked(columns: Sequence[Features]) -> Features:
    """Stack the rows of all columns, padded to one width."""
    width = max(column["attention_mask"].shape[1] for column in columns)
    names = [name for name, value in columns[0].items() if isinstance(value, Tensor) and value.ndim == 2]
    return {
        name: torch.cat([nn.functional.pad(column[name], (0, width - column[name].shape[1])) for column in columns])
        for name in names
    }


class MatchingGuided(Loss):
    """Matching-guided embedding with NT-Xent (Liu et al., 2021).

    Formula:
        Equations 3 to 8. With the token states `U` of a turn and `R` of a reply, `R_hat = (U R^T) R`; over turns the
        mean (`I2`, Equation 7) or a sum weighted by attention (`I1`, Equations 5 and 6) gives `R_aware`. The loss is
        `-log( exp(s_ii / t) / sum_j exp(s_ij / t) )` over the true reply and the others, with `s_ij` the cosine of the
        pooled `R_j` and of `R_j` as seen by the turns around reply i.

    Inputs:
        Columns (turn, turn, ..., reply): the turns around the reply in any order; an empty text means no turn. A row
        without turns contributes no loss, but its reply is a negative of other rows. `label` is the role of the reply's
        speaker, so that negatives have the same role; without it, all others are negatives.

    When to use:
        To embed single utterances by intent, from dialogues of several turns.

    Relations to other losses:
        Other losses compare a context with a reply. This one compares a reply with itself as seen by the context, with
        no layer between the encoder and the similarity.

    Where it differs:
        Pooling over a turn's tokens commutes with matching, so no token-by-token matrix is ever built, and the cosine
        needs only the reply's Gram matrix. Means are over true tokens; the published code divides by the padded length.
        Negatives are the batch's other replies of the same role instead of nine drawn per reply: the data is shuffled,
        so they are as random, and they are encoded anyway. Each distinct text of a batch is encoded once. The scale of
        Equation 3 cancels in the cosine; under attention it is 1 / sqrt(d).

    Args:
        model: The SentenceTransformer to train; its own pooling should be the mean.
        temperature: 0.1 in the paper.
        aggregation: "mean" (`I2`) or "attention" (`I1`).
        negatives: How many negatives to draw per reply, again for each batch; None for all of them.
        mask: As for `Contrast`.
    """

    kind = "matching_guided"
    settings = ("temperature", "aggregation", "negatives", "mask")
    reference = """
@inproceedings{liu-etal-2021-dialoguecse,
    title = "{D}ialogue{CSE}: Dialogue-based Contrastive Learning of Sentence Embeddings",
    author = "Liu, Che and Wang, Rui and Liu, Jinghua and Sun, Jian and Huang, Fei and Si, Luo",
    booktitle = "Proceedings of EMNLP",
    year = "2021",
}
"""

    def __init__(
        self,
        model: Any,
        *,
        temperature: Temperature = 0.1,
        aggregation: Aggregation = "mean",
        negatives: Annotated[int, Field(ge=1)] | None = None,
        mask: Mask = "text",
    ) -> None:
        super().__init__()
        check_choice("aggregation", aggregation, Aggregation)
        if negatives is not None and negatives < 1:
            raise TurnloomError(f"negatives cannot be {negatives}", "give at least 1, or none for all")
        self.model = model
        self.temperature = temperature
        self.aggregation = aggregation
        self.negatives = negatives
        self.mask = mask
        self._specials: int = model.tokenizer.num_special_tokens_to_add()
        width = model.get_embedding_dimension()
        self.attention: nn.Module | None = None
        if aggregation == "attention":
            layers = nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
            self.attention = like_model(nn.Sequential(*layers), model)
            self._shared = SharedHead(self.attention)

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        columns = list(sentence_features)
        if len(columns) < 2:
            raise TurnloomError("matching needs turns and a reply", "give columns of turns, and the reply last")
        stacked = _stacked(columns)
        keys = text_keys(stacked)
        _, place = torch.unique(keys, return_inverse=True)
        # The first row of each distinct text represents all of them.
        rows = place.new_full((int(place.max()) + 1,), len(keys)).scatter_reduce(
            0, place, torch.arange(len(keys), device=keys.device), "amin"
        )
        output = self.model({name: value[rows] for name, value in stacked.items()})
        states, present = output["token_embeddings"], stacked["attention_mask"][rows]
        place = place.view(len(columns), -1)
        empty = present.sum(1) <= self._specials
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(torch.promote_types(states.dtype, torch.float32)) * present[..., None]
            means = states.sum(1) / present.sum(1, keepdim=True)
            turns, valid = means[place[:-1]].transpose(0, 1), ~empty[place[:-1]].T
            similar = self.similarities(turns, valid, states[place[-1]], means[place[-1]])
            allowed = self._allowed(keys.view(len(columns), -1)[-1], labels)
            seen = valid.any(1)  # Only rows with at least one turn; others teach nothing.
            terms = (similar / self.temperature).masked_fill(~allowed, -math.inf).log_softmax(1).diagonal()[seen]
            return -terms.sum() * world_size() / total(seen.sum()).clamp(min=1)

    def similarities(self, turns: Tensor, valid: Tensor, tokens: Tensor, pooled: Tensor) -> Tensor:
        """Compute how similar each reply (column) is to itself as seen by the turns of each row.

        Args:
            turns: The mean state of each turn, (rows, turns, width).
            valid: Which turns exist, (rows, turns).
            tokens: The states of each reply's tokens, zero for padding, (replies, tokens, width).
            pooled: Their means, (replies, width).
        """
        present = valid.to(turns.dtype)
        if self.attention is None:
            context = (turns * present[..., None]).sum(1) / present.sum(1, keepdim=True).clamp(min=1)
            matches = torch.einsum("id,jsd->ijs", context, tokens)
        else:
            matches = self._attended(turns, valid, tokens)
        gram = tokens @ tokens.transpose(1, 2)
        onto = torch.einsum("jsd,jd->js", tokens, pooled)
        dots = torch.einsum("ijs,js->ij", matches, onto)
        # Kept above 0, where the gradient of a square root is infinite: no turn, or one that matches nothing in a
        # reply.
        lengths = torch.einsum("ijs,jst,ijt->ij", matches, gram, matches).clamp(min=1e-24).sqrt()
        found: Tensor = dots / (lengths * pooled.norm(dim=1)).clamp(min=1e-12)
        return found

    def _attended(self, turns: Tensor, valid: Tensor, tokens: Tensor) -> Tensor:
        """Match all turns, weighting each by its attention to the reply."""
        each = torch.einsum("itd,jsd->ijts", turns, tokens) / math.sqrt(turns.shape[-1])
        refined = torch.einsum("ijts,jsd->ijtd", each, tokens)
        scores = self._shared(refined).squeeze(-1)
        # Finite, so that a row without turns gets weights (which its loss ignores) instead of NaN.
        weights = scores.masked_fill(~valid[:, None], torch.finfo(scores.dtype).min).softmax(-1)
        return torch.einsum("ijt,ijts->ijs", weights, each)

    def _allowed(self, keys: Tensor, roles: Tensor | None) -> Tensor:
        """Return which replies compete with each true one: itself, and others of its role with a different text."""
        own = torch.eye(len(keys), dtype=torch.bool, device=keys.device)
        others = ~own if self.mask == "none" else keys[:, None] != keys[None]
        if roles is not None:
            others = others & (roles[:, None] == roles[None])
        if self.negatives is not None:
            lots = torch.rand(others.shape, device=keys.device).masked_fill(~others, -1)
            count = min(self.negatives, len(keys))
            chosen = torch.zeros_like(others).scatter(1, lots.topk(count, dim=1).indices, True)
            others = others & chosen
        return others | own
