"""Dialogue action prediction by a probe on a frozen encoder (DiaEval, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.actions import ActionExamples, action_splits, action_targets
from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.metrics import f1_scores
from turnloom.benchmarks.probe import Floats, ProbeData, probe_outputs
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo, leave_out_credits

__all__ = ["ActionPrediction"]

Targets = npt.NDArray[np.bool_]


def _f1_percent(predicted: Targets, truth: Targets) -> Draw:
    """Micro and macro F1 in percent; the macro one is the main score."""
    scores = {name: 100 * value for name, value in f1_scores(truth, predicted).items()}
    credits = leave_out_credits(lambda keep: 100 * f1_scores(truth[keep], predicted[keep])["macro_f1"], len(truth))
    return Draw(scores, credits)


def _validation_score(outputs: Floats, targets: Targets) -> float:
    """The paper's text and table disagree on which F1 is the headline: settings are chosen by both."""
    found = f1_scores(targets, outputs > 0)
    return found["micro_f1"] + found["macro_f1"]


class ActionPrediction(Task):
    """Which acts the next system turn has, each predicted when its probability is above one half.

    Args:
        dataset: A set whose system turns have acts.
        space: `plain` probes what a context means, `heads` the space of contexts, where the model has one.
        splits: Where the examples come from; the public set of that name if not given.
    """

    def __init__(
        self,
        dataset: str,
        space: Literal["plain", "heads"] = "plain",
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
        """Micro and macro F1 in percent, for several first weights of the probe."""
        splits = self._splits()
        names = sorted(set().union(*splits["train"].labels))
        # All at once: texts of one length share a batch.
        vectors = self._encode(encoder, [context for part in splits.values() for context in part.contexts])
        ends = np.cumsum([len(examples) for examples in splits.values()])[:-1]
        data = {
            part: ProbeData(rows, action_targets(examples.labels, names))
            for (part, examples), rows in zip(splits.items(), np.split(vectors, ends), strict=True)
        }
        outputs = probe_outputs(data, _validation_score, exclusive=False, draws=draws, seed=seed)
        return [_f1_percent(found > 0, data["test"].targets) for found in outputs]

    def _encode(self, encoder: CachedEncoder, contexts: list[tuple[str, ...]]) -> Floats:
        if self.space == "heads":
            return encoder.encode_query(contexts)
        return encoder.encode([encoder.format_context(context) for context in contexts])
