"""The true reply of a list, for a re-ranker that scores lists of replies."""

from __future__ import annotations

from torch import Tensor

from turnloom.objectives.row_terms import FLOOR


def list_loss(scores: Tensor, usable: Tensor, truth: Tensor | None = None) -> Tensor:
    """How badly scores find the true one of each row: the sum over rows.

    Formula:
        The sum over rows i of `-log( exp s_i,t / sum_j exp s_ij )`, where j runs over the usable columns.

    Args:
        scores: One row per list.
        usable: Which scores count.
        truth: The column of the true one; the first if not given.
    """
    logits = scores.float().masked_fill(~usable, FLOOR).log_softmax(1)
    return -(logits[:, 0] if truth is None else logits.gather(1, truth[:, None])[:, 0]).sum()
