"""Response selection sets in their public formats: DSTC7-Ubuntu, and Ubuntu v1, Douban and E-commerce.

They are not in the catalog, since no public repository holds them; whoever has the files can measure on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from turnwise.benchmarks.cache import CachedEncoder
from turnwise.benchmarks.metrics import (
    average_precision,
    cosine_similarity,
    expected_top_k,
    first_relevant_reciprocal_rank,
)
from turnwise.errors import TurnwiseError

__all__ = ["Candidates", "candidate_scores", "read_dstc7", "read_labelled_lines"]


@dataclass(frozen=True)
class Candidates:
    """A context and its candidates, of which some are right."""

    context: tuple[str, ...]
    replies: list[str]
    right: list[bool]


def read_dstc7(path: Path) -> Iterator[Candidates]:
    """DSTC7 track 1: a JSON array; the right reply is named and stands among `options-for-next`.

    An example whose right answer is that none fits is left out, as in DSE.
    """
    for number, example in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        try:
            context = tuple(message["utterance"] for message in example["messages-so-far"])
            right = {option["candidate-id"] for option in example.get("options-for-correct-answers", [])}
            options = example["options-for-next"]
            marks = [option["candidate-id"] in right for option in options]
        except (KeyError, TypeError) as error:
            raise TurnwiseError(f"{path}: example {number} has no {error}", "give a file of DSTC7's track 1") from error
        if any(marks):
            yield Candidates(context, [option["utterance"] for option in options], marks)


def read_labelled_lines(path: Path) -> Iterator[Candidates]:
    """Ubuntu v1, Douban and E-commerce: lines of label, turns and reply, separated by tabs.

    Lines that follow each other with the same turns are the candidates of one context. Douban has contexts without a
    right reply or with nothing else; both are left out, as in the papers.
    """
    group: list[tuple[bool, str]] = []
    context: tuple[str, ...] | None = None
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            label, *turns = line.rstrip("\n").split("\t")
            if label not in ("0", "1") or len(turns) < 2:
                raise TurnwiseError(f"{path}, line {number}: 'label TAB turns TAB reply' expected", "label is 0 or 1")
            if context is not None and tuple(turns[:-1]) != context:
                yield from _whole(context, group)
                group = []
            context = tuple(turns[:-1])
            group.append((label == "1", turns[-1]))
    if context is not None:
        yield from _whole(context, group)


def _whole(context: tuple[str, ...], group: list[tuple[bool, str]]) -> Iterator[Candidates]:
    marks = [right for right, _ in group]
    if any(marks) and not all(marks):
        yield Candidates(context, [reply for _, reply in group], marks)


def candidate_scores(encoder: CachedEncoder, examples: Sequence[Candidates]) -> dict[str, float]:
    """Top-1, Top-3, Top-10, MAP and MRR in percent; in the spaces of contexts and replies where the model has them."""
    found: list[dict[str, float]] = []
    for example in examples:
        if encoder.has_heads:
            query, replies = encoder.encode_query([example.context]), encoder.encode_document(example.replies)
        else:
            query, replies = encoder.encode([encoder.format_context(example.context)]), encoder.encode(example.replies)
        scores, right = cosine_similarity(query, replies)[0], np.array(example.right)
        best = int(np.flatnonzero(right)[np.argmax(scores[right])])
        # Other right replies neither help nor stand in the way of the best one.
        keep = ~right
        keep[best] = True
        place = int(keep[:best].sum())
        found.append(
            {
                **{f"top{k}": 100 * expected_top_k(scores[keep], place, k) for k in (1, 3, 10)},
                "map": 100 * average_precision(scores, right),
                "mrr": 100 * first_relevant_reciprocal_rank(scores, right),
            }
        )
    return {name: float(np.mean([scores[name] for scores in found])) for name in found[0]}
