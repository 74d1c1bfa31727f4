"""Few-shot intent classification by prototypes (DSE, Table 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import Pool, codes_of, label_codes, split_pool
from turnloom.benchmarks.metrics import best_column_credit, cosine_similarity, normalise_rows
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.corpus.catalog import get_dataset

Codes = npt.NDArray[np.int64]


def draw_supports(labels: Codes, shots: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the indices of `shots` random examples of each label, or all examples of a rarer label."""
    rng = np.random.default_rng(seed)
    chosen = []
    for label in range(labels.max() + 1):
        places = np.flatnonzero(labels == label)
        chosen.append(rng.choice(places, min(shots, len(places)), replace=False))
    return np.concatenate(chosen)


def prototypes(vectors: npt.NDArray[np.float64], labels: Codes, classes: int) -> npt.NDArray[np.float64]:
    """Return the mean of each label's unit vectors."""
    sums = np.zeros((classes, vectors.shape[1]))
    np.add.at(sums, labels, normalise_rows(vectors))
    counts = np.bincount(labels, minlength=classes)
    return np.asarray(sums / np.maximum(counts, 1)[:, None])


class IntentPrototypes(Task):
    """Give an utterance the label of the nearest prototype by cosine; `pool` returns your own examples."""

    def __init__(self, dataset: str, shots: int, pool: Callable[[], Pool] | None = None) -> None:
        self.shots = shots
        self._pool = pool or (lambda: split_pool(dataset))
        self.info = TaskInfo(
            name=f"intent-{shots}shot-{dataset}",
            family="intent",
            level="utterance",
            dataset=dataset,
            language="en" if pool else get_dataset(dataset).language,
            main_score="accuracy",
            draws=10,
            reference="DSE, Table 2",
            own_data=pool is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return accuracy in percent for each draw of examples."""
        pool = self._pool()
        names, train_labels = label_codes(pool.train.labels)
        truths = codes_of(pool.test.labels, names)
        drawn = [draw_supports(train_labels, self.shots, seed + draw) for draw in range(draws)]
        # Encode all at once first, so that texts of similar length share a batch.
        encoder.encode([*pool.test.texts, *[pool.train.texts[place] for supports in drawn for place in supports]])
        test = encoder.encode(pool.test.texts)
        found = []
        for supports in drawn:
            vectors = encoder.encode([pool.train.texts[place] for place in supports])
            centres = prototypes(np.asarray(vectors, np.float64), train_labels[supports], len(names))
            credits = 100 * best_column_credit(cosine_similarity(test, centres), truths)
            found.append(Draw({"accuracy": float(credits.mean())}, credits))
        return found
