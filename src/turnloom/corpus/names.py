"""Names and street addresses become <NAME> and <ADDRESS>, by Presidio over a spaCy model (extra `privacy`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from turnloom.errors import TurnloomError

__all__ = ["NAME_KINDS", "scrub_names"]

NAME_KINDS = ("NAME", "ADDRESS")
_ENTITIES = {"PERSON": "NAME", "LOCATION": "ADDRESS"}
MIN_SCORE = 0.5


@cache
def _analyzer(model: str) -> Any:
    """The analyzer for a spaCy model, by name or path; loaded once a process."""
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
    except ImportError as error:
        raise TurnloomError("--names needs Presidio and spaCy", "pip install 'turnloom[privacy]'") from error
    if not (spacy.util.is_package(model) or Path(model).exists()):  # Presidio would download it.
        raise TurnloomError(f"{model} is no spaCy model", "name its folder, or one that is installed")
    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": model}]}
    engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def _scrub(text: str, model: str) -> tuple[str, list[str]]:
    found = _analyzer(model).analyze(text, language="en", entities=list(_ENTITIES), score_threshold=MIN_SCORE)
    pieces, at, kinds = [], 0, []
    for entity in sorted(found, key=lambda entity: (entity.start, -entity.end)):
        if entity.start < at or "<" in text[entity.start : entity.end]:
            continue  # Inside another one, or a placeholder that is there already.
        kind = _ENTITIES[entity.entity_type]
        pieces += [text[at : entity.start], f"<{kind}>"]
        at = entity.end
        kinds.append(kind)
    return "".join([*pieces, text[at:]]), kinds


def scrub_names(texts: pa.Array, model: str) -> tuple[pa.Array, list[list[str]]]:
    """The texts with placeholders for names and addresses, and what was replaced in each; about 2 ms a text."""
    scrubbed = [_scrub(text, model) for text in texts.to_pylist()]
    return pa.array([text for text, _ in scrubbed], texts.type), [kinds for _, kinds in scrubbed]
