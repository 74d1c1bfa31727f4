"""Find, count and replace personal data in a whole table.

`patterns` finds personal data with a recognisable format or place: names in greetings and signatures, too. Presidio
with a spaCy model replaces the other names and places by <NAME> and <ADDRESS> (extra `privacy`).
`replacements` finds what patterns of one's own match, before all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.cleaning.sign_offs import without_signatures
from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.privacy.patterns import KINDS, scrub_texts, with_placeholders
from turnloom.corpus.privacy.replacements import Replacement, replace_texts
from turnloom.corpus.turn_arrays import TURNS_TYPE, join_turns, split_turns, sums, with_texts
from turnloom.errors import TurnloomError

__all__ = ["NAME_KINDS", "personal_counts", "scrub_names", "scrubbed"]

NAME_KINDS = ("NAME", "ADDRESS")
_ENTITIES = {"PERSON": "NAME", "LOCATION": "ADDRESS"}
MIN_SCORE = 0.5


@cache
def _analyzer(model: str) -> Any:
    """Load the analyzer for a spaCy model, by name or path, once per process."""
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
    except ImportError as error:
        raise TurnloomError("--names needs Presidio and spaCy", "pip install 'turnloom[privacy]'") from error
    if not (spacy.util.is_package(model) or Path(model).exists()):  # Presidio would download it.
        raise TurnloomError(f"{model} is not a spaCy model", "name its folder, or one that is installed")
    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": model}]}
    engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def _find_names(text: str, model: str) -> list[tuple[str, int, int]]:
    entities = _analyzer(model).analyze(text, language="en", entities=list(_ENTITIES), score_threshold=MIN_SCORE)
    spans: list[tuple[str, int, int]] = []
    for entity in sorted(entities, key=lambda entity: (entity.start, -entity.end)):
        nested = spans and entity.start < spans[-1][2]
        if not nested and "<" not in text[entity.start : entity.end]:  # An existing placeholder.
            spans.append((_ENTITIES[entity.entity_type], entity.start, entity.end))
    return spans


def scrub_names(texts: pa.Array, model: str) -> tuple[pa.Array, list[list[str]]]:
    """Replace names and addresses by placeholders; also return what was replaced in each text. About 2 ms per text."""
    scrubbed = [with_placeholders(text, _find_names(text, model)) for text in texts.to_pylist()]
    return pa.array([text for text, _ in scrubbed], texts.type), [kinds for _, kinds in scrubbed]


def _kinds(replacements: Sequence[Replacement]) -> tuple[str, ...]:
    """Return the types of placeholders, those of one's own last."""
    return tuple(dict.fromkeys((*KINDS, *(one.name for one in replacements))))


def scrubbed(table: Any, names_model: str | None, replacements: Sequence[Replacement] = ()) -> Any:
    """Replace personal data by placeholders, and add a column `scrubbed` that counts them by type."""
    kinds = _kinds(replacements)
    counted = pa.struct([(kind, pa.int32()) for kind in kinds])

    def change(texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        texts, own = replace_texts(texts, replacements)
        texts, found = scrub_texts(texts)
        counts = np.zeros((len(texts), len(kinds)), np.int32)
        counts[:, : len(KINDS)] = found
        for one, matches in zip(replacements, own.T, strict=True):
            counts[:, kinds.index(one.name)] += matches
        if names_model:
            texts, replaced = scrub_names(texts, names_model)
            for kind in NAME_KINDS:
                counts[:, kinds.index(kind)] += np.array([one.count(kind) for one in replaced], np.int32)
        return without_signatures(texts), counts

    def scrub(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        texts, counts = change(flat.field("text"))
        changed = join_turns(offsets, with_texts(flat, texts, lambda values: change(values)[0]))
        none = np.zeros(len(turns), np.int32)
        columns = [pa.array(sums(own, offsets).astype(np.int32) if own.any() else none) for own in counts.T]
        return [changed, pa.StructArray.from_arrays(columns, names=list(kinds))]

    return with_columns(table, {"turns": TURNS_TYPE, "scrubbed": counted}, scrub, "turns")


def personal_counts(table: Any, replacements: Sequence[Replacement] = ()) -> dict[str, int]:
    """Count the replaced personal data of a scrubbed table by type, omitting types that do not occur."""
    col, kinds = daft().col, _kinds(replacements)
    counts = table.agg(*[col("scrubbed").get(kind).sum().alias(kind) for kind in kinds]).to_pylist()[0]
    return {kind: count for kind, count in counts.items() if count}
