"""Contexts with candidates of which some are right, and how well an encoder or a scorer orders them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder, Floats
from turnloom.benchmarks.metrics import (
    average_precision,
    best_column_credit,
    cosine_similarity,
    expected_top_k,
    first_relevant_reciprocal_rank,
)
from turnloom.benchmarks.task import Draw
from turnloom.runtime.encoder import Scorer

__all__ = ["Candidates", "candidate_outputs", "candidate_scores"]


@dataclass(frozen=True)
class Candidates:
    """A context and its candidates, of which some are right."""

    context: tuple[str, ...]
    replies: list[str]
    right: list[bool]


def candidate_outputs(model: CachedEncoder, examples: Sequence[Candidates]) -> list[Floats]:
    """How well each candidate fits: a scorer's own score, or an encoder's cosine.

    Cosines are taken in the spaces of contexts and replies where the model has them.
    """
    if isinstance(model.encoder, Scorer):
        return [model.score(example.context, example.replies) for example in examples]
    encode_contexts, encode_replies = _views(model)
    # All at once first: texts of one length share a batch.
    contexts = encode_contexts([example.context for example in examples])
    encode_replies([reply for example in examples for reply in example.replies])
    return [
        cosine_similarity(context[None], encode_replies(example.replies))[0]
        for context, example in zip(contexts, examples, strict=True)
    ]


def _views(
    model: CachedEncoder,
) -> tuple[Callable[[list[tuple[str, ...]]], npt.NDArray[np.float32]], Callable[[list[str]], npt.NDArray[np.float32]]]:
    if model.has_heads:
        return model.encode_query, model.encode_document
    return lambda contexts: model.encode([model.format_context(context) for context in contexts]), model.encode


def candidate_scores(
    outputs: Sequence[Floats], examples: Sequence[Candidates], tops: Sequence[int] = (1, 3, 10)
) -> Draw:
    """The means of Top-k, P@1, MAP and MRR in percent, and each context's Top-1.

    Top-k asks for the best of the right candidates; the other right ones neither help it nor stand in its way.
    """
    each = [_scores(row, np.array(example.right), tops) for row, example in zip(outputs, examples, strict=True)]
    return Draw(
        {name: float(np.mean([scores[name] for scores in each])) for name in each[0]},
        [scores[f"top{tops[0]}"] for scores in each],
    )


def _scores(outputs: Floats, right: npt.NDArray[np.bool_], tops: Sequence[int]) -> dict[str, float]:
    best = int(np.flatnonzero(right)[np.argmax(outputs[right])])
    keep = ~right
    keep[best] = True
    place = int(keep[:best].sum())
    rows = np.broadcast_to(outputs, (int(right.sum()), len(outputs)))
    return {
        **{f"top{k}": 100 * expected_top_k(outputs[keep], place, k) for k in tops},
        "p_at_1": 100 * float(best_column_credit(rows, np.flatnonzero(right)).sum()),
        "map": 100 * average_precision(outputs, right),
        "mrr": 100 * first_relevant_reciprocal_rank(outputs, right),
    }
