"""Semantic textual similarity: rank correlation of cosines with people's judgement (DialogueCSE, Table 2; STS-B)."""

from __future__ import annotations

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import rows
from turnloom.benchmarks.metrics import normalise_rows, spearman
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo, leave_out_credits
from turnloom.corpus.catalog import get_dataset

__all__ = ["SentenceSimilarity"]


class SentenceSimilarity(Task):
    """How well cosines order pairs as people do."""

    def __init__(self, dataset: str, file: str) -> None:
        self.file = file
        self.info = TaskInfo(
            name=f"sts-{dataset}",
            family="similarity",
            level="utterance",
            dataset=dataset,
            language=get_dataset(dataset).language,
            main_score="spearman",
            reference="DialogueCSE, Table 2 (D-STS); STS benchmark",
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Spearman's correlation in percent."""
        pairs = list(rows(self.info.dataset, self.file))
        first = normalise_rows(encoder.encode([pair["a"] for pair in pairs]))
        second = normalise_rows(encoder.encode([pair["b"] for pair in pairs]))
        cosines = np.round((first * second).sum(axis=1), 6)
        said = np.array([pair["score"] for pair in pairs], np.float64)
        credits = leave_out_credits(lambda keep: 100 * spearman(cosines[keep], said[keep]), len(pairs))
        return [Draw({"spearman": 100 * spearman(cosines, said)}, credits)]
