"""Fine-tuning an encoder on a few examples: the one loop behind every fine-tuned task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import TrainableEncoder

if TYPE_CHECKING:
    import torch

__all__ = ["FineTuning", "Objective", "Places", "draw_few_shot", "fine_tune", "trainable_copy"]

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FineTuning:
    """How an encoder is fine-tuned.

    Attributes:
        epochs: How often all examples are seen, if training is not stopped before.
        batch_size: Examples a step.
        encoder_rate: The learning rate of the encoder.
        head_rate: The learning rate of the layer on top, which starts from nothing.
        evaluate_every: Steps between two looks at the validation examples.
        patience: So many looks in a row without a better score end the training.
        max_length: At most so many tokens of a text are read.
        cut: Where a longer text is cut.
        dropout: The share of inputs of the layer on top that is dropped in training.
    """

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
    """What an encoder is trained for, and how its progress is seen."""

    @property
    def examples(self) -> int:
        """How many training examples there are."""
        ...

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """What is trained besides the encoder."""
        ...

    def loss(self, places: Places) -> torch.Tensor:
        """The loss of the training examples at some places."""
        ...

    def validate(self) -> tuple[float, ...]:
        """How good it is on the validation examples: higher is better, later numbers settle ties."""
        ...


def trainable_copy(encoder: CachedEncoder, plan: FineTuning) -> TrainableEncoder:
    """A copy of an encoder, to be fine-tuned.

    Raises:
        TurnloomError: If it has nothing that could be trained.
    """
    if not isinstance(encoder.encoder, TrainableEncoder):
        raise TurnloomError(f"{encoder.name} cannot be fine-tuned", "give the folder of a SentenceTransformer")
    return encoder.encoder.copy(plan.max_length, plan.cut)


def draw_few_shot(labels: Sequence[Collection[str]], shots: int, seed: int) -> tuple[Places, Places]:
    """Disjoint places for training and validation, with `shots` examples of every label in each.

    An example may have several labels: rare ones are served first, and an example counts for all it has. Of a label
    with too few examples each side gets half, training the larger.

    Args:
        labels: The labels of each example of the training split.
        shots: Examples of each label.
        seed: Which draw.
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
    """Train an encoder, and leave it with the weights that were best on the validation examples.

    The weights before the first step are candidates too. The same seed gives the same weights.

    Returns:
        How many steps were taken.
    """
    import torch

    own, added = list(encoder.parameters()), list(objective.parameters())
    groups = [{"params": own, "lr": plan.encoder_rate}, {"params": added, "lr": plan.head_rate}]
    optimizer = torch.optim.AdamW([group for group in groups if group["params"]], fused=True)
    # Dropout draws from the global generator, which is not ours: it is put back.
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
