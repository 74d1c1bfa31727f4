"""How long fitting takes with 150 intents and a pool of 20,000 messages whose vectors are known: seconds of one core.

Usage: python -m studies.intents.speed
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from studies.lib.figures import record
from turnloom.intents import IntentClassifier
from turnloom.intents.names import name_phrases

INTENTS, POOL, WIDTH = 150, 20_000, 384


class Known:
    """Vectors that are looked up, not computed: the topic's centre plus noise."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((INTENTS, WIDTH))
        names = [name_phrases(f"intent {number}") for number in range(INTENTS)]
        rows = centres.astype(np.float32)
        self.vectors = {text: row for texts, row in zip(names, rows, strict=True) for text in texts}
        topics = rng.integers(0, INTENTS, POOL + INTENTS)
        topics[:INTENTS] = np.arange(INTENTS)
        rows = (centres[topics] + 1.2 * rng.standard_normal((len(topics), WIDTH))).astype(np.float32)
        self.messages = [f"message {number}" for number in range(len(topics))]
        self.vectors.update(zip(self.messages, rows, strict=True))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([self.vectors[text] for text in texts])


def main() -> None:
    encoder = Known()
    labels = [f"intent_{number}" for number in range(INTENTS)]
    began = time.process_time()
    IntentClassifier(encoder).fit(encoder.messages[:INTENTS], labels, pool=encoder.messages[INTENTS:])
    record("intents", {"fit_seconds_150_intents_20k_pool": time.process_time() - began})


if __name__ == "__main__":
    main()
