"""Fine-tune an encoder on a few examples: one loop, for labels with a linear layer and for replies by contrast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.metrics import best_column_credit, cosine_similarity, f1_scores
from turnloom.benchmarks.tasks.response_selection import BLOCK, Selection, selection_scores
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import TrainableEncoder

if TYPE_CHECKING:
    import torch

Places = npt.NDArray[np.int64]
LabelledTexts = tuple[list[str], npt.NDArray[Any]]
TEMPERATURE = 0.05


@dataclass(frozen=True)
class FineTuning:
    """How to fine-tune an encoder; training stops after `patience` validations without a better score."""

    epochs: int = 50
    batch_size: int = 16
    encoder_rate: float = 3e-5
    head_rate: float = 1e-3
    evaluate_every: int = 10
    patience: int = 5
    max_length: int = 64
    cut: Literal["front", "end"] = "end"
    dropout: float = 0.1


class Objective(Protocol):
    """The loss to train an encoder with, and its validation score."""

    examples: int
    """The number of training examples."""

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """Return the parameters to train besides the encoder's."""
        ...

    def loss(self, places: Places) -> torch.Tensor:
        """Return the loss of the training examples at some indices."""
        ...

    def validate(self) -> tuple[float, ...]:
        """Return the validation scores: higher is better, later numbers break ties."""
        ...


def trainable_copy(encoder: CachedEncoder, plan: FineTuning) -> TrainableEncoder:
    """Return a copy of an encoder to fine-tune; raise TurnloomError if it has nothing to train."""
    if not isinstance(encoder.turns, TrainableEncoder):
        raise TurnloomError(f"{encoder.name} cannot be fine-tuned", "give the folder of a SentenceTransformer")
    return encoder.turns.copy(plan.max_length, plan.cut)


