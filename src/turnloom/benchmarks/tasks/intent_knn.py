"""Intent classification by nearest neighbours over the full training split (TaDSE, Table 3 and Figure 6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import Pool, codes_of, label_codes, labelled, split_pool
from turnloom.benchmarks.metrics import cosine_similarity, nearest_label_credit
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.corpus.catalog import get_dataset

KS = (1, 3, 5, 10, 20, 50)
AT_A_TIME = 256


def _public_pool(dataset: str) -> Pool:
    pool = split_pool(dataset)
    if dataset != "clinc150":
        return pool
    return Pool(pool.train + labelled(dataset, "oos_train"), pool.test + labelled(dataset, "oos_test"))


class IntentNeighbours(Task):
    """Give an utterance the most frequent label of its k nearest training utterances; k = 1 is the main score.

    `pool` returns your own examples. CLINC150's out-of-scope messages are a label, as in the paper.
    """

    def __init__(self, dataset: str, pool: Callable[[], Pool] | None = None) -> None:
        self._pool = pool or (lambda: _public_pool(dataset))
        self.info = TaskInfo(
            name=f"knn-{dataset}",
            family="intent",
            level="utterance",
            dataset=dataset,
            language="en" if pool else get_dataset(dataset).language,
            main_score="accuracy_k1",
            reference="TaDSE, Table 3 and Figure 6",
            own_data=pool is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Return accuracy in percent for each k."""
        pool = self._pool()
        train, test = pool.train, pool.test
        names, codes = label_codes(train.labels)
        truths = codes_of(test.labels, names)
        references, vectors = encoder.encode(train.texts), encoder.encode(test.texts)
        ks = [k for k in KS if k <= len(train)]
        credits: dict[int, list[float]] = {k: [] for k in ks}
        for start in range(0, len(test), AT_A_TIME):
            rows = cosine_similarity(vectors[start : start + AT_A_TIME], references)
            for row, truth in zip(rows, truths[start : start + AT_A_TIME], strict=True):
                for k in ks:
                    credits[k].append(nearest_label_credit(row, codes, int(truth), k, len(names)))
        scores = {f"accuracy_k{k}": 100 * float(np.mean(found)) for k, found in credits.items()}
        return [Draw(scores, 100 * np.array(credits[1]))]
