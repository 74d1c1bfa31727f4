"""The next reply among all replies of a batch, for objectives that read vectors instead of texts."""

from __future__ import annotations

import torch
from torch import Tensor

from turnloom.objectives.gathering import gather_rows, own_offset, total, world_size
from turnloom.objectives.row_terms import FLOOR


def next_reply_loss(
    queries: Tensor,
    replies: Tensor,
    *,
    texts: Tensor,
    dialogues: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    """How badly contexts find their replies, and replies their contexts, among those of the batch.

    Formula:
        The weighted mean over pairs i of `-1/2 log( exp q_i r_i / sum_j exp q_i r_j ) - 1/2 log( exp q_i r_i /
        sum_j exp q_j r_i )`, where j runs over i and over all pairs of another dialogue whose reply has another text.

    Where it differs:
        From `InverseFrequencyContrast`: pairs of the same dialogue are no negatives, since an earlier or a later reply
        of it is often a good one, and a batch holds many pairs of each dialogue. Weights are divided by their sum.

    With several processes, each has its own pairs and compares them with those of all; the sum of their losses is the
    loss of the whole batch, and so is the sum of their gradients.

    Args:
        queries: One row per context; a product with a reply's row is its logit.
        replies: One row per context: the reply that followed.
        texts: A number for the text of each reply.
        dialogues: A number for the dialogue of each pair, different in all processes.
        weights: How much each pair counts; all the same if not given.
    """
    spread = world_size() > 1
    every = [gather_rows(rows) if spread else rows for rows in (queries, replies, texts, dialogues)]
    own = torch.arange(len(queries), device=queries.device) + (
        own_offset(len(queries), queries.device) if spread else 0
    )
    excluded = (texts[:, None] == every[2]) | (dialogues[:, None] == every[3])
    excluded.scatter_(1, own[:, None], False)
    weights = queries.new_ones(len(queries)) if weights is None else weights
    terms = queries.new_zeros(())
    for anchors, candidates in ((queries, every[1]), (replies, every[0])):
        logits = (anchors.float() @ candidates.float().T).masked_fill(excluded, FLOOR)
        terms = terms - (logits.log_softmax(1).gather(1, own[:, None])[:, 0] * weights).sum()
    whole = weights.sum()
    return terms / (2 * (total(whole) if spread else whole))
