"""Fuse several rankings of replies into one: by vectors, by words, by similar contexts.

A word search reads the posting list of each word. "the" occurs in a fifth of all replies and hardly changes their
order; without such words the slowest searches run several times as fast. Frequencies come from the index itself, so no
language needs a list of stop words.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import pyarrow as pa

from turnloom.errors import TurnloomError
from turnloom.replies.ann import CANDIDATES, nearest
from turnloom.replies.manifest import IndexVersion
from turnloom.replies.store import Store, answered
from turnloom.replies.suggestion import RERANK_WEIGHT, RERANKED, Conversation, Suggestion
from turnloom.replies.typical import NEAREST, agreed
from turnloom.runtime.protocols import Context, Vectors, unit_rows
from turnloom.words import UNSPACED, WORD

FUSION_CONSTANT = 60
"""The constant of reciprocal rank fusion in the paper (Cormack et al. 2009)."""
VECTORS_COUNT = 2.0
"""The weight of vectors relative to words: a question shares words with many replies that do not answer it."""
COUNTED = 20_000
"""How many replies to count words in, to know which words are rare."""
MOST_WORDS = 6
"""The most counted words to search with; together with vectors, this many find as much as all of them."""
RARITY = 0.0
"""Off by default because teams repeat good answers: at 0.1, a reply given once already beats one given 60 times."""
SPARE = 10
"""So many more replies are searched, in case the best ones tell somebody else about their case."""
Mode = Literal["hybrid", "vector", "typical", "text", "contexts", "all"]
MODES: tuple[Mode, ...] = get_args(Mode)
_LISTS = {
    "hybrid": ("vector", "text"),
    "vector": ("vector",),
    "typical": ("vector",),
    "text": ("text",),
    "contexts": ("contexts",),
    "all": ("vector", "text", "contexts"),
}
OWN_ORDER = ("text", "typical")
"""Modes whose order the encoder's own re-ranker does not change."""
_WORD = re.compile(rf"[{UNSPACED}]+|{WORD}")
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class SearchOptions:
    """How to search and order replies; see `ReplyIndex.suggest`.

    With `this_case`, replies that tell somebody else about their case come last.

    Raises:
        TurnloomError: If there is no such mode, or its scores compare the replies of one search alone.
    """

    mode: Mode | None = None
    where: str | None = None
    rarity: float = RARITY
    reranked: int = RERANKED
    rerank_weight: float = RERANK_WEIGHT
    repeats: bool = False
    this_case: bool = False
    min_score: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in (None, *MODES):
            raise TurnloomError(f"there is no mode {self.mode!r}", f"choose one of {', '.join(MODES)}")
        if self.min_score is not None and self.mode != "typical":
            raise TurnloomError("min_score needs mode typical", "other scores compare replies of one search alone")

    def limit(self, k: int, *, is_reordered: bool) -> int:
        """Return how many replies to search for `k` suggestions."""
        wanted = max(k, self.reranked) if is_reordered else k
        return max(wanted, 2 * k + SPARE) if self.this_case else wanted


def _words(text: str) -> list[str]:
    """Return the distinct words in text order; scripts without spaces give one word per run of characters."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Count in how many texts each word occurs."""
    return Counter(word for text in texts for word in _words(text))


def rarest_words(text: str, counts: Counter[str], most: int = MOST_WORDS) -> str:
    """Drop the most frequent words if a text has more than `most` counted ones.

    Words that were never counted stay: they cost almost nothing, and may be the very words that find the reply.

    Example:
        >>> counts = count_words(["the train", "the train to the end", "is it", "to the airport"])
        >>> rarest_words("is the train to the airport late", counts, 2)
        'is airport late'
    """
    words = _words(text)
    counted = sorted((word for word in words if counts[word]), key=lambda word: counts[word])
    if len(counted) <= most:
        return text
    return " ".join(word for word in words if word not in counted[most:])


