"""Run models exported to ONNX, behind the same protocols as all others: `Encoder` and `Scorer`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import read_context_format
from turnloom.runtime.model_folder import damage_named, folder_fingerprint
from turnloom.runtime.protocols import Context, Vectors
from turnloom.runtime.trusted import check_folder, check_graph

GRAPH, SPEC = "model.onnx", "export.json"
PROCESSOR = Path("/proc/cpuinfo")
REMEMBERED = 1_024
"""How many texts' numbers of tokens are kept until the next call: a service asks for them at once."""
BATCH_TOKENS = 384
"""Tokens per batch of texts of similar length: activations then stay in a core's own cache.

With 1,024, fifty pairs of a hundred tokens take 1.2 times as long, single messages 1.07 times.
"""
Role = Literal["meaning", "query", "document"]


class ExportSpec(BaseModel):
    """The contents of an exported folder.

    Attributes:
        version: The version of this description.
        kind: Whether it is an encoder or a scorer.
        precision: The precision of its weights.
        max_length: How many tokens it reads.
        inputs: The names of the graph's inputs.
        outputs: The names of the graph's outputs; an encoder with heads has three.
        prompts: The text put before an input, by role.
        sigmoid: Whether a scorer's output goes through a sigmoid.
        languages: The languages that the model declares.
        source: The fingerprint of the model that was exported.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    kind: Literal["encoder", "scorer"]
    precision: Literal["fp32", "int8"]
    max_length: int = Field(ge=4)
    inputs: list[str]
    outputs: list[str]
    prompts: dict[str, str] = Field(default_factory=dict)
    sigmoid: bool = False
    languages: list[str] = Field(default_factory=list)
    source: str


def exported_kind(folder: Path) -> Literal["encoder", "scorer"] | None:
    """Return whether an exported folder contains an encoder or a scorer; None for any other folder."""
    return read_spec(folder).kind if (folder / SPEC).exists() else None


def has_vnni() -> bool:
    """Whether an x86 CPU has instructions that sum 8-bit products in 32 bits; outside Linux, the answer is no."""
    told = PROCESSOR.read_text(encoding="utf-8", errors="replace") if PROCESSOR.exists() else ""
    flags = re.search(r"^flags\s*:(.*)$", told, re.MULTILINE)
    return flags is not None and not {"avx512_vnni", "avx_vnni"}.isdisjoint(flags[1].split())


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_spec(folder: Path) -> ExportSpec:
    """Read the description in an exported folder."""
    path = folder / SPEC
    try:
        return ExportSpec.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise TurnloomError(f"{path} describes no export ({error.errors()[0]['msg']})", "export it again") from error


def batches_of(sizes: npt.NDArray[np.int64], tokens: int, most: int) -> list[slice]:
    """Split texts, sorted from longest to shortest, into batches of at most `tokens` tokens, padding included."""
    found, start = [], 0
    while start < len(sizes):
        end = start + min(most, max(1, tokens // max(1, int(sizes[start]))))
        found.append(slice(start, end))
        start = end
    return found


def open_graph(path: Path) -> Any:
    """Open an ONNX graph to run on the CPU, on the calling thread alone.

    Raises:
        TurnloomError: If the extra is missing, the graph reads other files, or it is damaged.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise TurnloomError(f"{path.parent} needs onnxruntime", "pip install 'turnloom[onnx]'") from error
    check_graph(path)
    options = onnxruntime.SessionOptions()
    # Each thread takes its own batches: two threads on one batch of short texts do only 1.4 times the work of one.
    options.intra_op_num_threads = 1
    # Without VNNI, products of two 8-bit pairs are summed in 16 bits and saturate, which moves scores by tenths.
    # This asks for kernels that don't; with VNNI it would only prevent its use and take three times as long.
    options.add_session_config_entry("session.x64quantprecision", "0" if has_vnni() else "1")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises a different class for each fault of a file.
        raise TurnloomError(f"{path} cannot be loaded ({error})", "export the model again") from error


