"""What int8 gains and what it costs: both sides in one run, in turns, on the same texts.

Usage: TURNLOOM_DATA=... python -m studies.reranker.int8 ENCODER RERANKER
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from studies.lib.figures import record
from studies.reranker.arms import RESULTS
from turnloom.benchmarks import CachedEncoder, run_tasks, suite_tasks, tasks_named
from turnloom.benchmarks.tasks.reranking import dialogue_turns
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.export import export_model
from turnloom.runtime.scorer import load_scorer

RUNS = Path("runs/reranker")
TEXTS, ROUNDS = 1_000, 5
REQUESTS, CANDIDATES = 60, 50
RERANKING = ["rerank-ubuntu_irc", "rerank-sgd", "rerank-multiwoz21"]


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def exported(folder: str) -> Path:
    out = RUNS / f"{Path(folder).resolve().name}-int8"
    if not (out / "export.json").exists():
        export_model(Path(folder), out, int8=True)
    return out


def main_scores(model: Any, tasks: Any, run: str) -> float:
    """The mean of the tasks' main scores; what the results hold already is not measured again."""
    with RESULTS.folder(f"int8/{run}") as out:
        result = run_tasks(CachedEncoder(model, Path("runs/embeddings")), tasks, out)
    return statistics.fmean(result.tasks[task.info.name].mean() for task in tasks)


def encoders(folder: str) -> dict[str, float]:
    """Throughput on single turns, cosine, and the change on suite `quick`."""
    whole, small = load_encoder(folder), load_encoder(exported(folder))
    turns = [text for dialogue in dialogue_turns("sgd", "test")[:300] for _, text in dialogue]
    texts = [turns[place] for place in np.random.default_rng(0).permutation(len(turns))[:TEXTS]]
    for model in (whole, small):
        model.encode(texts[:64])
    ratios = [seconds(lambda: whole.encode(texts)) / seconds(lambda: small.encode(texts)) for _ in range(ROUNDS)]
    one, other = whole.encode(texts), small.encode(texts)
    cosines = (one * other).sum(1) / (np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1))
    tasks = suite_tasks("quick")
    return {
        "int8_encoder_speedup": statistics.median(ratios),
        "int8_encoder_cosine": float(cosines.mean()),
        "int8_quick_change": main_scores(small, tasks, "encoder-int8") - main_scores(whole, tasks, "encoder-fp32"),
    }


def latency(whole: Any, small: Any) -> dict[str, float]:
    """The time of one context with 50 candidates, in turns."""
    dialogues = dialogue_turns("sgd", "test")
    replies = [text for dialogue in dialogues[:400] for _, text in dialogue[1:]]
    rng = np.random.default_rng(0)
    times: dict[str, list[float]] = {"fp32": [], "int8": []}
    for number in range(-3, REQUESTS):  # The first three warm up.
        context = [text for _, text in dialogues[number + 3]][:6]
        candidates = [replies[place] for place in rng.integers(len(replies), size=CANDIDATES)]
        for name, model in (("fp32", whole), ("int8", small)):
            taken = seconds(partial(model.score, context, candidates))
            if number >= 0:
                times[name].append(1000 * taken)
    percentiles = {
        name: {f"p{level}": float(np.percentile(each, level)) for level in (50, 95)} for name, each in times.items()
    }
    RESULTS.put("int8-latency", percentiles)
    return {
        "int8_reranker_speedup_50": percentiles["fp32"]["p50"] / percentiles["int8"]["p50"],
        "int8_reranker_p95_ms_50": percentiles["int8"]["p95"],
    }


def reranker_change(whole: Any, small: Any) -> dict[str, float]:
    """The change of R10@1, mean of three sets."""
    tasks = tasks_named(RERANKING)
    change = main_scores(small, tasks, "reranker-int8") - main_scores(whole, tasks, "reranker-fp32")
    return {"int8_reranker_r10_at_1_change": change}


def main(encoder: str, reranker: str) -> None:
    record("reranker", encoders(encoder))
    whole, small = load_scorer(Path(reranker)), load_scorer(exported(reranker))
    record("reranker", latency(whole, small))
    record("reranker", reranker_change(whole, small))


if __name__ == "__main__":
    main(*sys.argv[1:])
