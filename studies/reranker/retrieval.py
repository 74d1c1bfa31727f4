"""Whether re-ranking improves retrieval: the true reply among all replies of a split.

Usage: TURNLOOM_DATA=... python -m studies.reranker.retrieval ENCODER RERANKER...

A first stage (the encoder, or BM25) finds 50 of all distinct replies; a re-ranker orders these anew, by its own scores
or by both stages' (`turnloom.replies.suggestion.blend`). Top-1 in percent, 1,000 contexts of SGD and of MultiWOZ test
each. How much a re-ranker counts, and whose figures are recorded, is chosen on the validation splits; what is measured
there is kept in results.json, by the models' fingerprints.
"""

from __future__ import annotations

import functools
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.lib.figures import record
from studies.reranker.arms import RESULTS
from turnloom.benchmarks.cache import Floats
from turnloom.benchmarks.metrics import cosine_similarity, expected_top_k
from turnloom.benchmarks.tasks.reranking import dialogue_turns
from turnloom.replies.suggestion import blend
from turnloom.runtime.encoder import computes_bf16_fast, load_encoder
from turnloom.runtime.protocols import Encoder, Scorer
from turnloom.runtime.scorer import BM25, load_scorer

SETS, STAGES = ("sgd", "multiwoz21"), ("retrieve", "bm25", "retrieve_new", "bm25_new")
"""With `_new`, replies that repeat a turn of the context are left out: nearest to a turn is the turn itself."""
CONTEXTS, CHOOSING, FOUND, TURNS = 1_000, 300, 50, 3
"""The first stage reads the last three turns: encoders learn from contexts of that size."""
WEIGHTS = [tenths / 10 for tenths in range(1, 11)]
VALIDATION = "retrieval-validation"


@dataclass
class Search:
    """What a first stage found for one context: its best candidates, and where among them the true reply is."""

    places: list[int]
    scores: Floats
    truth: int | None
    top1: float


@dataclass
class Question:
    """A context, and what each first stage found for it."""

    context: tuple[str, ...]
    searches: dict[str, Search]


Asked = tuple[list[Question], list[str]]
"""The questions to a split, and the pool that they are asked of."""


def pairs_and_pool(dataset: str, split: str, limit: int) -> tuple[list[tuple[tuple[str, ...], str]], list[str]]:
    """Contexts with their replies, and all distinct replies of the split."""
    pairs = [
        (tuple(text for _, text in turns[:place]), turns[place][1])
        for turns in dialogue_turns(dataset, split)
        for place in range(2, len(turns))
        if turns[place][0] != turns[place - 1][0]
    ]
    order = np.random.default_rng(0).permutation(len(pairs))[:limit]
    return [pairs[place] for place in order], list(dict.fromkeys(reply for _, reply in pairs))


def first_stages(encoder: Encoder, contexts: list[tuple[str, ...]], pool: list[str]) -> dict[str, Floats]:
    """A row of scores over the pool for each context, by stage."""
    lately = [context[-TURNS:] for context in contexts]
    if encoder.has_heads:
        asked, replies = encoder.encode_query(lately), encoder.encode_document(pool)
    else:
        asked, replies = encoder.encode([encoder.format_context(turns) for turns in lately]), encoder.encode(pool)
    words = BM25(pool).scores([" ".join(turns) for turns in lately])
    return {"retrieve": cosine_similarity(asked, replies), "bm25": words}


def search(scores: Floats, truth: int, left_out: list[int]) -> Search:
    scores = scores.copy()
    scores[left_out] = -np.inf
    places = np.argsort(-scores, kind="stable")[:FOUND].tolist()
    where = places.index(truth) if truth in places else None
    return Search(places, scores[places], where, expected_top_k(scores, truth, 1))


def questions(encoder: Encoder, dataset: str, split: str, limit: int) -> Asked:
    """Contexts as the first stages answer them, and the pool."""
    pairs, pool = pairs_and_pool(dataset, split, limit)
    numbers = {reply: number for number, reply in enumerate(pool)}
    rows = first_stages(encoder, [context for context, _ in pairs], pool)
    asked = []
    for place, (context, reply) in enumerate(pairs):
        said = [numbers[turn] for turn in context if turn in numbers]
        searches = {}
        for stage, by in rows.items():
            searches[stage] = search(by[place], numbers[reply], [])
            searches[f"{stage}_new"] = search(by[place], numbers[reply], said)
        asked.append(Question(context, searches))
    return asked, pool


def second_stage(scorer: Scorer, asked: list[Question], pool: list[str]) -> Iterator[dict[str, Floats]]:
    """Of each question the re-ranker's scores, by stage; a reply that both found is scored once.

    Candidates without the true reply are not scored: no order would put it first.
    """
    for question in asked:
        there = {stage: one.places for stage, one in question.searches.items() if one.truth is not None}
        places = sorted(set().union(*there.values()))
        scores = {}
        if places:
            found = scorer.score(question.context, [pool[place] for place in places])
            scores = dict(zip(places, found.tolist(), strict=True))
        yield {stage: np.array([scores[place] for place in among]) for stage, among in there.items()}


