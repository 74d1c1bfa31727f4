"""Tasks that fine-tune a copy of the encoder on a few examples (DSE, Tables 5, 7 and 9).

Training and validation examples are drawn from the training split, or from examples outside the test if a set has no
splits. No encoder sees a test example before its training is over.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import codes_of, label_codes, split_pool
from turnloom.benchmarks.fine_tune import (
    FineTuning,
    LabelledTexts,
    LabelObjective,
    ReplyObjective,
    draw_few_shot,
    fine_tune,
    rank_replies,
    trainable_copy,
)
from turnloom.benchmarks.metrics import best_column_credit
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.benchmarks.tasks.action_prediction import action_splits, action_targets, f1_draw
from turnloom.benchmarks.tasks.response_selection import MAX_PAIRS, Selection, blocks, selection_draw, selection_pairs
from turnloom.corpus.catalog import get_dataset
from turnloom.errors import TurnloomError

DRAWS = 3
INTENT_PLAN = FineTuning()
ACTION_PLAN = FineTuning(
    epochs=100, batch_size=32, encoder_rate=5e-5, evaluate_every=30, patience=2, max_length=32, cut="front", dropout=0.2
)
SELECTION_PLAN = FineTuning(batch_size=100, max_length=128, patience=2)
"""The paper's settings for BERT-base, except for patience and the linear layer's rate, which it does not state."""


class _FewShot(Task):
    """A task with independent draws from the same data; subclasses provide the rest of its `TaskInfo`."""

    def __init__(self, about: str, dataset: str, shots: int, plan: FineTuning, **described: Any) -> None:
        self.shots, self.plan = shots, plan
        self.info = TaskInfo(
            name=f"finetune-{about}-{shots}shot-{dataset}",
            dataset=dataset,
            language=get_dataset(dataset).language,
            draws=DRAWS,
            thresholds_from="train",
            **described,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return the scores of a copy of the encoder, fine-tuned again for each draw of examples."""
        return [self._draw(encoder, seed + draw) for draw in range(draws)]

    @abstractmethod
    def _draw(self, encoder: CachedEncoder, seed: int) -> Draw:
        """Draw, train, and only then test."""

    def _fit_labels(
        self,
        encoder: CachedEncoder,
        examples: LabelledTexts,
        label_sets: Sequence[Collection[str]],
        classes: int,
        seed: int,
    ) -> LabelObjective:
        """Fine-tune a copy of the encoder on a few examples per label, with as many others for early stopping."""
        texts, targets = examples
        # No text is in both training and validation.
        distinct = np.sort(np.unique(np.array(texts, object), return_index=True)[1])
        drawn = draw_few_shot([label_sets[index] for index in distinct], self.shots, seed)
        train, validation = (([texts[index] for index in distinct[own]], targets[distinct[own]]) for own in drawn)
        tuned = trainable_copy(encoder, self.plan)
        objective = LabelObjective(tuned, train, validation, classes, self.plan)
        fine_tune(tuned, objective, self.plan, seed)
        return objective


class IntentFineTuning(_FewShot):
    """Classify intents with a linear layer, from a few examples of each and as many for validation."""

    def __init__(self, dataset: str, shots: int, plan: FineTuning = INTENT_PLAN) -> None:
        described = {"family": "intent, fine-tuned", "level": "utterance", "main_score": "accuracy"}
        super().__init__("intent", dataset, shots, plan, **described, reference="DSE, Table 7")

    def _draw(self, encoder: CachedEncoder, seed: int) -> Draw:
        pool = split_pool(self.info.dataset)
        names, codes = label_codes(pool.train.labels)
        label_sets = [(label,) for label in pool.train.labels]
        objective = self._fit_labels(encoder, (pool.train.texts, codes), label_sets, len(names), seed)
        credits = 100 * best_column_credit(objective.logits(pool.test.texts), codes_of(pool.test.labels, names))
        return Draw({"accuracy": float(credits.mean())}, credits)


class ActionFineTuning(_FewShot):
    """Predict the acts of the assistant's next turn with a linear layer, each above a probability of one half."""

    def __init__(self, dataset: str, shots: int, plan: FineTuning = ACTION_PLAN) -> None:
        described = {"family": "action prediction, fine-tuned", "level": "dialogue", "main_score": "micro_f1"}
        super().__init__("action", dataset, shots, plan, **described, reference="DSE, Table 5")

    def _draw(self, encoder: CachedEncoder, seed: int) -> Draw:
        splits = action_splits(self.info.dataset)
        train, test = splits["train"], splits["test"]
        names = sorted(frozenset().union(*train.labels))
        texts = [encoder.format_context(context) for context in train.contexts]
        objective = self._fit_labels(
            encoder, (texts, action_targets(train.labels, names)), train.labels, len(names), seed
        )
        truth = action_targets(test.labels, names)
        predicted = objective.logits([encoder.format_context(context) for context in test.contexts]) > 0
        return f1_draw(predicted, truth, "micro_f1")


class SelectionFineTuning(_FewShot):
    """Rank the reply to a question among 100, as without fine-tuning and on the same blocks."""

    def __init__(
        self, dataset: str, shots: int, plan: FineTuning = SELECTION_PLAN, test_pairs: int = MAX_PAIRS
    ) -> None:
        self.test_pairs = test_pairs
        described = {"family": "response selection, fine-tuned", "level": "utterance", "main_score": "top1"}
        super().__init__("select", dataset, shots, plan, **described, reference="DSE, Table 9")

    def _draw(self, encoder: CachedEncoder, seed: int) -> Draw:
        pairs = selection_pairs(self.info.dataset)
        tests = blocks(pairs, seed, self.test_pairs)
        others = _unlike(pairs, [pair for block in tests for pair in block])
        if len(others) < 2 * self.shots:
            raise TurnloomError(
                f"{self.info.dataset} has only {len(others)} pairs that are not tested on", "take fewer shots"
            )
        order = np.random.default_rng(seed).permutation(len(others))
        drawn = [others[place] for place in order[: 2 * self.shots]]
        tuned = trainable_copy(encoder, self.plan)
        objective = ReplyObjective(tuned, drawn[: self.shots], drawn[self.shots :])
        fine_tune(tuned, objective, self.plan, seed)
        return selection_draw(rank_replies(tuned, tests))


def _unlike(pairs: list[Selection], tested: list[Selection]) -> list[Selection]:
    """Return distinct pairs that share neither context nor reply with the test pairs."""
    contexts, replies = {pair.context for pair in tested}, {pair.reply for pair in tested}
    return [pair for pair in dict.fromkeys(pairs) if pair.context not in contexts and pair.reply not in replies]
