"""Response re-ranking: the true reply among ten, also if one repeats a turn of the context (UMS, Tables 2 and 4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder, Floats
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.metrics import (
    average_precision,
    best_column_credit,
    cosine_similarity,
    expected_precision,
    expected_top_k,
    first_relevant_reciprocal_rank,
)
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.runtime.protocols import Scorer, Vectors

CONTEXTS, CANDIDATES, MIN_TURNS = 2_000, 10, 2
NAMES = {"top1": "r10_at_1", "top2": "r10_at_2", "top5": "r10_at_5"}
PLAIN, ADVERSARIAL = [0, *range(2, CANDIDATES + 1)], [*range(CANDIDATES)]
"""The candidates of the two forms: without the planted turn, and without the last of the other replies."""


@dataclass(frozen=True)
class Candidates:
    """A context with candidate replies, and which of them are right."""

    context: tuple[str, ...]
    replies: list[str]
    right: list[bool]


def candidate_outputs(model: CachedEncoder, examples: Sequence[Candidates]) -> list[Floats]:
    """Return how well each candidate fits: a scorer's score, or an encoder's cosine.

    Cosines use the model's outputs for contexts and replies if it has them.
    """
    if isinstance(model.encoder, Scorer):
        return [model.score(example.context, example.replies) for example in examples]
    contexts = model.encode_contexts([example.context for example in examples], model.has_heads)
    encode_replies: Callable[[list[str]], Vectors] = model.encode_document if model.has_heads else model.encode
    # Encode all at once first, so that texts of similar length share a batch.
    encode_replies([reply for example in examples for reply in example.replies])
    return [
        cosine_similarity(context[None], encode_replies(example.replies))[0]
        for context, example in zip(contexts, examples, strict=True)
    ]


def candidate_scores(
    outputs: Sequence[Floats], examples: Sequence[Candidates], tops: Sequence[int] = (1, 3, 10)
) -> Draw:
    """Return the means of Top-k, P@1, MAP and MRR in percent, and each context's Top-1.

    Top-k counts the best-ranked right candidate; other right ones neither help nor hurt.
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
    return {
        **{f"top{k}": 100 * expected_top_k(outputs[keep], place, k) for k in tops},
        "p_at_1": 100 * expected_precision(outputs, right, 1),
        "map": 100 * average_precision(outputs, right),
        "mrr": 100 * first_relevant_reciprocal_rank(outputs, right),
    }


def dialogue_turns(dataset: str, split: str) -> list[list[tuple[str, str]]]:
    """Return the dialogues of a split as lists of (speaker, text)."""
    return [[(turn["speaker"], turn["text"]) for turn in row["turns"]] for row in split_rows(dataset, split)]


def reranking_examples(
    dialogues: Sequence[Sequence[tuple[str, str]]], seed: int, *, limit: int = CONTEXTS
) -> list[Candidates]:
    """Return contexts of at least two turns, with the candidates of both forms; `form_scores` selects one form.

    The candidates are the true reply, a planted turn of the context itself, and nine replies from other dialogues.
    """
    rng = np.random.default_rng(seed)
    places = [
        (number, place)
        for number, turns in enumerate(dialogues)
        for place in range(MIN_TURNS, len(turns))
        if turns[place][0] != turns[place - 1][0]
    ]
    owners: dict[str, set[int]] = {}
    for number, place in places:
        owners.setdefault(dialogues[number][place][1], set()).add(number)
    chosen = [places[n] for n in rng.permutation(len(places))[:limit]]
    found = []
    for number, place in chosen:
        context = tuple(text for _, text in dialogues[number][:place])
        truth = dialogues[number][place][1]
        if not _has_others(owners, number, truth):
            continue
        planted = [text for text in context if text != truth]
        turn = planted[int(rng.integers(len(planted)))] if planted else None
        others = _others(dialogues, places, number, truth, rng)
        if turn is not None:
            found.append(Candidates(context, [truth, turn, *others], [True] + [False] * CANDIDATES))
    return found


def form_scores(
    outputs: Sequence[Floats], examples: Sequence[Candidates], *, adversarial: bool, tops: Sequence[int] = (1, 2, 5)
) -> Draw:
    """Return R10@k, MAP, MRR and P@1 in percent; if adversarial, also how often the planted turn comes first."""
    columns = ADVERSARIAL if adversarial else PLAIN
    rows = [output[columns] for output in outputs]
    right = [True] + [False] * (CANDIDATES - 1)
    formed = [Candidates(one.context, [one.replies[column] for column in columns], right) for one in examples]
    drawn = candidate_scores(rows, formed, tops)
    scores = {NAMES.get(name, name): value for name, value in drawn.scores.items()}
    if adversarial:
        planted = best_column_credit(np.array(rows), np.ones(len(rows), np.int64))
        scores["planted_first"] = 100 * float(planted.mean())
    return Draw(scores, drawn.credits)


def _has_others(owners: Mapping[str, set[int]], number: int, truth: str) -> bool:
    """Whether other dialogues have enough replies for a context."""
    others = (text for text, numbers in owners.items() if text != truth and numbers != {number})
    return sum(1 for _ in itertools.islice(others, CANDIDATES - 1)) == CANDIDATES - 1


def _others(
    dialogues: Sequence[Sequence[tuple[str, str]]],
    places: list[tuple[int, int]],
    number: int,
    truth: str,
    rng: np.random.Generator,
) -> list[str]:
    """Draw distinct replies from other dialogues, none with the true reply's text."""
    others: dict[str, None] = {}
    while len(others) < CANDIDATES - 1:
        other, place = places[int(rng.integers(len(places)))]
        text = dialogues[other][place][1]
        if other != number and text != truth:
            others[text] = None
    return list(others)


class Reranking(Task):
    """Rank ten candidates with a scorer, or by an encoder's cosine.

    In the adversarial form, one of the nine wrong ones is a turn of the context: related, but not the next turn.
    """

    def __init__(self, dataset: str, *, adversarial: bool = False) -> None:
        self.adversarial = adversarial
        self.info = TaskInfo(
            name=f"rerank-{dataset}" + ("-adversarial" if adversarial else ""),
            family="response re-ranking",
            level="dialogue",
            dataset=dataset,
            language="en",
            main_score="r10_at_1",
            reference="UMS, Table 4" if adversarial else "UMS, Table 2",
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return R10@1, R10@2, R10@5, MAP, MRR and P@1 in percent, and how often the planted turn comes first."""
        dialogues = dialogue_turns(self.info.dataset, "test")
        found = []
        for draw in range(draws):
            examples = reranking_examples(dialogues, seed + draw)
            outputs = candidate_outputs(encoder, examples)
            found.append(form_scores(outputs, examples, adversarial=self.adversarial))
        return found
