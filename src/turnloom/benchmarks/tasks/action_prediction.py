"""Dialogue action prediction: what the system does next, by a probe on a frozen encoder (DiaEval, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.metrics import f1_scores
from turnloom.benchmarks.probe import Floats, Targets, probe_contexts
from turnloom.benchmarks.task import Draw, Draws, Space, Task, TaskInfo, leave_out_credits

CONTEXT_TURNS = 3
LIMITS = {"train": 20_000, "validation": 4_000, "test": 6_000}


@dataclass(frozen=True)
class ActionExamples:
    """Contexts, and the acts of the system turn that followed each."""

    contexts: list[tuple[str, ...]]
    labels: list[frozenset[str]]

    def __len__(self) -> int:
        return len(self.contexts)

    def sample(self, limit: int, seed: int = 0) -> ActionExamples:
        """Return a seeded random sample of at most `limit` examples, in their original order."""
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
    """Make an example from each system turn with acts, with the last three turns before it as context.

    Only the type of an act counts, not its slot (`REQUEST`, not `REQUEST:city`), as in the papers. A first turn has no
    context and is left out.

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


def action_targets(labels: Sequence[frozenset[str]], names: Sequence[str]) -> Targets:
    """Return which of the named acts each example has; other acts are left out."""
    return np.array([[name in own for name in names] for own in labels], bool).reshape(-1, len(names))


def _dialogues(dataset: str, split: str) -> Iterator[list[ActionTurn]]:
    for row in split_rows(dataset, split):
        yield [ActionTurn(turn["speaker"] == "system", turn["text"], turn.get("acts") or ()) for turn in row["turns"]]


def action_splits(dataset: str) -> dict[str, ActionExamples]:
    """Return the train, validation and test examples of a set; a fixed sample if the set is large."""
    return {
        part: action_examples(_dialogues(dataset, split)).sample(limit)
        for (part, limit), split in zip(LIMITS.items(), ("train", "dev", "test"), strict=True)
    }


def f1_draw(predicted: Targets, truth: Targets, main_score: str) -> Draw:
    """Return micro and macro F1 in percent."""
    scores = {name: 100 * value for name, value in f1_scores(truth, predicted).items()}
    credits = leave_out_credits(lambda keep: 100 * f1_scores(truth[keep], predicted[keep])[main_score], len(truth))
    return Draw(scores, credits)


def _validation_score(outputs: Floats, targets: Targets) -> float:
    """Score settings by both F1 scores: the paper's text and table disagree on which is the main one."""
    found = f1_scores(targets, outputs > 0)
    return found["micro_f1"] + found["macro_f1"]


class ActionPrediction(Task):
    """Predict the acts of the next system turn, each if its probability is above one half.

    `space` selects the output to probe: by meaning, or the one for contexts. `splits` returns your own examples
    instead of the public set's.
    """

    def __init__(
        self,
        dataset: str,
        space: Space = "plain",
        splits: Callable[[], dict[str, ActionExamples]] | None = None,
    ) -> None:
        self.space = space
        self._splits = splits or (lambda: action_splits(dataset))
        self.info = TaskInfo(
            name=f"action-{dataset}" + ("" if space == "plain" else "-heads"),
            family="action prediction",
            level="dialogue",
            dataset=dataset,
            language="en",
            main_score="macro_f1",
            draws=3,
            thresholds_from="validation",
            reference="DiaEval, Table 2",
            own_data=splits is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return micro and macro F1 in percent, for several initial weights of the probe."""
        splits = self._splits()
        names = sorted(set().union(*splits["train"].labels))
        data = {part: (examples.contexts, action_targets(examples.labels, names)) for part, examples in splits.items()}
        heads = self.space == "heads"
        outputs = probe_contexts(encoder, data, _validation_score, heads=heads, exclusive=False, draws=draws, seed=seed)
        return [f1_draw(rows > 0, data["test"][1], "macro_f1") for rows in outputs]
