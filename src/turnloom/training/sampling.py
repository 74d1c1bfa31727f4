"""The order of training examples: shuffled anew each epoch, without a list of all of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sentence_transformers.base.sampler import DefaultBatchSampler

__all__ = ["BlockShuffle"]

BLOCK_BATCHES = 256


class BlockShuffle(DefaultBatchSampler):
    """Blocks of rows in random order, and the rows of each block in random order.

    A view lies on disk in a shuffled order already; this makes every epoch differ from the last one, while reading
    stays nearly sequential. What is kept in memory is a number for each block: for a billion pairs, some thousands.
    The order depends on the seed and the epoch alone.
    """

    def __init__(self, dataset: Any, batch_size: int, drop_last: bool = True, **options: Any) -> None:
        options.pop("generator", None)
        super().__init__(dataset, batch_size=batch_size, drop_last=True, **options)
        self._rows = len(dataset)
        del drop_last  # A smaller last batch would have fewer negatives than the others.

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        size = self.batch_size * BLOCK_BATCHES
        rest: list[int] = []
        for block in rng.permutation(-(-self._rows // size)):
            start = int(block) * size
            rows = start + rng.permutation(min(size, self._rows - start))
            rest += rows.tolist()
            whole = len(rest) // self.batch_size * self.batch_size
            for first in range(0, whole, self.batch_size):
                yield rest[first : first + self.batch_size]
            rest = rest[whole:]

    def __len__(self) -> int:
        return self._rows // self.batch_size
