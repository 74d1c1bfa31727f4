"""Semantic retrieval: sentences of the same intent among BM25 candidates (DialogueCSE, Table 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import rows
from turnloom.benchmarks.metrics import average_precision, cosine_similarity, first_relevant_reciprocal_rank
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.corpus.catalog import get_dataset
from turnloom.runtime.scorer import BM25

CANDIDATES, MAX_POSITIVES, QUERIES, SENTENCES = 100, 30, 1_000, 6_000
PUBLISHED = "test.select"


@dataclass(frozen=True)
class Query:
    """A sentence, its candidates, and which of them have its intent."""

    text: str
    candidates: list[str]
    relevant: list[bool]


def _published(dataset: str, file: str) -> Iterator[Query]:
    """Read DialogueCSE's sets, which name candidates by id."""
    found = list(rows(dataset, file))
    texts = {row["id"]: row["text"] for row in found}
    for row in found:
        positives = [texts[name] for name in row["positives"] if name in texts]
        negatives = [texts[name] for name in row["negatives"] if name in texts]
        if positives and negatives:
            yield Query(row["text"], positives + negatives, [True] * len(positives) + [False] * len(negatives))


def _built(dataset: str, seed: int = 0) -> Iterator[Query]:
    """Apply the paper's procedure to labelled utterances: 100 candidates by BM25, at most 30 of them positive."""
    rng = np.random.default_rng(seed)
    sentences = {}
    for row in rows(dataset, "test"):
        labels = row["label"]
        if len(labels) == 1 and labels[0] != "outofdomain" and len(row["text"].split()) > 2:
            sentences[row["text"]] = f"{row['domain']}/{labels[0]}"
    texts = [list(sentences)[place] for place in rng.permutation(len(sentences))[:SENTENCES]]
    found = BM25(texts)
    for start in range(0, min(QUERIES, len(texts)), 100):
        asked = texts[start : start + 100]
        for offset, scores in enumerate(found.scores(asked)):
            scores[start + offset] = -np.inf
            best = [texts[place] for place in np.argsort(-scores, kind="stable")[: CANDIDATES + MAX_POSITIVES]]
            yield from _limited(asked[offset], best, sentences)


def _limited(text: str, best: list[str], labels: dict[str, str]) -> Iterator[Query]:
    """Yield a query with its first candidates, without positives beyond the limit; none if all or none are positive."""
    candidates: list[str] = []
    relevant: list[bool] = []
    for candidate in best:
        positive = labels[candidate] == labels[text]
        if len(candidates) < CANDIDATES and not (positive and sum(relevant) >= MAX_POSITIVES):
            candidates.append(candidate)
            relevant.append(positive)
    if any(relevant) and not all(relevant):
        yield Query(text, candidates, relevant)


def retrieval_queries(dataset: str, file: str = PUBLISHED) -> list[Query]:
    """Return the queries of a set; of DialogueCSE's sets, those in a file."""
    return list(_built(dataset) if dataset == "multidogo" else _published(dataset, file))


class SemanticRetrieval(Task):
    """Rank candidates by cosine; those with the query's intent should come first."""

    def __init__(self, dataset: str, file: str = PUBLISHED) -> None:
        self.file = file
        self.info = TaskInfo(
            name=f"retrieve-{dataset}",
            family="semantic retrieval",
            level="utterance",
            dataset=dataset,
            language=get_dataset(dataset).language,
            main_score="map",
            reference="DialogueCSE, Table 2",
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Return MAP and MRR in percent."""
        queries = retrieval_queries(self.info.dataset, self.file)
        precision, reciprocal = [], []
        for query, scores in zip(queries, self._scores(encoder, queries), strict=True):
            relevant = np.array(query.relevant)
            precision.append(average_precision(scores, relevant))
            reciprocal.append(first_relevant_reciprocal_rank(scores, relevant))
        means = {"map": 100 * float(np.mean(precision)), "mrr": 100 * float(np.mean(reciprocal))}
        return [Draw(means, 100 * np.array(precision))]

    def _scores(self, encoder: CachedEncoder, queries: list[Query]) -> Iterator[npt.NDArray[np.float64]]:
        """Yield the similarities of each query's candidates."""
        texts = list(dict.fromkeys(text for query in queries for text in (query.text, *query.candidates)))
        vectors = dict(zip(texts, encoder.encode(texts), strict=True))
        for query in queries:
            candidates = np.stack([vectors[text] for text in query.candidates])
            yield cosine_similarity(vectors[query.text][None], candidates)[0]
