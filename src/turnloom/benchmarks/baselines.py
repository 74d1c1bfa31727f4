"""Baselines that need no training: static word embeddings, TF-IDF, whitening, other poolings, BM25."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from turnloom.benchmarks.task import Task, TaskInfo
from turnloom.benchmarks.tasks.appropriate_reply import BLOCK, AppropriateReply
from turnloom.benchmarks.tasks.reranking import Reranking
from turnloom.benchmarks.tasks.response_selection import ResponseSelection, Selection
from turnloom.benchmarks.tasks.retrieval import Query, SemanticRetrieval
from turnloom.corpus.catalog import get_dataset
from turnloom.errors import TurnloomError
from turnloom.runtime.encoder import SentenceTransformerEncoder, load_encoder
from turnloom.runtime.model_folder import no_progress_bars
from turnloom.runtime.object_encoder import ObjectEncoder
from turnloom.runtime.protocols import Context, Encoder, Vectors, turn_encoder
from turnloom.runtime.scorer import BM25

TRAINING_TEXTS = 20_000


def training_texts(count: int = TRAINING_TEXTS) -> list[str]:
    """Return distinct turns of SGD's training split, to fit baselines without text of any test set."""
    from turnloom.benchmarks.data import turns_of

    texts: dict[str, None] = {}
    for dialogue in turns_of("sgd", get_dataset("sgd").splits["train"][0]):
        texts.update(dict.fromkeys(text for _, text in dialogue))
        if len(texts) >= count:
            break
    return list(texts)[:count]


class StaticWords:
    """The mean of a model's input embeddings, which ignore the words around them."""

    languages = ("en",)

    def __init__(self, folder: Path) -> None:
        base = turn_encoder(load_encoder(folder))
        assert isinstance(base, SentenceTransformerEncoder)
        self.name = "static"
        self.fingerprint = f"static-{base.fingerprint}"
        self._tokenizer: Any = base.model.tokenizer
        transformer: Any = base.model[0]
        self._table = transformer.auto_model.get_input_embeddings().weight.detach().cpu().numpy()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's word pieces, without special tokens."""
        ids = self._tokenizer(list(texts), add_special_tokens=False, truncation=True, max_length=256)["input_ids"]
        empty = np.zeros(self._table.shape[1], np.float32)
        return np.stack([self._table[row].mean(axis=0) if row else empty for row in ids])


class TfIdf:
    """Hashed words, weighted by their rarity in training text."""

    name = "tfidf"
    languages = ("en",)

    def __init__(self, texts: Sequence[str], features: int = 2_048) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

        self.fingerprint = f"tfidf-{features}-{hashlib.sha256(repr(list(texts)).encode()).hexdigest()[:16]}"
        self._words = HashingVectorizer(n_features=features, alternate_sign=False, norm=None, token_pattern=r"(?u)\w+")
        self._weights = TfidfTransformer(sublinear_tf=True).fit(self._words.transform(texts))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return a weight for each hashed word."""
        return np.asarray(self._weights.transform(self._words.transform(texts)).toarray(), np.float32)


class Whitening:
    """BERT-whitening (Su et al., 2021): centre and decorrelate vectors by the statistics of training text."""

    def __init__(self, base: Encoder, texts: Sequence[str]) -> None:
        self.name = "whitening"
        self.fingerprint = f"whitening-{base.fingerprint}-{hashlib.sha256(repr(list(texts)).encode()).hexdigest()[:16]}"
        self.languages = tuple(base.languages) or ("en",)
        self._base = base
        vectors = np.asarray(base.encode(texts), np.float64)
        self._mean = vectors.mean(axis=0)
        values, axes = np.linalg.eigh(np.cov((vectors - self._mean).T))
        self._turn = axes / np.sqrt(np.maximum(values, 1e-10))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return whitened vectors."""
        return np.asarray((self._base.encode(texts) - self._mean) @ self._turn, np.float32)

    def format_context(self, context: Sequence[str]) -> str:
        """Return a context as the text that the model underneath reads."""
        return self._base.format_context(context)


