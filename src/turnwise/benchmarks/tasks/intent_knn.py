"""Intent classification by nearest neighbours over the full training split (TaDSE, Table 3 and Figure 6)."""

from __future__ import annotations

import numpy as np

from turnwise.benchmarks.cache import CachedEncoder
from turnwise.benchmarks.data import label_codes, labelled, split_pool
from turnwise.benchmarks.metrics import cosine_similarity, nearest_label_credit
from turnwise.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnwise.corpus.catalog import get_dataset

__all__ = ["IntentNeighbours"]

KS = (1, 3, 5, 10, 20, 50)
AT_A_TIME = 256


class IntentNeighbours(Task):
    """An utterance gets the label that most of its k nearest training utterances have; k = 1 is the main score."""

    def __init__(self, dataset: str) -> None:
        self.info = TaskInfo(
            name=f"knn-{dataset}",
            family="intent",
            level="utterance",
            dataset=dataset,
            language=get_dataset(dataset).language,
            main_score="accuracy_k1",
            reference="TaDSE, Table 3 and Figure 6",
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Accuracy in percent for each k; CLINC150's out-of-scope messages are a label, as in the paper."""
        pool = split_pool(self.info.dataset)
        train, test = pool.train, pool.test
        if self.info.dataset == "clinc150":
            extra = [labelled("clinc150", file) for file in ("oos_train", "oos_test")]
            train = type(train)(train.texts + extra[0].texts, train.labels + extra[0].labels)
            test = type(test)(test.texts + extra[1].texts, test.labels + extra[1].labels)
        names, codes = label_codes(train.labels)
        number = {name: place for place, name in enumerate(names)}
        references, vectors = encoder.encode(train.texts), encoder.encode(test.texts)
        ks = [k for k in KS if k <= len(train)]
        credits: dict[int, list[float]] = {k: [] for k in ks}
        for start in range(0, len(test), AT_A_TIME):
            rows = cosine_similarity(vectors[start : start + AT_A_TIME], references)
            for row, label in zip(rows, test.labels[start : start + AT_A_TIME], strict=True):
                for k in ks:
                    credits[k].append(nearest_label_credit(row, codes, number[label], k, len(names)))
        scores = {f"accuracy_k{k}": 100 * float(np.mean(found)) for k, found in credits.items()}
        return [Draw(scores, 100 * np.array(credits[1]))]