class _Exported:
    """A graph and its tokenizer: the base class of exported encoders and cross-encoders."""

    def __init__(self, folder: Path, *, threads: int | None = None, batch_tokens: int = BATCH_TOKENS) -> None:
        from transformers import AutoTokenizer

        self._spec = read_spec(folder)
        check_folder(folder)
        self._graph = open_graph(folder / GRAPH)
        self._threads = threads or usable_cores()
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._batch_tokens = batch_tokens
        with damage_named(folder):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, use_fast=True, trust_remote_code=False
            )
        self._sizes: dict[str, int] = {}  # Of the texts that were computed last
        self._format = read_context_format(folder)
        self.name = folder.resolve().name
        self.fingerprint = folder_fingerprint(folder)
        # In 8 bits, too many decisions change for it to replace its model (`studies/onboarding/int8.py`).
        self.source = self._spec.source if self._spec.precision == "fp32" else None
        self.languages = frozenset(self._spec.languages)

    def _length(self, text: str) -> int:
        return len(self._tokenizer.tokenize(text))

    def _compute(self, output: str, first: Sequence[str], second: Sequence[str] | None = None) -> Vectors:
        """Compute one output of the graph for each text or pair; similar lengths share a batch."""
        tokens = self._tokenizer(
            list(first),
            None if second is None else list(second),
            truncation="longest_first",
            max_length=self._spec.max_length,
            return_token_type_ids=True,
        )
        sizes = np.array([len(ids) for ids in tokens["input_ids"]])
        self._sizes = dict(zip(first[:REMEMBERED], sizes.tolist(), strict=False)) if second is None else {}
        order = np.argsort(-sizes, kind="stable")
        share = -(-len(order) // self._threads)  # Spread even a few texts over all threads.
        batches = [order[rows] for rows in batches_of(sizes[order], self._batch_tokens, share)]

        def compute(rows: npt.NDArray[np.int64]) -> Vectors:
            vectors: Vectors = self._graph.run([output], self._batch(tokens, rows))[0]
            return vectors

        pieces = list(self._pool.map(compute, batches) if self._pool else map(compute, batches))
        vectors: Vectors = np.concatenate(pieces).astype(np.float32)
        return vectors[np.argsort(order, kind="stable")]

    def _batch(self, tokens: Any, rows: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
        width = max(len(tokens["input_ids"][row]) for row in rows)
        fillers = {"input_ids": self._tokenizer.pad_token_id}
        batch = {}
        for name in self._spec.inputs:
            filled = np.full((len(rows), width), fillers.get(name, 0), np.int64)
            for index, row in enumerate(rows):
                filled[index, : len(tokens[name][row])] = tokens[name][row]
            batch[name] = filled
        return batch


class OnnxEncoder(_Exported):
    """An exported encoder.

    Args:
        folder: The exported model's folder.
        threads: The number of threads; by default one per core.
        batch_tokens: The number of tokens per batch.
    """

    @property
    def has_heads(self) -> bool:
        """Whether the model has separate outputs for contexts and replies."""
        return "query" in self._spec.outputs

    def format_context(self, context: Context) -> str:
        """Join the turns in the model's context format; the oldest are dropped if they don't fit."""
        return self._format.apply(context, self._length, self._spec.max_length, self._tokenizer.sep_token)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""
        known = [self._sizes.get(text) for text in texts]
        missing = [text for text, size in zip(texts, known, strict=True) if size is None]
        if not missing:
            return [size for size in known if size is not None]
        tokens = self._tokenizer(missing, truncation=True, max_length=self._spec.max_length)
        counted = iter(tokens["input_ids"])
        return [len(next(counted)) if size is None else size for size in known]

    def _run(self, texts: Sequence[str], role: Role) -> Vectors:
        if not texts:
            return np.zeros((0, 0), np.float32)
        prompt = self._spec.prompts.get(role, "")
        return self._compute(role if role in self._spec.outputs else "meaning", [prompt + text for text in texts])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        return self._run(texts, "meaning")

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts."""
        return self._run([self.format_context(context) for context in contexts], "query")

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        return self._run(replies, "document")


class OnnxScorer(_Exported):
    """An exported cross-encoder.

    Args:
        folder: The exported model's folder.
        threads: The number of threads; by default one per core.
        batch_tokens: The number of tokens per batch.
    """

    @property
    def bounded(self) -> bool:
        """Whether scores are between 0 and 1."""
        return self._spec.sigmoid

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the network's output for each reply; the context leaves room for the longest reply."""
        if not replies:
            return np.zeros(0)
        separator = self._tokenizer.sep_token
        text, ends = self._format.pair(context, replies, self._length, self._spec.max_length, separator)
        # In 32 bits, scores close to 1 would tie.
        logits = self._compute("score", [text] * len(ends), ends).astype(np.float64)
        return 1 / (1 + np.exp(-logits)) if self.bounded else logits