def fuse(
    lists: Sequence[Sequence[Name]], weights: Sequence[float] | None = None, constant: int = FUSION_CONSTANT
) -> dict[Name, float]:
    """Reciprocal rank fusion: the weighted sum of `1 / (constant + rank)` over all lists that contain an item.

    Example:
        >>> fused = fuse([["a", "b"], ["b", "c"]])
        >>> {name: round(score, 5) for name, score in fused.items()}
        {'a': 0.01639, 'b': 0.03252, 'c': 0.01613}
    """
    scores: dict[Name, float] = {}
    for names, weight in zip(lists, weights or [1.0] * len(lists), strict=True):
        for rank, name in enumerate(names, 1):
            scores[name] = scores.get(name, 0.0) + weight / (constant + rank)
    return scores


def fusion_constant(replies: int) -> int:
    """Scale the fusion constant to the index: smaller for few replies, where every list contains nearly all of them.

    Example:
        >>> [fusion_constant(replies) for replies in (71, 500, 100_000)]
        [2, 10, 60]
    """
    return min(FUSION_CONSTANT, max(2, replies // 50))


@dataclass(slots=True)
class Hit:
    """A reply found by a search.

    Attributes:
        row: Its row in the table.
        score: The score that orders the results.
        similarity: The cosine of context and reply, if vectors were compared.
    """

    row: int
    score: float
    similarity: float | None


class Searcher:
    """Searches the tables of one finished version."""

    def __init__(self, store: Store, version: IndexVersion) -> None:
        self.version = version
        self.replies = store.open(version.replies.name, version.replies.version)
        self._reader = store.reader(version.replies.name, version.replies.version)
        has_contexts = version.contexts_ann is not None
        self._contexts = store.reader(version.occurrences.name, version.occurrences.version) if has_contexts else None

    def hits(self, context: Context, vector: Vectors | None, options: SearchOptions, limit: int) -> list[Hit]:
        """Return the best replies of a mode, weighted by rarity; `vector` may be None if the mode does not use it."""
        mode, where = options.mode or "hybrid", options.where
        words = rarest_words(context[-1], self._counts) if "text" in _LISTS[mode] else ""
        most = max(limit, CANDIDATES)
        vector = None if vector is None else unit_rows(vector[None])[0]

        async def lists() -> list[pa.Table]:
            return await asyncio.gather(*[self._list(name, words, vector, where, most) for name in _LISTS[mode]])

        try:
            found = answered(lists())
        except ValueError as error:  # LanceDB raises this for an invalid condition.
            if where is None:
                raise
            raise TurnloomError(f"the condition {where!r} is wrong ({error})".replace("\n", " "), _COLUMNS) from error
        ranked = _ranked(found, options.rarity, fusion_constant(self.version.replies.rows))
        if mode == "typical":
            least = -np.inf if options.min_score is None else options.min_score
            ranked = [hit for hit in self._typical_first(ranked, context) if hit.score >= least]
        return ranked[:limit]

    def _typical_first(self, hits: list[Hit], context: Context) -> list[Hit]:
        """Order the nearest replies by what they have in common; the others follow."""
        near, rest = hits[:NEAREST], hits[NEAREST:]
        if not near:
            return []
        rows = self._taken(near, ["text", "vector"])
        scores = agreed(
            np.array([2 * hit.score - 1 for hit in near]), _vectors(rows), rows["text"].to_pylist(), context
        )
        found = [Hit(hit.row, float(score), hit.similarity) for hit, score in zip(near, scores, strict=True)]
        found.sort(key=lambda hit: (-hit.score, hit.row))
        return found + [Hit(hit.row, found[-1].score + hit.score - near[-1].score, hit.similarity) for hit in rest]

    async def _list(self, name: str, words: str, vector: Vectors | None, where: str | None, limit: int) -> pa.Table:
        if name == "text":
            return await self._by_words(words, where, limit)
        assert vector is not None
        if name == "contexts":
            return await self._by_contexts(vector, where, limit)
        return await nearest(self._reader, vector, self.version.ann, limit=limit, columns=["weight"], where=where)

    async def _by_words(self, words: str, where: str | None, limit: int) -> pa.Table:
        from lancedb.query import MatchQuery

        query = self._reader.query().nearest_to_text(MatchQuery(words, "text"))
        query = query.where(where) if where else query
        return await query.select(["weight", "_score"]).with_row_id().limit(limit).to_arrow()

    @cached_property
    def _counts(self) -> Counter[str]:
        """Count words in a sample of replies, spread over the table."""
        rows = self.version.replies.rows
        spread = list(range(0, rows, max(1, rows // COUNTED)))
        return count_words(self.replies.take_offsets(spread).select(["text"]).to_arrow()["text"].to_pylist())

    async def _by_contexts(self, vector: Vectors, where: str | None, limit: int) -> pa.Table:
        """Return the replies to the nearest contexts, without duplicates, nearest first."""
        if self._contexts is None or self.version.contexts_ann is None:
            raise TurnloomError("this index has no contexts", "build it with --contexts")
        found = await nearest(self._contexts, vector, self.version.contexts_ann, limit=limit, columns=["reply"])
        ranks = {key: rank for rank, key in reversed(list(enumerate(found["reply"].to_pylist())))}
        wanted = f"key IN ({', '.join(map(str, ranks))})"
        condition = f"({where}) AND {wanted}" if where else wanted
        rows = await self._reader.query().where(condition).select(["key", "weight"]).with_row_id().to_arrow()
        places = np.array([ranks[key] for key in rows["key"].to_pylist()], np.int64)
        order = np.argsort(places)
        return rows.take(pa.array(order)).append_column("_context_distance", found["_distance"].take(places[order]))

    def _taken(self, hits: Sequence[Hit], columns: list[str]) -> pa.Table:
        """Return columns of hits, in their order."""
        wanted = [hit.row for hit in hits]
        taken = answered(self._reader.take_row_ids(wanted).select(columns).with_row_id().to_arrow())
        places = {row: place for place, row in enumerate(taken["_rowid"].to_pylist())}
        return taken.take(pa.array([places[row] for row in wanted])).drop_columns("_rowid")

    def rows(self, hits: Sequence[Hit], columns: list[str]) -> list[dict[str, Any]]:
        """Return the rows of hits, in their order."""
        rows: list[dict[str, Any]] = self._taken(hits, columns).to_pylist() if hits else []
        return rows

    def suggestions(self, hits: Sequence[Hit]) -> list[Suggestion]:
        """Return hits as suggestions, in their order."""
        found = []
        for hit, row in zip(hits, self.rows(hits, ["key", "text", "count", "conversations"]), strict=True):
            conversations = tuple(Conversation(**conversation) for conversation in row["conversations"])
            found.append(
                Suggestion(row["text"], hit.score, hit.score, hit.similarity, row["count"], conversations, row["key"])
            )
        return found

    def vectors(self, hits: Sequence[Hit]) -> Vectors:
        """Return the stored vectors of hits, in their order."""
        return _vectors(self._taken(hits, ["vector"]))


def _vectors(rows: pa.Table) -> Vectors:
    vectors: Vectors = rows["vector"].combine_chunks().flatten().to_numpy().reshape(len(rows), -1)
    return vectors


_COLUMNS = "it may name text, count, sources and domains, as in: count > 1 AND array_has_any(sources, ['chats'])"


def _ranked(lists: list[pa.Table], rarity: float, constant: int) -> list[Hit]:
    """Keep a single list's own scores; fuse several lists by rank, since cosines and BM25 scores do not add up."""
    columns = [found.to_pydict() for found in lists]
    weights: dict[int, float] = {}
    similarity: dict[int, float] = {}
    for column in columns:
        weights.update(zip(column["_rowid"], column["weight"], strict=True))
        if "_distance" in column:
            similarity = dict(zip(column["_rowid"], (1 - far for far in column["_distance"]), strict=True))
    own = [_own_scores(column) for column in columns]
    # Break ties by table order, so that the result does not depend on the search order.
    ordered = [sorted(each, key=lambda row: (-each[row], row)) for each in own]
    counts = [1.0 if "_score" in column else VECTORS_COUNT for column in columns]
    scores = own[0] if len(own) == 1 else fuse(ordered, counts, constant)
    hits = [Hit(row, score * weights[row] ** rarity, similarity.get(row)) for row, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.row))


def _own_scores(column: dict[str, list[Any]]) -> dict[int, float]:
    """Shift scores to be non-negative, so that a weight below one always lowers them."""
    if "_score" in column:
        return dict(zip(column["_rowid"], column["_score"], strict=True))
    distances = column.get("_distance") or column.get("_context_distance") or []
    return {row: 1 - far / 2 for row, far in zip(column["_rowid"], distances, strict=True)}
