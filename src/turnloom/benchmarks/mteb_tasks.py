"""Turnloom's tasks for MTEB: to measure them beside others, with MTEB's own code, on data that is here already."""

from __future__ import annotations

from typing import Any

from turnloom.benchmarks.data import rows
from turnloom.corpus.catalog import get_dataset
from turnloom.errors import TurnloomError

__all__ = ["mteb_similarity_task"]

CODES = {"en": "eng-Latn", "zh": "zho-Hans"}


def mteb_similarity_task(dataset: str = "stsb_en", file: str = "test") -> Any:
    """A task of semantic textual similarity as MTEB knows them.

    Give it to `mteb.evaluate(model, tasks=[...])`. Its main score is that of the task `sts-DATASET` here, as a
    fraction. Nothing is downloaded: pairs come from the folder of public sets.

    Raises:
        TurnloomError: If MTEB is not installed.
    """
    try:
        from mteb.abstasks.sts import AbsTaskSTS
        from mteb.abstasks.task_metadata import TaskMetadata
    except ImportError as error:
        raise TurnloomError("MTEB is not installed", "pip install 'turnloom[bench]'") from error
    entry = get_dataset(dataset)

    class Similarity(AbsTaskSTS):  # type: ignore[misc]
        """Pairs from the folder of public sets."""

        metadata = TaskMetadata(
            name=f"Turnloom-sts-{dataset}",
            description=f"{entry.title}, as Turnloom measures it.",
            dataset={"path": f"turnloom/{dataset}", "revision": "1"},
            type="STS",
            category="t2t",
            eval_splits=["test"],
            eval_langs=[CODES[entry.language]],
            main_score="cosine_spearman",
        )

        def load_data(self, *_: Any, **__: Any) -> None:
            """Read what is here."""
            from datasets import Dataset

            pairs = list(rows(dataset, file))
            columns = {"sentence1": "a", "sentence2": "b", "score": "score"}
            table = {column: [pair[name] for pair in pairs] for column, name in columns.items()}
            self.dataset = {"test": Dataset.from_dict(table)}
            self.data_loaded = True

    return Similarity()
