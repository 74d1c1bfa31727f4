"""Many replies out of the ones there are: real replies, repeated with noise in text and vector.

The base is every distinct reply of a prepared corpus, encoded once. A copy of a base reply has a mark of its own at its
end and the base's vector plus noise of a fixed length, so that copies are near each other but not the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from turnloom.corpus.engine import daft
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.corpus.table import MANIFEST, TableWriter
from turnloom.replies import ReplyOptions
from turnloom.replies.occurrences import occurrence_rows
from turnloom.runtime import Context, load_encoder
from turnloom.runtime.protocols import Vectors, unit_rows

MARK = " copy "
NOISE = 0.5
"""The length of the noise, where the vector has length 1."""
ASKED = 1_000
"""Contexts that are asked with, and given to no index."""
DIALOGUES_AT_A_TIME = 50_000


class Base:
    """The real replies and contexts, with their vectors, in a folder."""

    def __init__(self, folder: Path) -> None:
        rows = pa.ipc.open_file(pa.memory_map(str(folder / "base.arrow"))).read_all()
        self.contexts: list[list[str]] = rows["context"].to_pylist()
        self.replies: list[str] = rows["text"].to_pylist()
        self.reply_vectors: Vectors = np.load(folder / "replies.npy", mmap_mode="r")
        self.context_vectors: Vectors = np.load(folder / "contexts.npy", mmap_mode="r")

    @staticmethod
    def make(folder: Path, table: Path, model: str, limit: int) -> None:
        """Encode the distinct replies of a corpus, and the contexts they were given in."""
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "contexts.npy").exists():
            return
        rows = occurrence_rows([table], ReplyOptions(min_words=3)).select("reply", "context", "text")
        distinct = rows.distinct("reply").sort(daft().col("reply")).limit(limit).to_arrow()
        with pa.ipc.new_file(folder / "base.arrow", distinct.schema) as file:
            file.write_table(distinct)
        encoder = load_encoder(model, bf16=True)
        np.save(folder / "replies.npy", unit_rows(encoder.encode_document(distinct["text"].to_pylist())))
        contexts = distinct["context"].to_pylist()[:ASKED] + distinct["context"].to_pylist()[-ASKED:]
        np.save(folder / "contexts.npy", unit_rows(encoder.encode_query(contexts)))


class RepeatingEncoder:
    """The base's vectors by text, with noise for copies: what a real encoder would give, without its time."""

    name = fingerprint = "repeating"
    languages: frozenset[str] = frozenset()
    has_heads = True

    def __init__(self, base: Base) -> None:
        self._places = {text: place for place, text in enumerate(base.replies)}
        self._base = base
        known = [tuple(context) for context in base.contexts[:ASKED] + base.contexts[-ASKED:]]
        self._contexts = {context: place for place, context in enumerate(known)}

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        bases, seeds = zip(*map(self._base_and_copy, replies), strict=True)
        vectors = np.array(self._base.reply_vectors[list(bases)], np.float32)
        for row, seed in enumerate(seeds):
            if seed:
                noise = np.random.default_rng(seed).normal(size=vectors.shape[1])
                vectors[row] += (NOISE / np.linalg.norm(noise) * noise).astype(np.float32)
        return unit_rows(vectors)

    def _base_and_copy(self, reply: str) -> tuple[int, int]:
        """Where a reply's base is, and the number of the copy; 0 for the base itself, which may have the mark in it.

        The few turns of contexts that count as replies are no base: they lie where the first one lies.
        """
        before, _, number = reply.rpartition(MARK)
        if reply in self._places or before not in self._places or not number.isdigit():
            return self._places.get(reply, 0), 0
        return self._places[before], int(number)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        places = [self._contexts.get(tuple(context), 0) for context in contexts]
        return np.array(self._base.context_vectors[places], np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.encode_document(texts)

    def format_context(self, context: Context) -> str:
        return "\n".join(context)


def _dialogues(base: Base, size: int) -> Iterator[Dialogue]:
    """One conversation a reply; the base first, then copies until there are enough. The last contexts are kept back."""
    for number in range(size):
        place = number % len(base.replies)
        # The first contexts have vectors: the index measures its recall on them, and the study on the last ones.
        context = base.contexts[place % ASKED]
        text = base.replies[place] if number < len(base.replies) else f"{base.replies[place]}{MARK}{number}"
        turns = [Turn("user", turn) for turn in context] + [Turn("agent", text)]
        yield Dialogue(f"d{number}", "repeated", turns)


def write_corpus(base: Base, folder: Path, size: int) -> Path:
    """A dialogue table with so many distinct replies."""
    if (folder / MANIFEST).exists():
        return folder
    writer, dialogues = TableWriter(folder), _dialogues(base, size)
    while piece := list(islice(dialogues, DIALOGUES_AT_A_TIME)):
        writer.write(daft().from_arrow(dialogues_to_arrow(piece)))
    writer.finish("studies.applications.replies_corpus", {})
    return folder
