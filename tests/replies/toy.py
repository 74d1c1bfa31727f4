"""A tiny deterministic encoder and small dialogue tables."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.corpus.table import TableWriter
from turnloom.runtime.protocols import Context, Vectors


class WordEncoder:
    """The sum of fixed random directions of a text's words; of a context, the last turn counts double."""

    def __init__(self, name: str = "words", dimension: int = 32) -> None:
        self.name, self.dimension = name, dimension
        self.fingerprint = f"{name}-{dimension}"
        self.languages: frozenset[str] = frozenset()
        self.has_heads = False
        self.encoded = 0

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        words = text.lower().split()
        seeds = [zlib.crc32(f"{self.name} {word}".encode()) for word in words]
        return sum(
            (np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds), np.zeros(self.dimension)
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        return np.array([self._vector(text) for text in texts], np.float32)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        return self.encode(replies)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        return self.encode([f"{self.format_context(context)} {context[-1]}" for context in contexts])

    def format_context(self, context: Context) -> str:
        return " ".join(context)


class LengthScorer:
    """Prefers long replies."""

    name = fingerprint = "length"
    languages: frozenset[str] = frozenset()

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([len(reply) for reply in replies], np.float64)


def dialogue(number: int | str, *texts: str, source: str = "chats", domains: Sequence[str] = ()) -> Dialogue:
    turns = [Turn(("customer", "agent")[place % 2], text) for place, text in enumerate(texts)]
    return Dialogue(f"d{number}", source, turns, domains=list(domains) or None)


def write_table(folder: Path, dialogues: Sequence[Dialogue]) -> Path:
    from turnloom.corpus.engine import daft

    writer = TableWriter(folder)
    writer.write(daft().from_arrow(dialogues_to_arrow(dialogues)))
    writer.finish("test", {})
    return folder


THINGS = ["lamp", "desk", "chair", "sofa", "shelf", "table", "rug", "mirror", "clock", "vase"]


def many(count: int, first: int = 0, source: str = "chats") -> list[Dialogue]:
    """Each with a reply of its own, one of ten that many share, and one that all share."""
    return [
        dialogue(
            number,
            f"where is my {THINGS[number % 10]} order {number}",
            f"Your {THINGS[number % 10]} number {number} is on its way",
            f"and what does the {THINGS[number % 10]} cost",
            f"The {THINGS[number % 10]} costs ten",
            "thanks",
            "You are welcome!",
            source=source,
        )
        for number in range(first, first + count)
    ]
