"""Dialogue inference by a probe: does the last turn contradict what was said before (DiaEval, section 3.3)?"""

from __future__ import annotations

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import split_rows
from turnloom.benchmarks.probe import Floats, Targets, probe_contexts
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.corpus.catalog import get_dataset


def _examples(dataset: str, split: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """Read dialogues, and what is wrong with their last turns; CI-ToD's knowledge base is ignored, as in DiaEval."""
    dialogues, labels = [], []
    for row in split_rows(dataset, split):
        dialogues.append(tuple(turn["text"] for turn in row["turns"]))
        labels.append(str(row["label"]) if "label" in row else str(int(bool(row["qi"] or row["hi"]))))
    return dialogues, labels


def _hits(outputs: Floats, targets: Targets) -> Targets:
    return np.asarray(targets[np.arange(len(targets)), outputs.argmax(axis=1)])


class DialogueInference(Task):
    """Predict which type of contradiction, if any, ends the dialogue; on a public set with one label per dialogue."""

    def __init__(self, dataset: str) -> None:
        self.info = TaskInfo(
            name=f"inference-{dataset}",
            family="dialogue inference",
            level="dialogue",
            dataset=dataset,
            language=get_dataset(dataset).language,
            main_score="accuracy",
            draws=3,
            thresholds_from="validation",
            reference="DiaEval, Table 3",
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return accuracy in percent, for several initial weights of the probe."""
        files = {"train": "train", "validation": "dev", "test": "test"}
        splits = {part: _examples(self.info.dataset, split) for part, split in files.items()}
        names = sorted(set(splits["train"][1]))
        data = {
            part: (dialogues, np.array([[name == label for name in names] for label in labels]))
            for part, (dialogues, labels) in splits.items()
        }
        outputs = probe_contexts(
            encoder, data, lambda *both: float(_hits(*both).mean()), exclusive=True, draws=draws, seed=seed
        )
        credits = [100.0 * _hits(rows, data["test"][1]) for rows in outputs]
        return [Draw({"accuracy": float(each.mean())}, each) for each in credits]