def _pooled(folder: Path, mode: str, bf16: bool) -> Encoder:
    """Load a model with a different pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    own = load_encoder(folder)
    with no_progress_bars():
        transformer = Transformer(str(folder), max_seq_length=256)
    model = SentenceTransformer(modules=[transformer, Pooling(transformer.get_embedding_dimension(), mode)])
    return SentenceTransformerEncoder(
        model, name=f"{mode}-{own.name}", fingerprint=f"{mode}-{own.fingerprint}", languages=own.languages, bf16=bf16
    )


BASELINES = ("static", "whitening", "cls", "mean", "tfidf", "bm25")


def baseline(kind: str, folder: Path | None, *, bf16: bool = False) -> Encoder:
    """Return a baseline by name; all but TF-IDF need a model's folder."""
    if kind == "tfidf":
        return ObjectEncoder(TfIdf(training_texts()))
    if folder is None:
        raise TurnloomError(f"the baseline {kind!r} needs a model", f"write it as {kind}:FOLDER")
    if kind == "static":
        return ObjectEncoder(StaticWords(folder))
    if kind == "whitening":
        return ObjectEncoder(Whitening(load_encoder(folder, bf16=bf16), training_texts()))
    if kind in ("cls", "mean"):
        return _pooled(folder, kind, bf16)
    raise TurnloomError(f"there is no baseline {kind!r}", f"choose one of {', '.join(BASELINES)}")


class BM25Scorer:
    """Score replies by the words they share with the context; word statistics come from the same replies."""

    name = fingerprint = "bm25"
    languages = frozenset({"en"})

    def score(self, context: Context, replies: Sequence[str]) -> Any:
        """Return the BM25 score of each reply."""
        return BM25(list(replies)).scores([" ".join(context)])[0]


class _LexicalSelection(ResponseSelection):
    """Response selection by BM25 instead of vectors."""

    lexical = True

    def _encode_all(self, encoder: Any, pairs: list[Selection]) -> None:
        """Do nothing: there is nothing to encode."""

    def _similarities(self, encoder: Any, block: list[Selection], replies: list[str]) -> Any:  # noqa: ARG002
        return BM25(replies).scores([" ".join(pair.context) for pair in block])


class _LexicalRetrieval(SemanticRetrieval):
    """Semantic retrieval by BM25 instead of vectors, with word statistics over all candidates."""

    lexical = True

    def _scores(self, encoder: Any, queries: list[Query]) -> Iterator[Any]:  # noqa: ARG002
        texts = list(dict.fromkeys(text for query in queries for text in query.candidates))
        number = {text: place for place, text in enumerate(texts)}
        found = BM25(texts)
        for query in queries:
            yield found.scores([query.text])[0][[number[text] for text in query.candidates]]


class _LexicalAppropriateReply(AppropriateReply):
    """Appropriate replies by BM25 instead of vectors, with word statistics over all replies.

    The query is the last turn alone: the words of all turns match what was said before, and find a right reply 2.5
    and 12 times less often on the validation splits of SGD and MultiWOZ.
    """

    lexical = True

    def _scores(self, encoder: Any, contexts: list[tuple[str, ...]], replies: list[str]) -> Iterator[Any]:  # noqa: ARG002
        found = BM25(replies)
        for start in range(0, len(contexts), BLOCK):
            yield from found.scores([context[-1] for context in contexts[start : start + BLOCK]])


def lexical_tasks(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that BM25 can do, in their BM25 versions."""
    found: list[Task] = []
    for task in tasks:
        info: TaskInfo = task.info
        if isinstance(task, ResponseSelection) and task.space == "plain":
            found.append(_LexicalSelection(info.dataset, task.turns, pairs=task.pairs if info.own_data else None))
        elif isinstance(task, AppropriateReply) and task.space == "plain":
            found.append(_LexicalAppropriateReply(info.dataset, replies=task.replies if info.own_data else None))
        elif isinstance(task, Reranking):
            found.append(task)
        elif isinstance(task, SemanticRetrieval) and info.language == "en":
            found.append(_LexicalRetrieval(info.dataset))
    return found
