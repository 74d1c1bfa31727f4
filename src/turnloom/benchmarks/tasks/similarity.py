"""Semantic textual similarity (DialogueCSE, Table 2; STS-B), and the geometry of embeddings on CLINC150."""

from __future__ import annotations

from typing import Any

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import label_codes, labelled, rows
from turnloom.benchmarks.metrics import alignment, hubness, isotropy, normalise_rows, spearman, uniformity
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo, leave_out_credits
from turnloom.corpus.catalog import get_dataset
from turnloom.errors import TurnloomError


class SentenceSimilarity(Task):
    """Measure how well cosines order pairs of sentences as people do."""

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
        """Return Spearman's correlation in percent."""
        pairs = list(rows(self.info.dataset, self.file))
        first = normalise_rows(encoder.encode([pair["a"] for pair in pairs]))
        second = normalise_rows(encoder.encode([pair["b"] for pair in pairs]))
        cosines = np.round((first * second).sum(axis=1), 6)
        said = np.array([pair["score"] for pair in pairs], np.float64)
        credits = leave_out_credits(lambda keep: 100 * spearman(cosines[keep], said[keep]), len(pairs))
        return [Draw({"spearman": 100 * spearman(cosines, said)}, credits)]


class Geometry(Task):
    """Measure the geometry of embeddings on CLINC150's test messages; messages of one intent are positives."""

    info = TaskInfo(
        name="geometry-clinc150",
        family="geometry",
        level="utterance",
        dataset="clinc150",
        language="en",
        main_score="uniformity",
        reference="Wang and Isola (2020)",
    )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Return raw scores: lower is better for uniformity and alignment; 1 is best for isotropy, 0 for hubness."""
        data = labelled("clinc150", "test")
        _, codes = label_codes(data.labels)
        vectors = encoder.encode(data.texts)
        return [
            Draw(
                {
                    "uniformity": uniformity(vectors),
                    "alignment": alignment(vectors, codes),
                    "isotropy": isotropy(vectors),
                    "hubness": hubness(vectors),
                }
            )
        ]


CODES = {"en": "eng-Latn", "zh": "zho-Hans"}


def mteb_similarity_task(dataset: str = "stsb_en", file: str = "test") -> Any:
    """Return a similarity task for `mteb.evaluate(model, tasks=[...])`, on data that is already on this machine.

    Its main score is that of Turnloom's task `sts-DATASET`, as a fraction.
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
            """Read the local data."""
            from datasets import Dataset

            pairs = list(rows(dataset, file))
            columns = {"sentence1": "a", "sentence2": "b", "score": "score"}
            table = {column: [pair[name] for pair in pairs] for column, name in columns.items()}
            self.dataset = {"test": Dataset.from_dict(table)}
            self.data_loaded = True

    return Similarity()
