"""Columns of a batch: keys for equal texts, embeddings in mini-batches, and embeddings of the base model.

Large batches fit into little memory, because mini-batch activations are recomputed in the backward pass. The gradient
equals that of gradient caching (Gao et al., 2021, https://arxiv.org/abs/2101.06983), dropout included, but it is plain
checkpointing: one backward pass, in which each mini-batch runs forward a second time. So gradient accumulation,
gradient scaling and data-parallel training work as usual.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import gather_rows, world_size

Features = dict[str, Any]
"""One column of a batch as a trainer passes it: `input_ids`, `attention_mask` and other model inputs."""


def bare_model(model: nn.Module) -> Any:
    """Return the model without its data-parallel wrapper."""
    return model.module if isinstance(model, DistributedDataParallel) else model


BY_LENGTH = 16
"""Rows encoded together on a CPU: fewer rows mean less padding, and more of them fit into a core's cache."""
BY_LENGTH_BF16 = 32
"""The same in bfloat16, whose instructions multiply whole tiles of rows; smaller values are untested."""


def _rows(features: Features, places: Tensor) -> Features:
    """Select rows, and cut the columns in which all of them are padding."""
    mask = features["attention_mask"]
    used = mask[places].any(dim=0).nonzero()
    width = int(used[-1]) + 1 if len(used) else 1

    def cut(value: Any) -> Any:
        if not isinstance(value, Tensor) or value.ndim == 0:
            return value
        # A copy, because a module may write to its inputs, and the second pass must start from the same values.
        return value[places, :width] if value.shape[:2] == mask.shape else value[places]

    return {name: cut(value) for name, value in features.items()}


def in_mini_batches(
    model: nn.Module,
    features: Features,
    step: Callable[[Any, Features], Tensor],
    size: int | None,
    by_length: int | None = None,
) -> Tensor:
    """Apply `step(model, features)` to all rows, with the activations of at most `size` of them in memory.

    Without a size, all activations are kept, and on a CPU `by_length` rows run together.
    """
    mask = features.get("attention_mask")
    if size is None and (mask is None or mask.device.type != "cpu"):
        return step(model, dict(features))
    if mask is None:
        raise TurnloomError(
            "mini-batches need padded inputs", "turn off unpadding in the model, or leave mini_batch_size out"
        )
    # Group rows by length: on a processor without thousands of cores, padding costs as much as words.
    order = mask.sum(dim=1).argsort(stable=True)
    outputs = []
    together = size or by_length or (BY_LENGTH_BF16 if torch.is_autocast_enabled("cpu") else BY_LENGTH)
    for number, places in enumerate(order.split(together)):
        # The wrapper prepares its gradient reduction in the forward pass: once, and never within the backward pass.
        models = iter([model] if number == 0 else [])

        def run(features: Features, places: Tensor = places, models: Any = models) -> Tensor:
            return step(next(models, bare_model(model)), _rows(features, places))

        # Autocast would cache cast weights and sum the gradients of all mini-batches in low precision.
        torch.clear_autocast_cache()
        outputs.append(run(features) if size is None else checkpoint(run, features, use_reentrant=False))
    return torch.cat(outputs)[order.argsort()]


def sentence_vectors(model: nn.Module, features: Features, size: int | None) -> Tensor:
    """Encode a column of texts, with the activations of at most `size` of them in memory."""
    return in_mini_batches(model, features, lambda part, rows: part(rows)["sentence_embedding"], size)


# Odd 64-bit constants (those of the SplitMix64 generator, as signed numbers); products wrap around.
_TOKEN, _PLACE, _MIX = -7046029254386353131, -4658895280553007687, -7723592293110705685


def _mixed(value: Tensor) -> Tensor:
    value = (value ^ (value >> 30)) * _PLACE
    return (value ^ (value >> 27)) * _MIX


def text_keys(features: Features) -> Tensor:
    """Compute a key per row of a column, equal for equal texts whatever their padding.

    Args:
        features: `input_ids` and `attention_mask`, each of shape (rows, tokens).

    Example:
        >>> import torch
        >>> short = {"input_ids": torch.tensor([[7, 8]]), "attention_mask": torch.tensor([[1, 1]])}
        >>> padded = {"input_ids": torch.tensor([[0, 7, 8, 0]]), "attention_mask": torch.tensor([[0, 1, 1, 0]])}
        >>> bool(text_keys(short) == text_keys(padded))
        True
    """
    if "input_ids" not in features or "attention_mask" not in features:
        raise TurnloomError(
            "equal texts are found by their padded token ids, which this model does not have", 'set mask="none"'
        )
    present: Tensor = features["attention_mask"].long()
    place = present.cumsum(1)
    tokens = _mixed(_mixed(features["input_ids"].long() * _TOKEN + place))
    return (tokens * present).sum(1)


class FrozenBase:
    """A copy of the encoder at the time the loss was created. Not a module, so it is neither trained nor saved."""

    def __init__(self, model: Any) -> None:
        self._model: Any = copy.deepcopy(bare_model(model)).eval().requires_grad_(False)

    @torch.no_grad()
    def vectors(self, features: Features) -> Tensor:
        """Encode a column of texts."""
        model = self._model.to(features["input_ids"].device)
        return sentence_vectors(model, features, None)


def all_cosines(vectors: Tensor) -> Tensor:
    """Compute the cosines between this process's texts and those of all processes."""
    unit = nn.functional.normalize(vectors.to(torch.promote_types(vectors.dtype, torch.float32)), dim=1)
    return unit @ gather_rows(unit).T


def pairwise_pull(vectors: Tensor, teacher: Tensor) -> Tensor:
    """Mean squared change of pairwise cosines from those of a teacher.

    With several processes it covers the texts of all of them: the mean over processes is that of the whole batch.
    """
    with torch.autocast(vectors.device.type, enabled=False):
        moved = (all_cosines(vectors) - all_cosines(teacher)).square()
    count = moved.shape[1]
    return moved.sum() * world_size() / max(count * (count - 1), 1)  # A text's cosine with itself never changes.
