"""What the system does next, from what was said: examples for dialogue action prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.data import split_rows

__all__ = ["ActionExamples", "ActionTurn", "action_examples", "action_splits", "action_targets"]

CONTEXT_TURNS = 3
LIMITS = {"train": 20_000, "validation": 4_000, "test": 6_000}
_FILES = {"train": "train", "validation": "dev", "test": "test"}


@dataclass(frozen=True)
class ActionExamples:
    """Contexts, and the acts of the system turn that followed each."""

    contexts: list[tuple[str, ...]]
    labels: list[frozenset[str]]

    def __len__(self) -> int:
        return len(self.contexts)

    def sample(self, limit: int, seed: int = 0) -> ActionExamples:
        """At most so many of them, drawn by a seed; in their own order."""
        if len(self) <= limit:
            return self
        places = np.sort(np.random.default_rng(seed).choice(len(self), limit, replace=False))
        return ActionExamples([self.contexts[place] for place in places], [self.labels[place] for place in places])


@dataclass(frozen=True)
class ActionTurn:
    """One turn: whether the system said it, what was said, and its acts."""

    system: bool
    text: str
    acts: Sequence[str] = ()


def action_examples(dialogues: Iterable[Sequence[ActionTurn]]) -> ActionExamples:
    """An example for each system turn that has acts and something before it: the last three turns as context.

    Only the kind of an act counts, not the slot it is about (`REQUEST`, not `REQUEST:city`), as in the papers.

    Example:
        >>> turns = [ActionTurn(False, "a table please"), ActionTurn(True, "for how many?", ["REQUEST:people"])]
        >>> action_examples([turns])
        ActionExamples(contexts=[('a table please',)], labels=[frozenset({'REQUEST'})])
    """
    contexts, labels = [], []
    for turns in dialogues:
        for place, turn in enumerate(turns):
            if turn.system and turn.acts and place:
                contexts.append(tuple(before.text for before in turns[max(0, place - CONTEXT_TURNS) : place]))
                labels.append(frozenset(act.split(":")[0] for act in turn.acts))
    return ActionExamples(contexts, labels)


def action_targets(labels: Sequence[frozenset[str]], names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which of the named acts each example has; acts that have no name here are left out."""
    return np.array([[name in own for name in names] for own in labels], bool).reshape(-1, len(names))


def _dialogues(dataset: str, split: str) -> Iterator[list[ActionTurn]]:
    for row in split_rows(dataset, split):
        yield [ActionTurn(turn["speaker"] == "system", turn["text"], turn.get("acts") or ()) for turn in row["turns"]]


def action_splits(dataset: str) -> dict[str, ActionExamples]:
    """The train, validation and test examples of a set; of a large one a fixed sample."""
    return {part: action_examples(_dialogues(dataset, split)).sample(LIMITS[part]) for part, split in _FILES.items()}