def draw_few_shot(labels: Sequence[Collection[str]], shots: int, seed: int) -> tuple[Places, Places]:
    """Draw disjoint indices for training and validation, with `shots` examples of every label in each.

    An example may have several labels: rare labels come first, and an example counts for all of its labels. If a label
    has too few examples, each side gets half of them, training the larger half.
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    counts = Counter(label for own in labels for label in own)
    train: list[int] = []
    validation: list[int] = []
    for label in sorted(counts, key=lambda name: (counts[name], name)):
        taken = {*train, *validation}
        free = [int(place) for place in order if label in labels[place] and place not in taken]
        for part, half in ((train, (counts[label] + 1) // 2), (validation, counts[label] // 2)):
            missing = max(min(shots, half) - sum(label in labels[place] for place in part), 0)
            part += free[:missing]
            free = free[missing:]
    return np.array(train, np.int64), np.array(validation, np.int64)


def _batches(examples: int, plan: FineTuning, seed: int) -> Iterator[Places]:
    rng = np.random.default_rng(seed)
    for _ in range(plan.epochs):
        order = rng.permutation(examples)
        for start in range(0, examples, plan.batch_size):
            yield order[start : start + plan.batch_size]


def fine_tune(encoder: TrainableEncoder, objective: Objective, plan: FineTuning, seed: int) -> int:
    """Train an encoder, restore the weights with the best validation score, and return the number of steps.

    The weights before the first step are candidates too. The same seed gives the same weights.
    """
    import torch

    own, added = list(encoder.parameters()), list(objective.parameters())
    groups = [{"params": own, "lr": plan.encoder_rate}, {"params": added, "lr": plan.head_rate}]
    optimizer = torch.optim.AdamW([group for group in groups if group["params"]], fused=True)
    # Dropout draws from the global generator, which is not ours, so restore its state.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        best, kept, looks = objective.validate(), [weight.detach().clone() for weight in (*own, *added)], 0
        steps = 0
        for places in _batches(objective.examples, plan, seed):
            optimizer.zero_grad()
            objective.loss(places).backward()
            optimizer.step()
            steps += 1
            if steps % plan.evaluate_every:
                continue
            score, looks = objective.validate(), looks + 1
            if score > best:
                best, kept, looks = score, [weight.detach().clone() for weight in (*own, *added)], 0
            elif looks >= plan.patience:
                break
    with torch.no_grad():
        for weight, saved in zip((*own, *added), kept, strict=True):
            weight.copy_(saved)
    return steps


class LabelObjective:
    """A linear layer on an encoder, for one label per text (numbers) or several (rows of booleans).

    The layer's inputs have the same norm, whether or not the encoder normalises its vectors, and its weights start at
    zero: one rate fits all encoders, and draws differ by their examples alone.
    """

    def __init__(
        self,
        encoder: TrainableEncoder,
        train: LabelledTexts,
        validation: LabelledTexts,
        classes: int,
        plan: FineTuning,
    ) -> None:
        import torch

        self._encoder, self._train, self._validation = encoder, train, validation
        self.examples, self._several = len(train[0]), train[1].ndim == 2
        size = encoder.encode(train[0][:1]).shape[1]
        self._scale = size**0.5
        self._dropout = torch.nn.Dropout(plan.dropout)
        self._layer: torch.nn.Linear = torch.nn.utils.skip_init(torch.nn.Linear, size, classes)
        for weight in self._layer.parameters():
            torch.nn.init.zeros_(weight)

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """Return the layer's weights."""
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
        """Return the cross-entropy, over labels or for each label."""
        texts, labels = self._train
        vectors = self._encoder.embed([texts[place] for place in places])
        return self._loss_of(self._logits(vectors, drop=True), labels[places])

    def logits(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return the layer's output for texts; above zero is a probability above one half."""
        import torch

        with torch.no_grad():
            return np.asarray(self._logits(torch.from_numpy(self._encoder.encode(texts))), np.float32)

    def validate(self) -> tuple[float, ...]:
        """Return accuracy or micro F1; the loss breaks ties, which are frequent with few examples."""
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
    """Return SimCLR's loss (Chen et al., 2020): each vector finds its partner among all others of both sides."""
    import torch

    both = torch.nn.functional.normalize(torch.cat([first, second]))
    similarities = both @ both.T / temperature
    similarities = similarities.masked_fill(torch.eye(len(both), dtype=torch.bool), -torch.inf)
    partners = torch.arange(len(both)).roll(len(first))
    return torch.nn.functional.cross_entropy(similarities, partners)


def rank_replies(encoder: TrainableEncoder, blocks: Sequence[Sequence[Selection]]) -> list[dict[str, float]]:
    """Return the scores of each context of each block, as in response selection without fine-tuning."""
    pairs = [pair for block in blocks for pair in block]
    # Encode all at once, so that texts of similar length share a batch.
    vectors = encoder.encode([*(pair.context[-1] for pair in pairs), *(pair.reply for pair in pairs)])
    ends = np.cumsum([len(block) for block in blocks])[:-1]
    scores: list[dict[str, float]] = []
    for block, contexts, replies in zip(
        blocks, np.split(vectors[: len(pairs)], ends), np.split(vectors[len(pairs) :], ends), strict=True
    ):
        scores += selection_scores(cosine_similarity(contexts, replies), [pair.reply for pair in block])
    return scores


class ReplyObjective:
    """Pull a context and its reply together, by contrast with the rest of the batch."""

    def __init__(self, encoder: TrainableEncoder, train: list[Selection], validation: list[Selection]) -> None:
        self._encoder, self._train, self.examples = encoder, train, len(train)
        self._blocks = [validation[start : start + BLOCK] for start in range(0, len(validation), BLOCK)]

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """Return nothing: only the encoder is trained."""
        return []

    def loss(self, places: Places) -> torch.Tensor:
        """Return SimCLR's loss of the batch."""
        pairs = [self._train[place] for place in places]
        vectors = self._encoder.embed([*(pair.context[-1] for pair in pairs), *(pair.reply for pair in pairs)])
        return simclr_loss(vectors[: len(pairs)], vectors[len(pairs) :])

    def validate(self) -> tuple[float, ...]:
        """Return Top-1 among the block's replies; the reciprocal rank breaks ties."""
        scores = rank_replies(self._encoder, self._blocks)
        return tuple(float(np.mean([score[name] for score in scores])) for name in ("top1", "mrr"))
