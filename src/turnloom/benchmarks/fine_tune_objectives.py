"""What encoders are fine-tuned for: labels by a linear layer, and replies by contrast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.fine_tune import FineTuning, Places
from turnloom.benchmarks.metrics import best_column_credit, cosine_similarity, f1_scores
from turnloom.benchmarks.tasks.response_selection import BLOCK, Selection, selection_scores
from turnloom.runtime.protocols import TrainableEncoder

if TYPE_CHECKING:
    import torch

__all__ = ["LabelObjective", "ReplyObjective", "rank_replies", "simclr_loss"]

TEMPERATURE = 0.05


class LabelObjective:
    """A linear layer on an encoder, for one label a text (numbers) or several (rows of truth values).

    The layer sees vectors of one length, whether or not the encoder normalises its own, and starts from zero: one rate
    fits all encoders, and draws differ by their examples alone.

    Args:
        encoder: What is trained.
        train: Texts and their labels.
        validation: Others, to see when to stop.
        classes: How many labels there are.
        plan: Says how much is dropped.
    """

    def __init__(
        self,
        encoder: TrainableEncoder,
        train: tuple[list[str], npt.NDArray[Any]],
        validation: tuple[list[str], npt.NDArray[Any]],
        classes: int,
        plan: FineTuning,
    ) -> None:
        import torch

        self._encoder = encoder
        self._train, self._validation = train, validation
        self._several = train[1].ndim == 2
        size = encoder.encode(train[0][:1]).shape[1]
        self._scale = size**0.5
        self._dropout = torch.nn.Dropout(plan.dropout)
        self._layer: torch.nn.Linear = torch.nn.utils.skip_init(torch.nn.Linear, size, classes)
        for weight in self._layer.parameters():
            torch.nn.init.zeros_(weight)

    @property
    def examples(self) -> int:
        """How many training examples there are."""
        return len(self._train[0])

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """The layer's weights."""
        return list(self._layer.parameters())

    def _logits(self, vectors: torch.Tensor, *, drop: bool = False) -> torch.Tensor:
        import torch

        level = torch.nn.functional.normalize(vectors) * self._scale
        logits: torch.Tensor = self._layer(self._dropout(level) if drop else level)
        return logits

    def _loss_of(self, logits: torch.Tensor, labels: npt.NDArray[Any]) -> torch.Tensor:
        import torch

        if self._several:
            truth = torch.from_numpy(labels.astype(np.float32))
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, truth)
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels))

    def loss(self, places: Places) -> torch.Tensor:
        """Cross-entropy, over labels or for each label."""
        texts, labels = self._train
        return self._loss_of(
            self._logits(self._encoder.embed([texts[place] for place in places]), drop=True), labels[places]
        )

    def logits(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """What the layer says of texts; above zero is a probability above one half."""
        import torch

        with torch.no_grad():
            found = self._logits(torch.from_numpy(self._encoder.encode(texts)))
        return np.asarray(found.numpy(), np.float32)

    def validate(self) -> tuple[float, ...]:
        """Accuracy or micro F1; the loss settles ties, which few examples have many of."""
        import torch

        texts, labels = self._validation
        logits = self.logits(texts)
        loss = float(self._loss_of(torch.from_numpy(logits), labels))
        score = (
            f1_scores(labels, logits > 0)["micro_f1"]
            if self._several
            else float(best_column_credit(logits, labels).mean())
        )
        return score, -loss


def simclr_loss(first: torch.Tensor, second: torch.Tensor, temperature: float = TEMPERATURE) -> torch.Tensor:
    """SimCLR's loss (Chen et al., 2020): each vector finds its partner among all others of both sides."""
    import torch

    both = torch.nn.functional.normalize(torch.cat([first, second]))
    similarities = both @ both.T / temperature
    similarities = similarities.masked_fill(torch.eye(len(both), dtype=torch.bool), -torch.inf)
    partners = torch.arange(len(both)).roll(len(first))
    return torch.nn.functional.cross_entropy(similarities, partners)


def rank_replies(encoder: TrainableEncoder, blocks: Sequence[Sequence[Selection]]) -> list[dict[str, float]]:
    """The scores of each context of each block, as in response selection without fine-tuning."""
    pairs = [pair for block in blocks for pair in block]
    # All at once: texts of one length share a batch.
    vectors = encoder.encode([*(pair.context[-1] for pair in pairs), *(pair.reply for pair in pairs)])
    contexts, replies = vectors[: len(pairs)], vectors[len(pairs) :]
    found: list[dict[str, float]] = []
    start = 0
    for block in blocks:
        own = slice(start, start + len(block))
        found += selection_scores(cosine_similarity(contexts[own], replies[own]), [pair.reply for pair in block])
        start += len(block)
    return found


class ReplyObjective:
    """A context and its reply come near each other, by contrast with the rest of the batch."""

    def __init__(self, encoder: TrainableEncoder, train: list[Selection], validation: list[Selection]) -> None:
        self._encoder = encoder
        self._train = train
        self._blocks = [validation[start : start + BLOCK] for start in range(0, len(validation), BLOCK)]

    @property
    def examples(self) -> int:
        """How many training pairs there are."""
        return len(self._train)

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """Nothing but the encoder is trained."""
        return []

    def loss(self, places: Places) -> torch.Tensor:
        """SimCLR's loss in the batch."""
        pairs = [self._train[place] for place in places]
        vectors = self._encoder.embed([*(pair.context[-1] for pair in pairs), *(pair.reply for pair in pairs)])
        return simclr_loss(vectors[: len(pairs)], vectors[len(pairs) :])

    def validate(self) -> tuple[float, ...]:
        """Top-1 among the block's replies; the reciprocal rank settles ties."""
        scores = rank_replies(self._encoder, self._blocks)
        return tuple(float(np.mean([score[name] for score in scores])) for name in ("top1", "mrr"))
