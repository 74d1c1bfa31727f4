"""Which intents a model takes for each other: five-shot prototypes on BANKING77."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.data import label_codes, split_pool
from turnloom.benchmarks.metrics import cosine_similarity
from turnloom.benchmarks.report.drawing import figure, heat_map
from turnloom.benchmarks.report.maps import Lookup
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports, prototypes
from turnloom.corpus.page import rows_table

__all__ = ["CONFUSION_TASK", "Confusion", "confusion_part", "find_confusion"]

DATASET, SHOTS, PAIRS, SHOWN = "banking77", 5, 15, 20
CONFUSION_TASK = f"intent-{SHOTS}shot-{DATASET}"


@dataclass(frozen=True)
class Confusion:
    """Intents, and how often a row's intent got a column's label."""

    names: list[str]
    counts: npt.NDArray[np.int64]

    def worst_pairs(self, count: int) -> list[tuple[int, int]]:
        """The places of the most frequent mistakes, the most frequent first."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[:count]
        places = [divmod(int(place), len(self.names)) for place in order]
        return [(row, column) for row, column in places if wrong[row, column]]

    def worst_intents(self, count: int) -> list[int]:
        """The intents with the most mistakes from and to them, in order of their names."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        return sorted(np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")[:count].tolist())


def find_confusion(lookup: Lookup) -> Confusion | None:
    """What the first draw of the five-shot task gets wrong; None where vectors are missing."""
    pool = split_pool(DATASET)
    names, codes = label_codes(pool.train.labels)
    supports = draw_supports(codes, SHOTS, 0)
    vectors = lookup([*pool.test.texts, *(pool.train.texts[place] for place in supports)])
    if vectors is None:
        return None
    test, examples = vectors[: len(pool.test)], vectors[len(pool.test) :]
    centres = prototypes(np.asarray(examples, np.float64), codes[supports], len(names))
    taken = cosine_similarity(test, centres).argmax(axis=1)
    number = {name: place for place, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, ([number[label] for label in pool.test.labels], taken), 1)
    return Confusion(names, counts)


def confusion_part(model: str, found: Confusion) -> str:
    """The most frequent mistakes as a table, and a heat map of the intents that have most."""
    totals = found.counts.sum(axis=1)
    plain = [name.replace("_", " ") for name in found.names]
    rows = [
        (plain[row], plain[column], int(found.counts[row, column]), int(totals[row]))
        for row, column in found.worst_pairs(PAIRS)
    ]
    heading = f"<h3>The {len(rows)} most frequent mistakes of {html.escape(model)}</h3>"
    table = rows_table(["intent", "taken for", "messages", "of"], rows)
    chosen = found.worst_intents(SHOWN)
    drawing = heat_map(
        f"How often {model} takes one intent for another",
        found.counts[np.ix_(chosen, chosen)],
        [plain[place] for place in chosen],
    )
    caption = (
        f"{model}: the {len(chosen)} intents with most mistakes; a row's intent was taken for a column's, which has "
        "the number of the row. Right answers are left out."
    )
    frame = '<div class="scroll heat" role="region" tabindex="0" aria-label="Heat map">'
    return f"{heading}{table}{frame}{figure(drawing, caption)}</div>"
