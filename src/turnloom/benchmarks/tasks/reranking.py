"""Response re-ranking: the true reply among ten, and among ten of which one was said before (UMS, Tables 2 and 4)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder, Floats
from turnloom.benchmarks.candidates import Candidates, candidate_outputs, candidate_scores
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.metrics import best_column_credit
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo

__all__ = ["CONTEXTS", "Reranking", "dialogue_turns", "form_scores", "reranking_examples"]

CONTEXTS, CANDIDATES, MIN_TURNS = 2_000, 10, 2
NAMES = {"top1": "r10_at_1", "top2": "r10_at_2", "top5": "r10_at_5"}
PLAIN, ADVERSARIAL = [0, *range(2, CANDIDATES + 1)], [*range(CANDIDATES)]
"""The columns of the two forms: without the planted turn, and without the last of the others."""


def dialogue_turns(dataset: str, split: str) -> list[list[tuple[str, str]]]:
    """The dialogues of a split as lists of (speaker, text)."""
    return [[(turn["speaker"], turn["text"]) for turn in row["turns"]] for row in split_rows(dataset, split)]


def reranking_examples(
    dialogues: Sequence[Sequence[tuple[str, str]]], seed: int, *, limit: int = CONTEXTS
) -> list[Candidates]:
    """Contexts of two turns or more, each with the candidates of both forms: `form_scores` takes those of one.

    They are the reply that followed, a planted turn of the context itself, and nine replies from other dialogues.

    Args:
        dialogues: Turns as (speaker, text).
        seed: For which contexts, which others, and which turn is planted.
        limit: At most so many.
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
    """R10@k, MAP, MRR and P@1 in percent of one form; of the adversarial one, how often the planted turn comes first.

    Args:
        outputs: How well each candidate fits.
        examples: From `reranking_examples`.
        adversarial: Whether the planted turn takes the place of the last of the others.
        tops: Each k of R10@k.
    """
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
    """Whether other dialogues have enough replies for one context."""
    others = (text for text, numbers in owners.items() if text != truth and numbers != {number})
    return sum(1 for _ in itertools.islice(others, CANDIDATES - 1)) == CANDIDATES - 1


def _others(
    dialogues: Sequence[Sequence[tuple[str, str]]],
    places: list[tuple[int, int]],
    number: int,
    truth: str,
    rng: np.random.Generator,
) -> list[str]:
    """Distinct replies of other dialogues, none with the text of the truth."""
    others: dict[str, None] = {}
    while len(others) < CANDIDATES - 1:
        other, place = places[int(rng.integers(len(places)))]
        text = dialogues[other][place][1]
        if other != number and text != truth:
            others[text] = None
    return list(others)


class Reranking(Task):
    """Ten candidates are ordered by a scorer, or by an encoder's cosine.

    Args:
        dataset: A set of dialogues.
        adversarial: Whether one of the nine others is a turn of the context: related, but not what comes next.
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
        """R10@1, R10@2, R10@5, MAP, MRR and P@1 in percent; and how often the planted turn comes first."""
        dialogues = dialogue_turns(self.info.dataset, "test")
        found = []
        for draw in range(draws):
            examples = reranking_examples(dialogues, seed + draw)
            outputs = candidate_outputs(encoder, examples)
            found.append(form_scores(outputs, examples, adversarial=self.adversarial))
        return found
