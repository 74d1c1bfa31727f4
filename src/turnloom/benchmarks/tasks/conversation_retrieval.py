"""Conversation retrieval: find other conversations about the same topics, by one vector per conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.metrics import Floats, average_precision, cosine_similarity, first_relevant_reciprocal_rank
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.runtime.protocols import Context, Vectors, unit_rows

BLOCK = 200
"""Conversations per search, which is also the number of rows of similarities in memory."""


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation and what it is about."""

    turns: tuple[str, ...]
    label: frozenset[str]


def labelled_conversations(dataset: str, split: str = "test") -> list[Conversation]:
    """Return a split's conversations; a label is a set of services or domains, and of active intents if annotated."""
    found = []
    for row in split_rows(dataset, split):
        intents = [f"intent {name}" for turn in row["turns"] for name in turn.get("intent") or ()]
        subjects = row.get("services") or row.get("domains") or ()
        found.append(Conversation(tuple(turn["text"] for turn in row["turns"]), frozenset([*subjects, *intents])))
    return found


def turn_means(encoder: CachedEncoder, conversations: Sequence[Context]) -> Vectors:
    """Return the mean of each conversation's unit turn vectors: the baseline, which ignores the order of turns."""
    vectors = unit_rows(encoder.encode([turn for turns in conversations for turn in turns]))
    starts = np.cumsum([0, *map(len, conversations[:-1])])
    return unit_rows(np.add.reduceat(vectors, starts))


class ConversationRetrieval(Task):
    """Search all other conversations with each one; those with the same label should come first.

    A conversation's vector comes from the model (`encode_conversations`), or else is the mean of its turns. A
    conversation with a unique label is not a query. `conversations` returns your own conversations.
    """

    def __init__(self, dataset: str, conversations: Callable[[], list[Conversation]] | None = None) -> None:
        self.conversations = conversations or (lambda: labelled_conversations(dataset))
        self.info = TaskInfo(
            name=f"conversations-{dataset}",
            family="conversation retrieval",
            level="dialogue",
            dataset=dataset,
            language="en",
            main_score="map",
            own_data=conversations is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Return MAP and MRR in percent; MAP also for the mean of the turns, and for the joined turns as one text."""
        conversations = [each for each in self.conversations() if each.turns]
        turns = [each.turns for each in conversations]
        labels = [each.label for each in conversations]
        means = turn_means(encoder, turns)
        own = encoder.encode_conversations(turns) if encoder.has_conversations else means
        precision, reciprocal = _precision_and_reciprocal(own, labels)
        scores = {
            "map": float(precision.mean()),
            "mrr": float(reciprocal.mean()),
            "map_turn_mean": float(_precision_and_reciprocal(means, labels)[0].mean()),
            "map_joined": float(_precision_and_reciprocal(encoder.encode_contexts(turns, False), labels)[0].mean()),
        }
        return [Draw(scores, precision)]


def _precision_and_reciprocal(vectors: Vectors, labels: Sequence[frozenset[str]]) -> tuple[Floats, Floats]:
    """Return each query's average precision and reciprocal rank of the first hit, in percent."""
    both = [
        (average_precision(scores, relevant), first_relevant_reciprocal_rank(scores, relevant))
        for scores, relevant in _searches(vectors, labels)
    ]
    precision, reciprocal = 100 * np.array(both, np.float64).reshape(-1, 2).T
    return precision, reciprocal


def _searches(vectors: Vectors, labels: Sequence[frozenset[str]]) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
    """Yield, for each conversation whose label others share, the similarities of all others and which share it."""
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([number[label] for label in labels])
    counts = Counter(codes.tolist())
    queries = [place for place, code in enumerate(codes.tolist()) if counts[code] > 1]
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK]
        for query, row in zip(block, cosine_similarity(vectors[block], vectors), strict=True):
            yield np.delete(row, query), np.delete(codes, query) == codes[query]
