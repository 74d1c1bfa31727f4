"""What the classifier costs beside its encoder.

`fit` of ten examples of each of CLINC150's 150 intents, embeddings cached; and messages answered a second beside the
bare encoder on the same messages, in turns; the ratio is the median over rounds of both sides.

Usage: TURNLOOM_DATA=... python -m studies.applications.intents_speed MODEL
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from studies.applications.intents_data import SHOTS, intent_set
from studies.lib.figures import record
from turnloom.benchmarks import CachedEncoder
from turnloom.intents import IntentClassifier
from turnloom.runtime import load_encoder

ROUNDS, MESSAGES = 9, 1_500


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(model: str, messages: str = str(MESSAGES)) -> None:
    data = intent_set("clinc150")
    examples = data.draw(SHOTS, 0)
    encoder = load_encoder(model)
    kept = CachedEncoder(encoder)
    kept.encode(examples.texts)
    fits = [seconds(lambda: IntentClassifier(kept).fit(examples.texts, examples.labels)) for _ in range(ROUNDS)]
    classifier = IntentClassifier(encoder).fit(examples.texts, examples.labels)
    # Every third: files are sorted by intent.
    texts = list(dict.fromkeys(data.test.texts[::3]))[: int(messages)]
    encoder.encode(texts[:64])
    sides: list[Callable[[], object]] = [lambda: encoder.encode(texts), lambda: classifier.answer(texts)]
    bare, whole = [], []
    for number in range(ROUNDS):
        # Who begins alternates: what the machine does beside favours neither.
        order = (0, 1) if number % 2 == 0 else (1, 0)
        took = {side: seconds(sides[side]) for side in order}
        bare.append(took[0])
        whole.append(took[1])
    print(
        f"{len(texts) / statistics.median(whole):.0f} answers a second, bare {len(texts) / statistics.median(bare):.0f}"
    )
    record(
        "applications",
        {
            "fit_seconds": statistics.median(fits),
            "predict_speed_ratio": statistics.median(one / other for one, other in zip(bare, whole, strict=True)),
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
