"""A task: what it is, said in data, and one `evaluate`."""

import numpy as np

from turnloom.benchmarks import CachedEncoder, Draw, Task, TaskInfo
from turnloom.benchmarks.metrics import best_column_credit, cosine_similarity

PAIRS = [
    ("where is my parcel", "my order has not arrived"),
    ("how do i pay", "which cards do you take"),
    ("i want my money back", "please refund me"),
]


class SameWish(Task):
    """Of all second messages, the nearest one to a first message wishes the same."""

    info = TaskInfo(
        name="same-wish",
        family="similarity",
        level="utterance",
        dataset="same-wish",
        language="en",
        main_score="accuracy",
        own_data=True,
    )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> list[Draw]:
        first, second = (encoder.encode(list(side)) for side in zip(*PAIRS, strict=True))
        right = 100 * best_column_credit(cosine_similarity(first, second), np.arange(len(PAIRS)))
        return [Draw({"accuracy": float(right.mean())}, right)]
