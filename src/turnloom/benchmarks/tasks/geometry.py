"""The shape of the space: uniformity, alignment, isotropy and hubness on CLINC150's test messages."""

from __future__ import annotations

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import label_codes, labelled
from turnloom.benchmarks.metrics import alignment, hubness, isotropy, uniformity
from turnloom.benchmarks.task import Draw, Draws, Task, TaskInfo


class Geometry(Task):
    """Messages of one intent are positives."""

    info = TaskInfo(
        name="geometry-clinc150",
        family="geometry",
        level="utterance",
        dataset="clinc150",
        language="en",
        main_score="uniformity",
        reference="Wang and Isola (2020)",
    )

    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:  # noqa: ARG002 - nothing is drawn
        """Not in percent: lower is better for uniformity and alignment, 1 is best for isotropy, 0 for hubness."""
        data = labelled("clinc150", "test")
        _, codes = label_codes(data.labels)
        vectors = encoder.encode(data.texts)
        return [
            Draw(
                {
                    "uniformity": uniformity(vectors),
                    "alignment": alignment(vectors, codes),
                    "isotropy": isotropy(vectors),
                    "hubness": hubness(vectors),
                }
            )
        ]
