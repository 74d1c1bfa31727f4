"""Run BERTopic with its own settings on exported texts and vectors, in an environment that has it.

Usage: ``python studies/discovery/bertopic_run.py FOLDER`` (pip install bertopic umap-learn hdbscan)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SEEDS = 3


def topics(texts: list[str], vectors: Any, seed: int) -> list[int]:
    from bertopic import BERTopic  # type: ignore[import-not-found]
    from umap import UMAP  # type: ignore[import-not-found]

    # BERTopic's own default UMAP; only the seed is set, so that a run can be repeated.
    reduce = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed, low_memory=False)
    found, _ = BERTopic(umap_model=reduce, embedding_model=None).fit_transform(texts, embeddings=vectors)
    return [int(topic) for topic in found]


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.npy")):
        said = json.loads(path.with_suffix(".json").read_text())
        runs = [topics(said, np.load(path), seed) for seed in range(SEEDS)]
        path.with_suffix(".topics.json").write_text(json.dumps(runs))
        print(path.stem, [(len(set(run)), sum(topic < 0 for topic in run)) for run in runs], flush=True)
