"""Measure how often a search finds the real reply, with and without re-ranking."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from turnloom.corpus.engine import daft, frugally
from turnloom.errors import TurnloomError
from turnloom.replies.index import ReplyIndex
from turnloom.replies.occurrences import occurrence_rows, tables_of
from turnloom.replies.search import OWN_ORDER, RARITY, Mode, SearchOptions
from turnloom.replies.suggestion import RERANK_WEIGHT, RERANKED, Suggestion, in_final_order, own_reranker

DEPTH = 10


class ReplyScores(BaseModel):
    """Reply search scores, in percent of contexts.

    Attributes:
        contexts: The number of contexts searched with.
        in_index: How often the index contains the real reply: the upper bound of every score.
        top1: How often the search ranks the real reply first.
        top10: How often the search ranks it in the top ten.
        rerank_top1: How often it comes first after re-ranking; None without a re-ranker.
        rerank_top10: How often it is in the top ten after re-ranking.
        milliseconds: The median time of a search, without encoding and re-ranking.
    """

    contexts: int
    in_index: float
    top1: float
    top10: float
    rerank_top1: float | None = None
    rerank_top10: float | None = None
    milliseconds: float


def sample_contexts(tables: Sequence[Path], index: ReplyIndex, limit: int) -> pa.Table:
    """Sample contexts with their real replies: a fixed sample, spread over all conversations."""
    col = daft().col
    with frugally():
        rows = occurrence_rows(tables, index.options).select("occurrence", "reply", "context", "text")
        found = rows.sort(col("occurrence")).limit(limit).to_arrow()
    if not len(found):
        raise TurnloomError(f"{tables[0]} holds no replies", "name the speakers who answer, or take everyone's")
    return found


def _rank(suggestions: Sequence[Suggestion], key: int) -> int:
    keys = [suggestion.key for suggestion in suggestions]
    return keys.index(key) if key in keys else len(keys) + DEPTH


def _percent(ranks: Sequence[int], depth: int) -> float:
    return 100 * float(np.mean(np.array(ranks) < depth))


def evaluate_replies(
    index: ReplyIndex,
    tables: Path | str | Sequence[Path | str],
    *,
    limit: int = 1_000,
    mode: Mode = "hybrid",
    where: str | None = None,
    rarity: float = RARITY,
    reranked: int = RERANKED,
    rerank_weight: float = RERANK_WEIGHT,
    repeats: bool = False,
    on_context: Callable[[int, int], None] = lambda _done, _total: None,
) -> ReplyScores:
    """Search with contexts of real conversations, and measure where the real reply ranks.

    A reply matches if its text is equal up to case and white space. To measure the search rather than how often people
    repeat themselves, index the replies of the same conversations.

    Args:
        index: The index with its encoder and, optionally, a re-ranker.
        tables: One or more dialogue table folders, with conversations that the models were not trained on.
        limit: The maximum number of contexts.
        mode: What to compare, as for `ReplyIndex.suggest`.
        where: A filter in SQL, as for `ReplyIndex.suggest`.
        rarity: How much to down-weight frequent replies.
        reranked: How many of the best replies to re-rank.
        rerank_weight: The re-ranker's weight, from 0 to 1.
        repeats: Whether a reply may repeat a turn of the context.
        on_context: Called with the number of contexts done and the total.

    Raises:
        TurnloomError: If the tables contain no replies, or contexts would be compared with themselves.
    """
    if mode in ("contexts", "all"):
        raise TurnloomError(
            f"mode {mode!r} would find the contexts that it is asked with",
            "evaluate with hybrid, vector, typical or text",
        )
    asked = sample_contexts(tables_of(tables), index, limit)
    contexts, keys = asked["context"].to_pylist(), asked["reply"].to_pylist()
    vectors = index.encoder.encode_query(contexts) if index.encoder is not None and mode != "text" else None
    plain = ReplyIndex(index.folder, index.encoder, version=index.version.number)
    options = SearchOptions(mode, where, rarity, repeats=repeats)
    ranks, reranks, seconds = [], [], []
    reader = None if index.scorer is not None or not rerank_weight or mode in OWN_ORDER else own_reranker(index.encoder)
    depth = max(DEPTH, reranked) if index.scorer is not None or reader is not None else DEPTH
    for number, (context, key) in enumerate(zip(contexts, keys, strict=True)):
        vector = None if vectors is None else vectors[number]
        start = time.perf_counter()
        found = plain.suggest_for(context, vector, depth, options)
        seconds.append(time.perf_counter() - start)
        ranks.append(_rank(found, key))
        if index.scorer is not None:
            there = ranks[-1] < len(found)  # If the search did not find it, re-ranking cannot either.
            better = in_final_order(index.scorer, context, found, rerank_weight) if there else []
            reranks.append(_rank(better, key))
        elif reader is not None:
            found = index.suggest_for(context, vector, depth, options, reader.start(context))
            reranks.append(_rank(found, key))
        on_context(number + 1, len(contexts))
    held = index.known_keys(keys)
    return ReplyScores(
        contexts=len(contexts),
        in_index=100 * float(np.mean(np.asarray(pc.is_in(asked["reply"].combine_chunks(), held)))),
        top1=_percent(ranks, 1),
        top10=_percent(ranks, DEPTH),
        rerank_top1=_percent(reranks, 1) if reranks else None,
        rerank_top10=_percent(reranks, DEPTH) if reranks else None,
        milliseconds=1_000 * float(np.median(seconds)),
    )
