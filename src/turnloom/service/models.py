"""Models behind their queues: as coroutines for the service, and as `Encoder` and `Scorer` for other code."""

from __future__ import annotations

import asyncio
import copy
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.conversation_folder import with_conversation
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.onnx_backend import OnnxEncoder, OnnxScorer, exported_kind
from turnloom.runtime.protocols import Context, Encoder, Scorer, Vectors, source_of, turn_encoder
from turnloom.service.admission import current_work
from turnloom.service.batching import Batcher, BatchObserver
from turnloom.service.config import Batching, ServedModel
from turnloom.words import estimate_words

CHARACTERS_PER_TOKEN = 4
PIECE = 16
"""Texts per submission of background work, and replies that are scored together: others run in between."""
LONGEST = 512
"""The most tokens that a text counts as; models read no more."""
LAST_TURNS = 64
"""The most turns of a conversation that count; conversation encoders read no more."""


def text_tokens(text: str) -> int:
    """Estimate the tokens that a model reads of a text."""
    return min(len(text) // CHARACTERS_PER_TOKEN + 2, LONGEST)


def context_tokens(context: Context) -> int:
    """Estimate the tokens that a model reads of a conversation."""
    return min(sum(map(text_tokens, context)), LONGEST)


def conversation_tokens(turns: Context) -> int:
    """Estimate the tokens that a conversation encoder reads, which encodes each turn."""
    return sum(map(text_tokens, turns[-LAST_TURNS:]))


def open_encoder(served: ServedModel) -> Encoder:
    """Load the encoder of a folder with this many threads."""
    if exported_kind(served.path) == "encoder":
        return with_conversation(served.path, OnnxEncoder(served.path, threads=served.threads))
    _set_torch_threads(served.threads)
    return load_encoder(served.path)


def open_scorer(served: ServedModel) -> Scorer:
    """Load the cross-encoder of a folder with this many threads."""
    if exported_kind(served.path) == "scorer":
        return OnnxScorer(served.path, threads=served.threads)
    from turnloom.runtime.scorer import load_scorer

    _set_torch_threads(served.threads)
    return load_scorer(Path(served.path))


def _set_torch_threads(threads: int | None) -> None:
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


class QueuedEncoder:
    """An encoder that only its queue's thread uses, since tokenizers and models need not be thread-safe.

    `name` is the name for clients. A calling thread waits up to `timeout` seconds for vectors.
    """

    def __init__(self, encoder: Encoder, name: str, options: Batching, observer: BatchObserver, timeout: float) -> None:
        self._encoder, self._timeout = encoder, timeout
        self.batcher = Batcher(name, self._run, options, observer)
        self.name = name
        self.fingerprint = encoder.fingerprint
        self.source = source_of(encoder)
        self.languages = encoder.languages
        self.has_heads = encoder.has_heads
        self.dimension = int(self.encode_document(["turnloom"]).shape[1])
        below = turn_encoder(encoder)
        self.turns = self
        if below is not encoder:  # The same queue, known by the model whose vectors for meaning it gives.
            self.turns = copy.copy(self)
            self.turns.turns = self.turns
            self.turns.fingerprint, self.turns.source = below.fingerprint, source_of(below)
        self.conversation = encoder.over(self.turns) if isinstance(encoder, ConversationEncoder) else None

    def _run(self, output: str, asked: list[tuple[Any, bool]]) -> Sequence[Any]:
        encoder, items = self._encoder, [item for item, _ in asked]
        if output == "format":
            return [encoder.format_context(context) for context in items]
        if output == "count":
            return self._counts("query", [(item, True) for item in items])
        encode: dict[str, Callable[[list[Any]], Vectors]] = {
            "meaning": encoder.encode,
            "query": encoder.encode_query,
            "document": encoder.encode_document,
        }
        return list(zip(encode[output](items), self._counts(output, asked), strict=True))

    def _counts(self, output: str, asked: list[tuple[Any, bool]]) -> list[int]:
        """Count the tokens of each item if wanted; this runs the tokenizer again."""
        items = [item for item, wanted in asked if wanted]
        texts = [self._encoder.format_context(item) for item in items] if output == "query" else items
        count = getattr(self._encoder, "count_tokens", None)
        counts = iter(count(texts) if count and texts else [estimate_words(text) for text in texts])
        return [next(counts) if wanted else 0 for _, wanted in asked]

    def _submit(self, output: str, items: Sequence[Any], *, count: bool = False) -> Future[list[Any]]:
        size = context_tokens if output in ("format", "count", "query") else text_tokens
        return self.batcher.submit(output, [(item, count) for item in items], [size(item) for item in items])

    async def vectors(self, output: str, items: Sequence[Any]) -> tuple[Vectors, int]:
        """Encode texts ("meaning", "document") or contexts ("query"); also return the number of tokens read.

        Cancelling it drops what is still queued.
        """
        if output == "query" and self.conversation is not None and (work := current_work()) is not None:
            # Its turns wait in the queue one by one, so that a long conversation is split like a long request.
            queries = await work.run(self.conversation.encode_query, items)
            counts: list[int] = await asyncio.wrap_future(self._submit("count", items))
            return queries, sum(counts)
        rows = await asyncio.wrap_future(self._submit(output, items, count=True))
        return np.stack([vector for vector, _ in rows]), sum(tokens for _, tokens in rows)

    def _wait(self, output: str, items: Sequence[Any]) -> Vectors:
        rows = self._submit(output, items).result(self._timeout)
        return np.stack([vector for vector, _ in rows]) if rows else np.zeros((0, 1), np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts by meaning."""
        return self._wait("meaning", texts)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Encode contexts."""
        return self.conversation.encode_query(contexts) if self.conversation else self._wait("query", contexts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Encode replies."""
        return self._wait("document", replies)

    def format_context(self, context: Context) -> str:
        """Format a context as the text that the model reads."""
        return str(self._submit("format", [context]).result(self._timeout)[0])


class PatientEncoder(QueuedEncoder):
    """The same encoder and queue for background work, in small submissions."""

    def __init__(self, encoder: QueuedEncoder) -> None:
        self.__dict__.update(encoder.__dict__)

    def _wait(self, output: str, items: Sequence[Any]) -> Vectors:
        wait = super()._wait
        pieces = [wait(output, items[start : start + PIECE]) for start in range(0, len(items), PIECE)]
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *pieces])


class QueuedScorer:
    """A cross-encoder that only its queue's thread uses; see `QueuedEncoder`."""

    def __init__(self, scorer: Scorer, name: str, options: Batching, observer: BatchObserver, timeout: float) -> None:
        self._scorer, self._timeout = scorer, timeout
        self.batcher = Batcher(name, self._run, options, observer)
        self.name = name
        self.fingerprint = scorer.fingerprint
        self.languages = scorer.languages
        self.bounded = bool(getattr(scorer, "bounded", False))

    def _run(self, _output: str, items: list[Any]) -> Sequence[Any]:
        return [self._scorer.score(context, replies) for context, replies in items]

    def _submit(self, context: Context, replies: Sequence[str]) -> Future[list[Any]]:
        shared = context_tokens(context)
        pieces = [list(replies[start : start + PIECE]) for start in range(0, len(replies), PIECE)]
        sizes = [sum(min(shared + text_tokens(reply), LONGEST) for reply in piece) for piece in pieces]
        return self.batcher.submit("score", [(list(context), piece) for piece in pieces], sizes)

    async def scores(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score how well each reply fits; cancelling it drops what is still queued."""
        return _joined(await asyncio.wrap_future(self._submit(context, replies)))

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score how well each reply fits."""
        return _joined(self._submit(context, replies).result(self._timeout))


def _joined(scores: list[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(list(itertools.chain.from_iterable(scores)), np.float64)
