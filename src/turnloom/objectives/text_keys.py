"""Which texts of a batch are the same text: a 64-bit key for each, made of the token ids that the encoder sees."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from turnloom.errors import TurnloomError

__all__ = ["text_keys"]

# Odd 64-bit constants (those of the SplitMix64 generator, as signed numbers); products wrap around.
_TOKEN, _PLACE, _MIX = -7046029254386353131, -4658895280553007687, -7723592293110705685


def _mixed(value: Tensor) -> Tensor:
    value = (value ^ (value >> 30)) * _PLACE
    return (value ^ (value >> 27)) * _MIX


def text_keys(features: dict[str, Any]) -> Tensor:
    """A key for each row of a column: equal for equal texts, however they are padded.

    Args:
        features: `input_ids` and `attention_mask`, (rows, tokens) each.

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
