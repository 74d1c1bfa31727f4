"""Short chats of an encoder's own words: corpora of which two layers can encode millions of turns."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sentence_transformers import SentenceTransformer

from studies.corpus.generate import COMMON, Generator, generate
from turnloom.runtime.export import export_model

LAYERS = 2
PHRASES = 60_000
SHORTEST, LONGEST = 2, 4
"""Words of half a turn: a turn has about six words and eight tokens, a real one of the training corpus 15 tokens."""


class ChatGenerator(Generator):
    """The generated corpus of `studies.corpus`, with turns of a few words that the tokenizer has whole.

    Repeats, copies and personal data are distributed as there; about 60 % of turns have a text of their own.
    """

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.first, self.second = self._phrases(words), self._phrases(words)
        self.common = pc.binary_join_element_wise(self.first, self.second, " ").slice(0, COMMON)

    def _phrases(self, words: list[str]) -> pa.Array:
        drawn = np.array(words)[self.rng.integers(0, len(words), (PHRASES, LONGEST))]
        lengths = self.rng.integers(SHORTEST, LONGEST + 1, PHRASES)
        return pa.array([" ".join(row[:length]) for row, length in zip(drawn, lengths, strict=True)])


def words_of(model: Path) -> list[str]:
    """The words of a tokenizer that are longer than a letter and have no special signs."""
    vocabulary = SentenceTransformer(str(model), device="cpu").tokenizer.get_vocab()
    return sorted(word for word in vocabulary if len(word) > 1 and word.isascii() and word.isalpha())


def chats(folder: Path, model: Path, turns: int) -> Path:
    """A table of about so many turns, made unless it is there."""
    table = folder / f"chats-{turns}"
    if not (table / "manifest.json").exists():
        generate(turns, table, ChatGenerator(words_of(model)))
    return table


def two_layers(folder: Path, base: Path) -> Path:
    """A base model's embeddings and first two layers, made unless they are there: fast, and of no use otherwise."""
    out = folder / "two-layers"
    if not (out / "modules.json").exists():
        shutil.rmtree(out, ignore_errors=True)
        model = SentenceTransformer(str(base), device="cpu")
        network: Any = model[0].auto_model
        network.encoder.layer = network.encoder.layer[:LAYERS]
        network.config.num_hidden_layers = LAYERS
        model.save(str(out))
    return out


def in_8_bits(model: Path) -> Path:
    """The model's export in 8 bits."""
    out = model.with_name(f"{model.name}-int8")
    if not (out / "export.json").exists():
        export_model(model, out, int8=True)
    return out
