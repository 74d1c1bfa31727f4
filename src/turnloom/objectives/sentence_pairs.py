"""Two tokenized columns as one input: first sentence, separator, second sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from turnloom.objectives.caching import Features

__all__ = ["join_pairs"]


def _joined(first: Tensor, second: Tensor, length: int | None) -> tuple[Tensor, int]:
    """Both sentences, the longer one cut until they fit, and how many tokens the first one has."""
    ends = first[-1:], second[-1:]
    sizes = [len(first), len(second)]
    while length is not None and sum(sizes) > length:
        sizes[sizes[1] >= sizes[0]] -= 1
    cut = [torch.cat([part[: size - 1], end]) for part, size, end in zip((first, second), sizes, ends, strict=True)]
    return torch.cat(cut), sizes[0]


def join_pairs(first: Features, second: Features, order: Tensor, length: int | None = None) -> Features:
    """The features of "[CLS] first [SEP] second [SEP]".

    Args:
        first: The column of first sentences.
        second: The column of second sentences.
        order: For each first sentence, the row of its second one.
        length: The most tokens that an input may have.
    """
    rows = []
    for row, other in enumerate(order.tolist()):
        tokens = first["input_ids"][row][first["attention_mask"][row].bool()]
        more = second["input_ids"][other][second["attention_mask"][other].bool()]
        # One input has one opening token.
        rows.append(_joined(tokens, more[1:] if tokens[0] == more[0] else more, length))
    joined = [tokens for tokens, _ in rows]
    lengths = torch.tensor([len(tokens) for tokens in joined], device=order.device)
    places = torch.arange(int(lengths.max()), device=order.device)
    mask = (places < lengths[:, None]).long()
    ids = torch.nn.utils.rnn.pad_sequence(joined, batch_first=True)
    kept = {name: value for name, value in first.items() if not isinstance(value, Tensor)}
    features = {**kept, "input_ids": ids, "attention_mask": mask}
    if "token_type_ids" in first:
        begins = torch.tensor([begin for _, begin in rows], device=order.device)
        features["token_type_ids"] = (places >= begins[:, None]).long() * mask
    return features
