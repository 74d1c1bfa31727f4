"""The turn-level re-ranker beside the search that it corrects.

Usage: TURNLOOM_DATA=... python -m studies.reranker.turn_level {suite|tasks|appropriate|speed} SEED...

SEED... are folders of models with a re-ranker, trained with different seeds. `suite` measures the true reply among ten
with and without a planted turn: the re-ranker (`rerank.*`), the search of the conversation encoder (`conversation.*`),
and the search without what was said already (`control.*`). `tasks` takes models trained without UMS's three tasks, then
models of the same seeds trained with them, and measures what these bring. `appropriate` searches all replies of a test
split and orders the best 50 anew. `speed` times the re-ranking of 50 replies whose vectors are at hand.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from studies.lib.figures import record
from studies.reranker.arms import RESULTS
from studies.reranker.figures import scores_of
from turnloom.benchmarks import CachedEncoder, run_tasks, suite_tasks
from turnloom.benchmarks.cache import Floats
from turnloom.benchmarks.tasks.appropriate_reply import JudgedReply, judged_replies
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.runtime.protocols import Context, unit_rows
from turnloom.runtime.reranker import ConversationScorer

SETS = ("sgd", "multiwoz21", "star")
CONTEXTS, FOUND = 2_000, 50
SCORES = ("appropriate_top1", "appropriate_top10", "exact_top1", "exact_top10")
CACHE = Path("runs/embeddings")


class SearchWithoutRepeats(ConversationScorer):
    """A control without learning: the score of the search, and what was said already comes last."""

    def __init__(self, encoder: Any) -> None:
        super().__init__(encoder)
        self.fingerprint += "-control"

    def score(self, context: Context, replies: Sequence[str]) -> Floats:
        """Return how well each reply fits; higher is better."""
        state = self.encoder.start(context)
        scores = np.asarray((state.query() @ self.encoder.encode_document(replies).T)[0], np.float64)
        return np.where([reply in context for reply in replies], -np.inf, scores)


def expected_agreement(scores: Floats, meanings: Floats) -> Floats:
    """How much each reply is expected to mean the same as the one that follows: an order that was tried."""
    probability = np.exp(scores - scores.max())
    agreement: Floats = np.maximum(meanings @ meanings.T, 0) ** 4 @ (probability / probability.sum())
    return agreement


def reader(folder: str) -> ConversationEncoder:
    """The model of a folder, which has a re-ranker."""
    encoder = load_encoder(Path(folder), bf16=computes_bf16_fast())
    assert isinstance(encoder, ConversationEncoder)
    assert encoder.reranker is not None
    return encoder


def measured(name: str, system: Any) -> dict[str, float]:
    """Measure a system on suite `ums`, unless it was, and return its scores."""
    with RESULTS.folder(name) as out:
        run_tasks(CachedEncoder(system, CACHE), suite_tasks("ums"), out)
    result = RESULTS.scores(name)
    assert result is not None
    return scores_of(result)


def tasks(folders: Sequence[str]) -> None:
    """Compare models trained on UMS's tasks too with those without, seed by seed."""
    found = [measured(Path(folder).name, ConversationScorer(reader(folder))) for folder in folders]
    without, taught = found[: len(found) // 2], found[len(found) // 2 :]
    for score, figure in (("r10_at_1", "ums_tasks_gain"), ("adversarial_r10_at_1", "ums_tasks_adversarial_gain")):
        gains = [new[score] - old[score] for new, old in zip(taught, without, strict=True)]
        # Student's t: three seeds say little about their spread.
        error = float(t.ppf(0.975, len(gains) - 1)) * statistics.stdev(gains) / len(gains) ** 0.5
        mean = statistics.fmean(gains)
        record("reranker", {figure: mean, f"{figure}_low": mean - error, f"{figure}_high": mean + error})


def suite(folders: Sequence[str]) -> None:
    """Measure the true reply among ten; every seed's re-ranker beside its own search."""
    found: dict[str, list[dict[str, float]]] = {"conversation": [], "control": [], "rerank": []}
    for number, folder in enumerate(folders):
        encoder = reader(folder)
        systems: dict[str, Any] = {
            "conversation": encoder,
            "control": SearchWithoutRepeats(encoder),
            "rerank": ConversationScorer(encoder),
        }
        for name, system in systems.items():
            found[name].append(measured(f"{name}{number}", system))
    for name, seeds in found.items():
        for score in seeds[0]:
            each = [scores[score] for scores in seeds]
            spread = {f"{name}.{score}": statistics.fmean(each), f"{name}.{score}_spread": max(each) - min(each)}
            record("reranker", spread)


def search_scores(encoder: CachedEncoder, judged: Sequence[JudgedReply], seed: int) -> dict[str, Floats]:
    """For each context, 0 or 100 for every score: of search, re-ranker, and expected agreement."""
    replies = list(dict.fromkeys(one.reply for one in judged))
    number = {text: place for place, text in enumerate(replies)}
    members: dict[object, set[int]] = {}
    for one in judged:
        members.setdefault(one.purpose, set()).add(number[one.reply])
    sample = [judged[place] for place in np.random.default_rng(seed).permutation(len(judged))[:CONTEXTS]]
    documents, meanings = unit_rows(encoder.encode_document(replies)), unit_rows(encoder.encode(replies))
    found: dict[str, list[list[float]]] = {"search": [], "reranked": [], "agreement": []}
    for one in sample:
        state = encoder.encoder.start(one.context)
        scores = documents @ state.query()[0]
        best = np.argsort(-scores, kind="stable")[:FOUND]
        new = state.rerank(documents[best])
        orders = {
            "search": best,
            "reranked": best[np.argsort(-new, kind="stable")],
            "agreement": best[np.argsort(-expected_agreement(new, meanings[best]), kind="stable")],
        }
        right, truth = members[one.purpose], number[one.reply]
        for name, order in orders.items():
            first = order[:10].tolist()
            met = (first[0] in right, not right.isdisjoint(first), first[0] == truth, truth in first)
            found[name].append([100.0 * each for each in met])
    return {name: np.array(rows) for name, rows in found.items()}


def appropriate(folders: Sequence[str], split: str = "test") -> None:
    """Search all replies of a split; in the end, the mean of the sets and seeds."""
    runs: dict[str, list[list[Floats]]] = {"search": [], "reranked": [], "agreement": []}
    for number, folder in enumerate(folders):
        encoder = CachedEncoder(reader(folder), CACHE)
        found = [search_scores(encoder, judged_replies(name, split), number) for name in SETS]
        for name, sets in runs.items():
            sets.append([each[name] for each in found])
    figures = {
        f"{score}_{name}": float(np.mean([rows[:, column].mean() for sets in seeds for rows in sets]))
        for name, seeds in runs.items()
        for column, score in enumerate(SCORES)
    }
    gains = [
        [new - old for new, old in zip(*both, strict=True)]
        for both in zip(runs["reranked"], runs["search"], strict=True)
    ]
    # Seeds are measured on contexts of their own draw; a set's contexts are independent of another's.
    error = float(
        np.sqrt(sum(rows[:, 0].var() / len(rows) for sets in gains for rows in sets)) / (len(gains) * len(SETS))
    )
    gain = figures["appropriate_top1_reranked"] - figures["appropriate_top1_search"]
    figures |= {"appropriate_gain_low": gain - 1.96 * error, "appropriate_gain_high": gain + 1.96 * error}
    if split == "test":
        record("reranker", figures)
    else:
        print(figures)


def speed(folders: Sequence[str]) -> None:
    """Time 50 candidates after ten turns whose vectors are at hand, on one core."""
    import torch

    torch.set_num_threads(1)
    encoder = reader(folders[0])
    state = encoder.start([f"turn number {place} of a conversation about a parcel" for place in range(10)])
    replies = np.random.default_rng(0).standard_normal((FOUND, len(state.query()[0]))).astype(np.float32)
    state.rerank(replies)
    taken = []
    for _ in range(500):
        begun = time.perf_counter()
        state.rerank(replies)
        taken.append(1_000 * (time.perf_counter() - begun))
    record("reranker", {"rerank_p95_ms_50": float(np.percentile(taken, 95))})


def main(what: str, *folders: str) -> None:
    if what == "validation":
        appropriate(folders, "dev")
    else:
        {"suite": suite, "tasks": tasks, "appropriate": appropriate, "speed": speed}[what](folders)


if __name__ == "__main__":
    main(*sys.argv[1:])
