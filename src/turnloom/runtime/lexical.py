"""An encoder learned from the conversations themselves, for languages that no other encoder at hand knows.

A text is counted as runs of characters (TF-IDF), of which a truncated SVD keeps the directions along which your texts
differ most. It needs no download and reads any script. Two texts are similar if they share words or parts of words: it
knows no synonyms, and no language but that of your conversations.
"""

from __future__ import annotations

import heapq
import random
import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder
from turnloom.runtime.frozen import FrozenEncoder
from turnloom.runtime.model_folder import damage_named
from turnloom.runtime.protocols import Vectors, unit_rows
from turnloom.words import estimate_words

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

SPEC, WEIGHTS = "lexical.json", "lexical.safetensors"
LONGEST = 5
"""Runs of one to this many characters are counted; they don't cross the spaces between words."""
FEWEST_TEXTS = 2
"""In how many texts a run of characters must be."""
MOST_RUNS, MOST_TEXTS, MOST_DIRECTIONS = 30_000, 50_000, 256
AT_A_TIME = 1_024


class LexicalSpec(BaseModel):
    """What a lexical encoder counts.

    Attributes:
        version: The version of this layout.
        longest: The length of the longest runs of characters.
        runs: The runs of characters, in the order of the weights' columns.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    longest: int = Field(ge=1, le=LONGEST)
    runs: list[str] = Field(min_length=1)

    @field_validator("runs")
    @classmethod
    def _all_distinct(cls, runs: list[str]) -> list[str]:
        if len(set(runs)) < len(runs):
            raise ValueError("a run of characters is there twice")
        return runs


class LexicalEncoder(FrozenEncoder):
    """An encoder that compares texts by the words, and the parts of words, that they share.

    The last place of a vector is 1 if the text has nothing that the encoder knows, so that no vector is zero.

    Args:
        folder: The folder that `fit_lexical` wrote.
        traits: What the folder declares; see `FrozenEncoder`.

    Raises:
        TurnloomError: If a file is damaged.
    """

    def __init__(self, folder: Path, **traits: Any) -> None:
        super().__init__(**traits)
        spec = _read_spec(folder)
        rarity, self._directions = _read_weights(folder, len(spec.runs))
        self._counter = _counter(vocabulary=spec.runs, longest=spec.longest)
        self._counter.idf_ = rarity

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many words each text has."""
        return list(map(estimate_words, texts))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts, as unit vectors."""
        found = np.zeros((len(texts), len(self._directions) + 1), np.float32)
        for start in range(0, len(texts), AT_A_TIME):
            piece = slice(start, start + AT_A_TIME)
            found[piece, :-1] = self._counter.transform(texts[piece]) @ self._directions.T
        found[:, -1] = ~found.any(axis=1)
        return unit_rows(found)


def fit_lexical(texts: Iterable[str], folder: Path) -> None:
    """Learn an encoder from texts, and write it into a folder that `load_encoder` reads.

    Args:
        texts: The texts of all turns, in any order; of many, a sample is read.
        folder: The model's folder.

    Raises:
        TurnloomError: If the texts share too little, or the folder contains other files.
    """
    from safetensors.numpy import save_file
    from sklearn.utils.extmath import randomized_svd

    chance = random.Random(0)
    sample = heapq.nsmallest(MOST_TEXTS, ((chance.random(), text) for text in texts))
    distinct = list(dict.fromkeys(text for _, text in sample))
    counter = _counter(min_df=FEWEST_TEXTS, max_features=MOST_RUNS)
    try:
        counts = counter.fit_transform(distinct)
    except ValueError as error:  # No run of characters is in two texts.
        raise TurnloomError(f"{len(distinct):,} texts are too few to learn words from", "give more texts") from error
    _, _, directions = randomized_svd(counts, min(MOST_DIRECTIONS, *counts.shape), random_state=0)
    whole = WholeFolder(folder, SPEC, "a model")
    spec = LexicalSpec(longest=LONGEST, runs=counter.get_feature_names_out().tolist())
    (whole.new / SPEC).write_text(spec.model_dump_json() + "\n", encoding="utf-8")
    weights = {"rarity": counter.idf_.astype(np.float32), "directions": np.ascontiguousarray(directions, np.float32)}
    save_file(weights, whole.new / WEIGHTS)
    whole.commit()


def _counter(longest: int = LONGEST, **options: Any) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    analyzer = partial(_split_runs, longest=longest)
    return TfidfVectorizer(analyzer=analyzer, sublinear_tf=True, dtype=np.float32, **options)


def _split_runs(text: str, longest: int) -> list[str]:
    """Split a text into runs of characters, with the spaces beside words.

    Letters are the same in full or half width, as capitals or not, and composed or not.
    """
    words = [f" {word} " for word in unicodedata.normalize("NFKC", text).casefold().split()]
    return [
        word[start : start + size]
        for word in words
        for size in range(1, longest + 1)
        for start in range(len(word) - size + 1)
        if size > 1 or word[start] != " "
    ]


def _read_spec(folder: Path) -> LexicalSpec:
    try:
        return LexicalSpec.model_validate_json((folder / SPEC).read_bytes())
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{folder / SPEC} describes no encoder", "copy the model again") from error


def _read_weights(folder: Path, runs: int) -> tuple[Vectors, Vectors]:
    """Return how rare each run of characters is, and the directions of the vectors."""
    from safetensors.numpy import load_file

    with damage_named(folder):
        weights = load_file(folder / WEIGHTS)
    rarity, directions = weights.get("rarity"), weights.get("directions")
    if rarity is None or directions is None or rarity.shape != (runs,) or directions.shape[1:] != (runs,):
        raise TurnloomError(f"{folder / WEIGHTS} does not fit {SPEC} beside it", "copy both files again")
    return rarity, directions
