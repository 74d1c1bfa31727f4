"""Recall, latency, memory and build time of an index at 10 thousand, 100 thousand and a million replies.

Beside them bare LanceDB with the same table and parameters. Every measurement has a process of its own. Times are
without encoding: vectors are looked up (see replies_corpus). Recall is the part of the true ten nearest replies, for
contexts that are in no index.

Usage: python -m studies.applications.replies_scale MODEL CORPUS FOLDER [SIZE ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from studies.applications.replies_corpus import ASKED, Base, RepeatingEncoder, write_corpus
from studies.lib.figures import STUDIES, record
from studies.lib.memory import GIB, kibibytes
from turnloom.replies import ReplyIndex
from turnloom.replies.ann import CANDIDATES, exact_neighbours
from turnloom.replies.search import SearchOptions
from turnloom.runtime.protocols import Vectors

SIZES = (10_000, 100_000, 1_000_000)
BASE = 300_000
QUERIES, WARM_UP, REPEATS = 500, 50, 3
CURVE = STUDIES / "applications" / "replies_curve.json"


def _asked(base: Base) -> tuple[list[list[str]], Vectors]:
    return base.contexts[-QUERIES:], np.array(base.context_vectors[ASKED:][-QUERIES:], np.float32)


def build(folder: Path, size: int) -> dict[str, float]:
    base = Base(folder)
    table = write_corpus(base, folder / f"table-{size}", size)
    encoder = RepeatingEncoder(base)
    start = time.perf_counter()
    index = ReplyIndex.build(table, folder / f"index-{size}", encoder)
    plan = index.version.ann
    return {
        "build_minutes": (time.perf_counter() - start) / 60,
        "build_gib": kibibytes("VmHWM") / GIB,
        "replies": len(index),
        "partitions": plan.partitions,
        "nprobes": plan.nprobes,
        "recall_on_own_contexts": plan.recall or 0.0,
    }


def truth(folder: Path, size: int) -> dict[str, float]:
    """The true nearest replies of the contexts that are asked with, for `search` to compare with."""
    _, queries = _asked(Base(folder))
    rows = ReplyIndex(folder / f"index-{size}")._searcher.replies.search().select(["key", "vector"])
    np.save(folder / f"truth-{size}.npy", exact_neighbours(rows.to_batches(16_384), queries))
    return {}


def _timed(call: Any, count: int) -> list[float]:
    """Milliseconds of each call, after some that do not count."""
    for place in range(WARM_UP):
        call(place % count)
    times = []
    for place in range(count):
        start = time.perf_counter()
        call(place)
        times.append(1_000 * (time.perf_counter() - start))
    return times


def search(folder: Path, size: int) -> dict[str, float]:
    contexts, queries = _asked(Base(folder))
    index = ReplyIndex(folder / f"index-{size}")
    true = np.load(folder / f"truth-{size}.npy")
    hits = []
    for context, query, keys in zip(contexts, queries, true, strict=True):
        found = index.suggest_for(context, query, 10, SearchOptions("vector", rarity=0))
        hits.append(len({suggestion.key for suggestion in found} & set(keys.tolist())) / 10)
    figures = {"recall_at_10": float(np.mean(hits))}
    for mode in ("hybrid", "vector"):
        times = _timed(
            lambda place, mode=mode: index.suggest_for(contexts[place], queries[place], 10, SearchOptions(mode)),
            QUERIES,
        )
        figures |= {f"{mode}_p50_ms": float(np.median(times)), f"{mode}_p95_ms": float(np.percentile(times, 95))}
    return {**figures, "search_gib": kibibytes("VmHWM") / GIB}


def bare(folder: Path, size: int) -> dict[str, float]:
    """Our hybrid search and LanceDB's own, of the same table, index, candidates, filter and columns, in turns."""
    from lancedb.query import MatchQuery
    from lancedb.rerankers import RRFReranker

    contexts, queries = _asked(Base(folder))
    index = ReplyIndex(folder / f"index-{size}")
    table, plan = index._searcher.replies, index.version.ann
    columns = ["key", "text", "count", "conversations"]
    reranker = RRFReranker()

    def ours(place: int) -> object:
        return index.suggest_for(contexts[place], queries[place], 10)

    def theirs(place: int) -> object:
        query = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        query = query.vector(queries[place]).text(MatchQuery(contexts[place][-1], "text")).distance_type("cosine")
        if plan.kind == "ivf_pq":
            query = query.nprobes(plan.nprobes).refine_factor(1)
        return query.rerank(reranker).select(columns).limit(CANDIDATES).to_arrow().slice(0, 10).to_pylist()

    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(REPEATS):
        times["ours"].append(float(np.median(_timed(ours, QUERIES))))
        times["theirs"].append(float(np.median(_timed(theirs, QUERIES))))
    return {
        "speed_ratio_to_bare": float(np.median(times["theirs"]) / np.median(times["ours"])),
        "bare_p50_ms": float(np.median(times["theirs"])),
    }


STEPS = {"build": build, "truth": truth, "search": search, "bare": bare}


def in_fresh_process(step: str, folder: Path, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "studies.applications.replies_scale", "--step", step, str(folder), str(size)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(printed.strip().splitlines()[-1])
    return found


def main(model: str, corpus: Path, folder: Path, sizes: tuple[int, ...] = SIZES, most: int = BASE) -> None:
    command = [sys.executable, "-m", "studies.applications.replies_scale", "--base", model]
    subprocess.run([*command, str(corpus), str(folder), str(most)], check=True)
    curve: dict[str, dict[str, float]] = json.loads(CURVE.read_text()) if CURVE.exists() else {}
    for size in sizes:
        figures: dict[str, float] = {}
        for step in STEPS:
            figures |= in_fresh_process(step, folder, size)
            print(size, step, figures, flush=True)
        curve[str(size)] = figures
        CURVE.write_text(json.dumps(curve, indent=2) + "\n")
        if size == SIZES[-1]:
            record(
                "applications",
                {
                    "replies_1m_recall_at_10": figures["recall_at_10"],
                    "replies_1m_p95_ms": figures["hybrid_p95_ms"],
                    "replies_1m_build_minutes": figures["build_minutes"],
                    "replies_1m_build_gib": figures["build_gib"],
                    "replies_1m_search_gib": figures["search_gib"],
                    "search_speed_ratio_to_bare_lancedb": figures["speed_ratio_to_bare"],
                },
            )


if __name__ == "__main__":
    if sys.argv[1] == "--step":
        print(json.dumps(STEPS[sys.argv[2]](Path(sys.argv[3]), int(sys.argv[4]))))
    elif sys.argv[1] == "--base":
        Base.make(Path(sys.argv[4]), Path(sys.argv[3]), sys.argv[2], int(sys.argv[5]))
    else:
        chosen = tuple(int(size) for size in sys.argv[4:]) or SIZES
        main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), chosen, min(BASE, max(chosen)))
