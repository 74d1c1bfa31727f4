"""Out-of-scope detection by distance to the nearest prototype (DSE, Tables 3 and 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import Labelled, codes_of, label_codes, labelled
from turnloom.benchmarks.metrics import best_column_credit, cosine_similarity, detection_scores, shares_below
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports, prototypes

FILES = {
    "clinc150": {
        "train": ["train"],
        "dev": ["val"],
        "dev_oos": ["oos_val"],
        "test": ["test"],
        "test_oos": ["oos_test"],
    },
    "banking77_oos": {
        "train": ["train"],
        "dev": ["valid"],
        "dev_oos": ["id_oos_valid", "ood_oos_valid"],
        "test": ["test"],
        "test_oos": ["id_oos_test", "ood_oos_test"],
    },
}
Floats = npt.NDArray[np.float64]


def _rates(credit: Floats, in_scope: Floats, out_of_scope: Floats, threshold: float) -> dict[str, float]:
    """Return DSE's four scores: a message below the threshold is out of scope, any other gets its nearest label."""
    accepted = in_scope >= threshold
    caught = out_of_scope < threshold
    right_in = float((credit * accepted).mean())
    everything = (credit * accepted).sum() + caught.sum()
    right_split = accepted.sum() + caught.sum()
    total = len(in_scope) + len(out_of_scope)
    return {
        "accuracy": 100 * float(everything / total),
        "in_accuracy": 100 * right_in,
        "oos_accuracy": 100 * float(right_split / total),
        "oos_recall": 100 * float(caught.mean()),
    }


class OutOfScope(Task):
    """Detect out-of-scope messages, whose best similarity to a prototype is below a threshold.

    The thresholds `mean` and `mean - std` of the best similarity come from the validation split or, as in the paper,
    from the test messages themselves (`transductive`). `parts` returns your own messages (`train`, `dev`, `dev_oos`,
    `test`, `test_oos`).
    """

    def __init__(
        self,
        dataset: str,
        shots: int,
        threshold: Literal["validation", "transductive"] = "validation",
        parts: Callable[[], dict[str, Labelled]] | None = None,
    ) -> None:
        self._parts = parts or (lambda: {part: labelled(dataset, *files) for part, files in FILES[dataset].items()})
        self.shots = shots
        self.transductive = threshold == "transductive"
        self.info = TaskInfo(
            name=f"oos-{shots}shot-{dataset}" + ("-transductive" if self.transductive else ""),
            family="out-of-scope",
            level="utterance",
            dataset=dataset,
            language="en",
            main_score="auroc",
            draws=10,
            thresholds_from="test" if self.transductive else "validation",
            reference="DSE, Table 3 (1-shot) and Table 8 (5-shot)",
            own_data=parts is not None,
        )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return threshold-free scores, and DSE's four scores at both thresholds, in percent."""
        parts = self._parts()
        names, codes = label_codes(parts["train"].labels)
        # A validation threshold never sees the test split, and a transductive one never sees the validation split.
        needed = ["test", "test_oos"] if self.transductive else ["dev", "dev_oos", "test", "test_oos"]
        vectors = {part: encoder.encode(parts[part].texts) for part in needed if len(parts[part])}
        truths = codes_of(parts["test"].labels, names)
        found = []
        for draw in range(draws):
            supports = draw_supports(codes, self.shots, seed + draw)
            examples = encoder.encode([parts["train"].texts[place] for place in supports])
            centres = prototypes(np.asarray(examples, np.float64), codes[supports], len(names))
            found.append(
                self._scores({part: cosine_similarity(rows, centres) for part, rows in vectors.items()}, truths)
            )
        return found

    def _scores(self, similarities: dict[str, Floats], truths: npt.NDArray[np.int64]) -> Draw:
        best = {part: rows.max(axis=1) for part, rows in similarities.items()}
        source = ("test", "test_oos") if self.transductive else ("dev", "dev_oos")
        seen = np.concatenate([best[part] for part in source if part in best])
        credit = best_column_credit(similarities["test"], truths)
        scores = {name: 100 * value for name, value in detection_scores(best["test"], best["test_oos"]).items()}
        for name, threshold in (("mean", seen.mean()), ("mean_std", seen.mean() - seen.std())):
            rates = _rates(credit, best["test"], best["test_oos"], float(threshold))
            scores.update({f"{score}_at_{name}": value for score, value in rates.items()})
        return Draw(scores, 100 * shares_below(best["test_oos"], best["test"]))
