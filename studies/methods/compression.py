"""Semantic compression: the weight of templates from the validation split, then one look at the test split.

Usage: TURNLOOM_DATA=... python -m studies.methods.compression MODEL PIPELINE

Nearest neighbours (k = 1) over the train split, for SNIPS and ATIS, with templates from a tagger as in use, and with
annotated ones.
"""

from __future__ import annotations

import sys

import numpy as np
from sentence_transformers import SentenceTransformer

from studies.lib.figures import record
from turnloom.benchmarks.data import rows
from turnloom.corpus.tagging import Tagged, Tagger, read_bio, spacy_tagger
from turnloom.runtime import SemanticCompression, choose_weight
from turnloom.runtime.compression import mixed
from turnloom.runtime.protocols import Vectors
from turnloom.views.templates import templater

SPLITS = ("train", "valid", "test")


Parts = dict[str, tuple[Vectors, Vectors]]


def accuracy(parts: Parts, labels: dict[str, list[str]], split: str, weight: float) -> float:
    """Of nearest neighbours, in percent."""
    known, asked = mixed(*parts["train"], weight), mixed(*parts[split], weight)
    nearest = (asked @ known.T).argmax(1)
    return 100 * float(
        np.mean([labels["train"][place] == label for place, label in zip(nearest, labels[split], strict=True)])
    )


def measure(model: SentenceTransformer, name: str, kind: str, tagger: Tagger | None) -> dict[str, float]:
    """The figures of one set with one way to find templates."""
    said = {
        split: [(read_bio(row["text"], row["slots"]), row["label"]) for row in rows(name, split)] for split in SPLITS
    }
    annotated: dict[str, Tagged] = {tagged.text: tagged for split in SPLITS for tagged, _ in said[split]}
    found = tagger or (lambda texts: [annotated[text].slots for text in texts])
    wrapped = SemanticCompression(model, templater(found), 0.5)
    parts = {split: wrapped.parts([tagged.text for tagged, _ in said[split]]) for split in SPLITS}
    labels = {split: [label for _, label in said[split]] for split in SPLITS}
    weight, scores = choose_weight(lambda one: accuracy(parts, labels, "valid", one))
    prefix = f"compression.{name}.{kind}"
    return {
        f"{prefix}.weight": weight,
        f"{prefix}.validation": scores[weight],
        f"{prefix}.validation_uncompressed": scores[0.0],
        f"{prefix}.test": accuracy(parts, labels, "test", weight),
        f"{prefix}.test_uncompressed": accuracy(parts, labels, "test", 0.0),
    }


def main(folder: str, pipeline: str) -> None:
    model = SentenceTransformer(folder)
    for name in ("snips", "atis"):
        for kind, tagger in (("tagger", spacy_tagger(pipeline)), ("annotated", None)):
            record("methods", measure(model, name, kind, tagger))


if __name__ == "__main__":
    main(*sys.argv[1:])
