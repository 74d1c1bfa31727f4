"""Contrastive terms in log space, one chunk of anchors at a time, so that no full similarity matrix is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Weighting = Literal["outside", "inside", "none"]

FLOOR = -1e30  # Finite, so that an anchor whose candidates are all masked has loss 0 and gradient 0 instead of NaN.
CHUNK_ELEMENTS = 2**22


@dataclass(frozen=True)
class Anchors:
    """Anchors of one side, and everything they are compared with.

    Args:
        vectors: The anchors, (m, d), scaled so that a dot product is the logit; `positives` holds each one's positive.
        candidates: The possible negatives, (n, d).
        own: For each anchor, the indices of the candidates that are itself or its positive, (m, k).
        keys: Keys of the anchors, of their positives (m each) and of the candidates (n); None if nothing is masked.
    """

    vectors: Tensor
    positives: Tensor
    candidates: Tensor
    own: Tensor
    keys: tuple[Tensor, Tensor, Tensor] | None
    weights: Tensor

    def excluded(self, rows: slice) -> Tensor:
        """Return which candidates are not negatives of some of the anchors, (rows, n)."""
        own = self.own[rows]
        if self.keys is None:
            found = torch.zeros((len(own), len(self.candidates)), dtype=torch.bool, device=own.device)
        else:
            anchors, positives, candidates = self.keys
            found = candidates == anchors[rows, None]
            found |= candidates == positives[rows, None]
        return found.scatter_(1, own, True)


def _log_negatives(scores: Tensor, excluded: Tensor, weighting: Weighting) -> Tensor:
    """Return the log of the denominator's sum over negatives, per row."""
    scores = scores.masked_fill(excluded, FLOOR)
    if weighting == "none":
        return scores.logsumexp(1)
    count = (~excluded).sum(1).clamp(min=1).to(scores.dtype)
    log_mean = scores.logsumexp(1) - count.log()
    if weighting == "outside":
        return (2 * scores).logsumexp(1) - log_mean
    hardness = (scores - log_mean[:, None]).exp()
    return (hardness * scores).masked_fill(excluded, FLOOR).logsumexp(1)


def anchor_losses(
    vectors: Tensor, positives: Tensor, candidates: Tensor, excluded: Tensor, weighting: Weighting
) -> Tensor:
    """Compute -log( e^p / (e^p + N) ) per anchor, with N by the weighting; see `HardNegativeContrast`."""
    positive = (vectors * positives).sum(1)
    negatives = _log_negatives(vectors @ candidates.T, excluded, weighting)
    return torch.logaddexp(negatives, positive) - positive


class _WeightedSum(torch.autograd.Function):
    """The sum, with each chunk's gradient taken immediately, so that only one chunk is in memory."""

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, positives: Tensor, candidates: Tensor, side: Anchors, weighting: Weighting, size: int
    ) -> Tensor:
        inputs = (vectors, positives, candidates)
        wanted = any(ctx.needs_input_grad)
        gradients = [torch.zeros_like(tensor) for tensor in inputs] if wanted else []
        result = vectors.new_zeros(())
        for start in range(0, len(vectors), size):
            rows = slice(start, start + size)
            with torch.set_grad_enabled(wanted):
                parts = [vectors[rows].detach(), positives[rows].detach(), candidates.detach()]
                parts = [part.requires_grad_(wanted) for part in parts]
                losses = anchor_losses(parts[0], parts[1], parts[2], side.excluded(rows), weighting)
                value = (losses * side.weights[rows]).sum()
            result += value.detach()
            if wanted:
                own, positive, candidate = torch.autograd.grad(value, parts)
                gradients[0][rows], gradients[1][rows] = own, positive
                gradients[2] += candidate
        ctx.save_for_backward(*gradients)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return (*(gradient * saved for saved in ctx.saved_tensors), None, None, None)


def weighted_sum(side: Anchors, weighting: Weighting, row_chunk: int | None = None) -> Tensor:
    """Sum weight times loss over anchors, in memory linear in the number of candidates.

    By default, a chunk holds about four million similarities.
    """
    size = row_chunk or max(1, CHUNK_ELEMENTS // max(1, len(side.candidates)))
    summed: Tensor = _WeightedSum.apply(  # type: ignore[no-untyped-call, unused-ignore]
        side.vectors, side.positives, side.candidates, side, weighting, size
    )
    return summed
