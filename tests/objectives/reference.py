"""The objectives once more, as literally as can be: one pair of texts at a time, no masks of tensors, no log-space."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def _dot(one: Tensor, other: Tensor, cosine: bool) -> Tensor:
    return one @ other / (one.norm() * other.norm()) if cosine else one @ other


def naive(
    vectors: Sequence[Tensor],
    keys: Sequence[Sequence[int]] | None,
    weights: Sequence[float] | None,
    *,
    form: str,
    weighting: str = "none",
    temperature: float = 0.05,
    cosine: bool = True,
) -> Tensor:
    """The mean over anchors of weight times -log( e^p / (e^p + N) )."""
    pairs = len(vectors[0])
    terms = []
    for anchor_side, positive_side in [(0, 1)] if form == "forward" else [(0, 1), (1, 0)]:
        for i in range(pairs):
            similarities = []
            for side in range(len(vectors)):
                if (side == anchor_side and form != "simclr") or (side >= 2 and anchor_side == 1):
                    continue
                for j in range(pairs):
                    if j == i and side in (anchor_side, positive_side):
                        continue
                    if keys and keys[side][j] in (keys[anchor_side][i], keys[positive_side][i]):
                        continue
                    similarities.append(_dot(vectors[anchor_side][i], vectors[side][j], cosine) / temperature)
            p = (_dot(vectors[anchor_side][i], vectors[positive_side][i], cosine) / temperature).exp()
            term = -(p / (p + _negatives(similarities, weighting, p))).log()
            terms.append(term * (weights[i] if weights is not None else 1.0))
    return torch.stack(terms).mean()


def _negatives(similarities: list[Tensor], weighting: str, like: Tensor) -> Tensor:
    if not similarities:
        return torch.zeros_like(like)
    mean = sum(s.exp() for s in similarities) / len(similarities)
    if weighting == "outside":
        return torch.stack([s.exp() / mean * s.exp() for s in similarities]).sum()
    if weighting == "inside":
        return torch.stack([(s.exp() / mean * s).exp() for s in similarities]).sum()
    return torch.stack([s.exp() for s in similarities]).sum()


def wmdc(contexts: Tensor, responses: Tensor, frequency: Tensor, tau: float = 0.05) -> Tensor:
    """WMDC's Appendix A, Equations 4 and 5, symbol by symbol."""
    n = len(contexts)

    def sim(a: Tensor, b: Tensor) -> Tensor:
        return a @ b / (a.norm() * b.norm())

    def e(a: Tensor, b: Tensor) -> Tensor:
        return torch.exp(sim(a, b) / tau)

    c, r = contexts, responses
    losses = []
    for i in range(n):
        first = e(c[i], r[i]) / sum(e(c[i], r[j]) for j in range(n))
        second = e(r[i], c[i]) / sum(e(r[i], c[j]) for j in range(n))
        length = -0.5 * torch.log(first) - 0.5 * torch.log(second)
        irf = 1 / (torch.log(frequency[i]) + 1)
        losses.append(irf * length)
    return torch.stack(losses).mean()
