"""Measure intents from 0 to 10 examples, with and without names and pools.

Usage: TURNLOOM_DATA=... python -m studies.intents.measure {validation|test|held-out|airline} [--draws N]
           [--cache FOLDER] [--shots 0,1,5] [--only SET] [--pools clean,zipf]

Settings were chosen on `validation`; `test` was run once, afterwards. Cells that are in results.json are skipped.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.intents.sets import HELD_OUT_SETS, POOLS, IntentSet, Split, draw_pool, read_airline, read_set
from studies.lib.results import Results
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.metrics import detection_scores
from turnloom.benchmarks.suites import INTENTS
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports
from turnloom.intents.evidence import Evidence
from turnloom.intents.examples import Examples, embed
from turnloom.intents.fitted import Fitted, Options, Unlabelled, fit
from turnloom.intents.inputs import encode_names
from turnloom.intents.names import label_words
from turnloom.intents.pool import Pool
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.runtime.protocols import unit_rows

MODEL = Path(__file__).parents[2] / "models" / "turnloom-mini"
SHOTS = (1, 0, 5, 2, 10)
FIRST_DRAW = {"validation": 100, "test": 0}
OPTIONS = Options()
Words = dict[str, str]


@dataclass(frozen=True)
class Measured:
    """A set with the vectors of its test messages."""

    known: IntentSet
    encoder: CachedEncoder
    vectors: npt.NDArray[np.float32]
    outside: npt.NDArray[np.float32]

    @classmethod
    def of(cls, known: IntentSet, encoder: CachedEncoder) -> Measured:
        """Encode the test messages."""
        outside = unit_rows(encoder.encode(known.outside)) if known.outside else np.zeros((0, 1), np.float32)
        return cls(known, encoder, unit_rows(encoder.encode(known.test.texts)), outside)

    def examples(self, shots: int, draw: int) -> Examples:
        """Draw examples as the benchmark suite does."""
        places = draw_supports(self.known.codes, shots, draw).tolist() if shots else []
        texts = [self.known.train.texts[place] for place in places]
        vectors = unit_rows(self.encoder.encode(texts)) if texts else np.zeros((0, self.vectors.shape[1]), np.float32)
        labels = [(self.known.train.labels[place],) for place in places]
        return Examples.of([(text,) for text in texts], vectors, labels, self.known.intents)

    def evidence(self, words: Words) -> Evidence:
        """Encode names."""
        return encode_names(lambda turns: embed(self.encoder, turns, 0), words)

    def scores(self, fitted: Fitted) -> dict[str, float]:
        """Accuracy, false rejects (10 % are asked for) and, with foreign messages, the AUROC, all in percent."""
        known = fitted.examples
        chance = fitted.probabilities(self.vectors, self.vectors @ known.vectors.T)
        inside = Unlabelled((), self.vectors).familiarity(known)
        found = {
            "accuracy": float((chance.argmax(axis=1) == self.known.truths).mean()),
            "false_reject": float((inside < fitted.scope.threshold).mean()),
        }
        if len(self.outside):
            found["auroc"] = detection_scores(inside, Unlabelled((), self.outside).familiarity(known))["auroc"]
        return {name: round(100 * value, 3) for name, value in found.items()}


def variants(known: IntentSet, shots: int, kind: str) -> Iterator[tuple[str, Words]]:
    """What intents are called: nothing, their labels' words or descriptions, or codes."""
    yield "names", {name: known.descriptions.get(name) or label_words(name) for name in known.intents}
    if shots:
        yield "examples", {}
    if shots == 1 and kind in ("none", "clean"):
        yield "codes", {name: label_words(f"INT_{number:03}") for number, name in enumerate(known.intents)}


def measure_draw(measured: Measured, draw: int, shots: Sequence[int], pools: Sequence[str], results: Results) -> None:
    """Measure all cells of one draw; each kind of pool is saved when it is done."""
    for kind in ("none", *pools):
        run = f"{measured.known.name} {draw} {kind}"
        done: dict[str, Any] = results.runs().get(run, {})
        todo = [each for each in shots if f"{each} names" not in done]
        if not todo:
            continue
        texts = [] if kind == "none" else draw_pool(measured.known, kind, draw)
        pool = Pool.of(unit_rows(measured.encoder.encode(texts))) if texts else None
        cells: dict[str, Any] = {}
        for each in todo:
            examples = measured.examples(each, draw)
            for name, words in variants(measured.known, each, kind):
                state = fit(examples, OPTIONS, Unlabelled(), Unlabelled(), measured.evidence(words), pool)
                report = state.evidence.report
                cells[f"{each} {name}"] = measured.scores(state) | ({"trusted": report.trusted} if report else {})
        results.put(run, cells)
        print(run, {cell: values["accuracy"] for cell, values in cells.items()}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["validation", "test", "held-out", "airline"])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--shots", default=",".join(map(str, SHOTS)))
    parser.add_argument("--only", help="One set.")
    parser.add_argument("--pools", default=",".join(POOLS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnloom-embeddings")
    given = parser.parse_args()
    split: Split = "validation" if given.what == "validation" else "test"
    names = HELD_OUT_SETS if given.what == "held-out" else INTENTS
    encoder = CachedEncoder(load_encoder(MODEL, bf16=computes_bf16_fast()), given.cache)
    chosen = [read_set(name, split) for name in names if given.only in (None, name)]
    sets = [Measured.of(known, encoder) for known in ([read_airline()] if given.what == "airline" else chosen)]
    shots = [int(each) for each in given.shots.split(",")]
    pools = ("clean",) if given.what in ("held-out", "airline") else tuple(given.pools.split(","))
    for draw in range(FIRST_DRAW[split], FIRST_DRAW[split] + given.draws):
        for measured in sets:
            measure_draw(measured, draw, shots, pools, Results("intents"))


if __name__ == "__main__":
    main()
