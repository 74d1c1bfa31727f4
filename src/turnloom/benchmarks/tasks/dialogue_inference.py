"""Dialogue inference by a probe: does the last turn contradict what was said before (DiaEval, section 3.3)?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.probe import Floats, ProbeData, probe_outputs
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.corpus.catalog import get_dataset

__all__ = ["DialogueInference", "InferenceExamples", "inference_splits"]


@dataclass(frozen=True)
class InferenceExamples:
    """Dialogues, and what is the matter with the last turn of each."""

    dialogues: list[tuple[str, ...]]
    labels: list[str]


def inference_splits(dataset: str) -> dict[str, InferenceExamples]:
    """The splits of a public set; CI-ToD's knowledge base is ignored, as DiaEval does."""
    found = {}
    for part, split in (("train", "train"), ("validation", "dev"), ("test", "test")):
        dialogues, labels = [], []
        for row in split_rows(dataset, split):
            dialogues.append(tuple(turn["text"] for turn in row["turns"]))
            contradicts = str(row["label"]) if "label" in row else str(int(bool(row["qi"] or row["hi"])))
            labels.append(contradicts)
        found[part] = InferenceExamples(dialogues, labels)
    return found


def _accuracy(outputs: Floats, targets: npt.NDArray[np.bool_]) -> float:
    return float(targets[np.arange(len(targets)), outputs.argmax(axis=1)].mean())


class DialogueInference(Task):
    """Which kind of contradiction, if any, ends the dialogue.

    Args:
        dataset: A set of dialogues with one label each.
        splits: Where the examples come from; the public set of that name if not given.
        language: The language of the examples, if they are your own.
    """

    def __init__(
        self,
        dataset: str,
        splits: Callable[[], dict[str, InferenceExamples]] | None = None,
        language: str = "en",
    ) -> None:
        self._splits = splits or (lambda: inference_splits(dataset))
        self.info = TaskInfo(
            name=f"inference-{dataset}",
            family="dialogue inference",
            level="dialogue",
            dataset=dataset,
            language=language if splits else get_dataset(dataset).language,
            main_score="accuracy",
            draws=3,
            thresholds_from="validation",
            reference="DiaEval, Table 3",
            own_data=splits is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Accuracy in percent, for several first weights of the probe."""
        splits = self._splits()
        names = sorted(set(splits["train"].labels))
        texts = {
            part: [encoder.format_context(dialogue) for dialogue in examples.dialogues]
            for part, examples in splits.items()
        }
        encoder.encode([text for part in texts.values() for text in part])
        data = {
            part: ProbeData(
                encoder.encode(texts[part]), np.array([[name == label for name in names] for label in examples.labels])
            )
            for part, examples in splits.items()
        }
        found = []
        for outputs in probe_outputs(data, _accuracy, exclusive=True, draws=draws, seed=seed):
            chosen = outputs.argmax(axis=1)
            credits = 100.0 * data["test"].targets[np.arange(len(chosen)), chosen]
            found.append(Draw({"accuracy": float(credits.mean())}, credits))
        return found