def reranked(asked: list[Question], scores: list[dict[str, Floats]], stage: str, weight: float) -> Floats:
    """Top-1 of each question, in percent, after re-ranking what one first stage found."""
    right = []
    for question, given in zip(asked, scores, strict=True):
        one = question.searches[stage]
        first = 0.0 if one.truth is None else expected_top_k(blend(one.scores, given[stage], weight), one.truth, 1)
        right.append(100 * first)
    return np.array(right)


def searched(asked: list[Question], stage: str) -> Floats:
    """Top-1 of each question, in percent, of a first stage alone."""
    return np.array([100 * question.searches[stage].top1 for question in asked])


def curves(scorer: Scorer, sets: list[Asked]) -> dict[str, dict[str, float]]:
    """Of each stage, mean Top-1 over the sets by the re-ranker's weight, 0 for the first stage alone."""
    each: dict[str, dict[str, list[float]]] = {stage: {} for stage in STAGES}
    for asked, pool in sets:
        scores = list(second_stage(scorer, asked, pool))
        for stage in STAGES:
            each[stage].setdefault("0", []).append(float(searched(asked, stage).mean()))
            for weight in WEIGHTS:
                each[stage].setdefault(str(weight), []).append(float(reranked(asked, scores, stage, weight).mean()))
    return {stage: {weight: statistics.fmean(found) for weight, found in by.items()} for stage, by in each.items()}


def chosen_weights(encoder: Encoder, scorers: list[Scorer]) -> dict[str, dict[str, float]]:
    """Of each re-ranker its best weight after each first stage on the validation splits, the best re-ranker first."""
    kept = RESULTS.runs().get(VALIDATION, {})
    sets = functools.cache(lambda: [questions(encoder, dataset, "dev", CHOOSING) for dataset in SETS])
    found: dict[str, dict[str, float]] = {}
    sums: dict[str, float] = {}
    for scorer in scorers:
        both = f"{encoder.fingerprint} {scorer.fingerprint}"
        if both not in kept:
            kept[both] = {"encoder": encoder.name, "reranker": scorer.name, **curves(scorer, sets())}
            RESULTS.put(VALIDATION, kept)
        by = {stage: {weight: kept[both][stage][str(weight)] for weight in WEIGHTS} for stage in STAGES}
        found[scorer.name] = {stage: max(WEIGHTS, key=by[stage].__getitem__) for stage in STAGES}
        sums[scorer.name] = sum(max(each.values()) for each in by.values())
    return {name: found[name] for name in sorted(found, key=lambda name: -sums[name])}


def measure(scorer: Scorer, weights: dict[str, float], asked: list[Question], pool: list[str]) -> dict[str, Floats]:
    """Top-1 of each question: the first stage alone, re-ranked, and by the re-ranker's scores alone."""
    scores = list(second_stage(scorer, asked, pool))
    found = {}
    for stage in STAGES:
        among = [question.searches[stage].truth is not None for question in asked]
        found[f"{stage}_top1"] = searched(asked, stage)
        found[f"{stage}_top{FOUND}"] = 100 * np.array(among, np.float64)
        found[f"{stage}_rerank_top1"] = reranked(asked, scores, stage, weights[stage])
        found[f"{stage}_rerank_alone_top1"] = reranked(asked, scores, stage, 1.0)
    return found


def gain(sets: list[dict[str, Floats]], stage: str) -> dict[str, float]:
    """What re-ranking adds to a first stage: the mean over the sets, with its 95 % interval, paired."""
    gains = [each[f"{stage}_rerank_top1"] - each[f"{stage}_top1"] for each in sets]
    mean = statistics.fmean(float(each.mean()) for each in gains)
    error = float(np.sqrt(sum(each.var(ddof=1) / len(each) for each in gains))) / len(gains)
    return {"mean": mean, "low": mean - 1.96 * error, "high": mean + 1.96 * error}


def told(scorer: Scorer, weights: dict[str, float], sets: dict[str, Asked]) -> dict[str, Any]:
    """What a re-ranker does on the test splits."""
    found = {dataset: measure(scorer, weights, *asked) for dataset, asked in sets.items()}
    means = {dataset: {name: float(right.mean()) for name, right in each.items()} for dataset, each in found.items()}
    return {"weights": weights, "gains": {stage: gain(list(found.values()), stage) for stage in STAGES}, **means}


def main(encoder_folder: str, *scorer_folders: str) -> None:
    fast = computes_bf16_fast()
    encoder = load_encoder(encoder_folder, bf16=fast)
    scorers = {scorer.name: scorer for scorer in (load_scorer(Path(folder), bf16=fast) for folder in scorer_folders)}
    weights = chosen_weights(encoder, list(scorers.values()))
    sets = {dataset: questions(encoder, dataset, "test", CONTEXTS) for dataset in SETS}
    found = {name: told(scorers[name], each, sets) for name, each in weights.items()}
    RESULTS.put("retrieval", found)
    best = found[next(iter(weights))]
    names = [f"{stage}_{what}" for stage in STAGES for what in ("top1", "rerank_top1", "rerank_alone_top1")]
    record("reranker", {name: statistics.fmean(best[dataset][name] for dataset in SETS) for name in names})


if __name__ == "__main__":
    main(*sys.argv[1:])
