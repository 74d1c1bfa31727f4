"""Templates of SNIPS and ATIS (annotated) and CLINC150 (tagged), beside TaDSE's Table 1; and the table to train on.

Usage: TURNLOOM_DATA=... python -m studies.methods.templates PIPELINE OUT

PIPELINE is the folder of a spaCy pipeline, OUT the folder of the table of all three for the arms.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from studies.lib.figures import record
from turnloom.corpus import read_table
from turnloom.corpus.tagging import Tagger, slot_table, spacy_tagger
from turnloom.views.template_rows import find_templates

SETS = {"snips": 5, "atis": 2, "clinc150": 5}
"""How many values a slot has in the paper."""
PAPER = {
    "snips": (39, 11_900, 7_400, 13_100, 163_000),
    "atis": (41, 600, 3_300, 4_500, 239_000),
    "clinc150": (17, 1_700, 15_300, 15_300, 220_000),
}
COUNTED = ("entities", "values", "templates", "utterances", "augmented")
CAPS = {"cap25_": 25, "capped_": 200, "": 10**9}
"""As many as SNIPS's 22 utterances a template speak for, as we train with, and all."""


def main(pipeline: str, out: str) -> None:
    tagger = spacy_tagger(pipeline)
    figures: dict[str, float] = {}
    for name, k in SETS.items():
        used: Tagger | None = None if name != "clinc150" else tagger
        with tempfile.TemporaryDirectory() as place:
            slot_table([name], Path(place) / "table", tagger=used)
            found = find_templates(read_table(Path(place) / "table"))
            for prefix, cap in CAPS.items():
                counted = found.statistics(k=k, cap=cap)
                print(f"{name}, top {k}, cap {cap:,}: {counted}, {counted.ratio:.1f} a template; paper {PAPER[name]}")
                figures |= {f"templates.{name}.{prefix}{field}": getattr(counted, field) for field in COUNTED}
            # ATIS tells where a city stands in a trip; without that its names and values are fewer.
            merged = {
                (slot.rpartition(".")[2], value) for slot, counts in found.book.counts.items() for value in counts
            }
            figures[f"templates.{name}.merged_entities"] = len({slot for slot, _ in merged})
            figures[f"templates.{name}.merged_values"] = len(merged)
            print(f"  noisy: {found.book.noisy()}")
    record("methods", figures)
    if not (Path(out) / "manifest.json").exists():
        slot_table(list(SETS), Path(out), tagger=tagger)


if __name__ == "__main__":
    main(*sys.argv[1:])
