"""Whether re-ranking improves retrieval: the true reply among all replies of a test split.

Usage: TURNWISE_DATA=... python -m studies.reranker.retrieval ENCODER RERANKER

A first stage (the encoder, or BM25) finds 50 of all distinct replies; the re-ranker orders these anew. Top-1 in
percent, 1,000 contexts of SGD and of MultiWOZ each.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np

from studies.figures import record
from turnwise.benchmarks.metrics import cosine_similarity, expected_top_k
from turnwise.benchmarks.tasks.reranking import dialogue_turns
from turnwise.runtime.bm25 import BM25
from turnwise.runtime.encoder import Encoder, Scorer, load_encoder
from turnwise.runtime.precision import computes_bf16_fast
from turnwise.runtime.scorer import load_scorer

SETS = ("sgd", "multiwoz21")
CONTEXTS, FOUND, TURNS = 1_000, 50, 3
"""The first stage reads the last three turns: encoders learn from contexts of that size."""
RESULTS = Path(__file__).parent / "results"
Rows = dict[str, Any]
"""Scores over the pool, by the method that gave them."""


def examples(dataset: str, limit: int) -> tuple[list[tuple[tuple[str, ...], str]], list[str]]:
    """Contexts with their replies, and all distinct replies of the split."""
    pairs = [
        (tuple(text for _, text in turns[:place]), turns[place][1])
        for turns in dialogue_turns(dataset, "test")
        for place in range(2, len(turns))
        if turns[place][0] != turns[place - 1][0]
    ]
    order = np.random.default_rng(0).permutation(len(pairs))[:limit]
    return [pairs[place] for place in order], list(dict.fromkeys(reply for _, reply in pairs))


def first_stage(encoder: Encoder, contexts: list[tuple[str, ...]], pool: list[str]) -> Rows:
    """A row of scores over the pool for each context, by method."""
    lately = [context[-TURNS:] for context in contexts]
    if encoder.has_heads:
        asked, replies = encoder.encode_query(lately), encoder.encode_document(pool)
    else:
        asked, replies = encoder.encode([encoder.format_context(turns) for turns in lately]), encoder.encode(pool)
    return {
        "retrieve": cosine_similarity(asked, replies),
        "bm25": BM25(pool).scores([" ".join(turns) for turns in lately]),
    }


def reranked(scorer: Scorer, context: tuple[str, ...], truth: int, pool: list[str], rows: Rows) -> dict[str, float]:
    """Top-1 of the re-ranker among what each first stage found; a reply that both found is scored once."""
    best = {name: np.argsort(-row, kind="stable")[:FOUND].tolist() for name, row in rows.items()}
    there = {name: found for name, found in best.items() if truth in found}
    places = sorted(set().union(*there.values()))
    scores = dict(zip(places, scorer.score(context, [pool[place] for place in places]), strict=True))
    return {
        name: expected_top_k(np.array([scores[place] for place in found]), found.index(truth), 1)
        if name in there
        else 0.0
        for name, found in best.items()
    }


def measure(encoder: Encoder, scorer: Scorer, dataset: str, limit: int = CONTEXTS) -> dict[str, float]:
    pairs, pool = examples(dataset, limit)
    numbers = {reply: number for number, reply in enumerate(pool)}
    stages = first_stage(encoder, [context for context, _ in pairs], pool)
    each: dict[str, list[float]] = {}
    for place, (context, reply) in enumerate(pairs):
        truth, rows = numbers[reply], {name: scores[place] for name, scores in stages.items()}
        for name, right in reranked(scorer, context, truth, pool, rows).items():
            each.setdefault(f"{name}_rerank_top1", []).append(right)
            each.setdefault(f"{name}_top1", []).append(expected_top_k(rows[name], truth, 1))
            each.setdefault(f"{name}_top{FOUND}", []).append(expected_top_k(rows[name], truth, FOUND))
    return {**{name: 100 * statistics.fmean(values) for name, values in each.items()}, "replies": len(pool)}


def main(encoder_folder: str, scorer_folder: str, limit: str = str(CONTEXTS)) -> None:
    fast = computes_bf16_fast()
    encoder, scorer = load_encoder(encoder_folder, bf16=fast), load_scorer(Path(scorer_folder), bf16=fast)
    found = {dataset: measure(encoder, scorer, dataset, int(limit)) for dataset in SETS}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "retrieval.json").write_text(json.dumps(found, indent=1) + "\n")
    names = ("retrieve_top1", "retrieve_rerank_top1", "bm25_top1", "bm25_rerank_top1")
    record("reranker", {name: statistics.fmean(each[name] for each in found.values()) for name in names})


if __name__ == "__main__":
    main(*sys.argv[1:])
