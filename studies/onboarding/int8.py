"""Does an export decide as its model does, with intents and replies that the model made?

Usage: TURNLOOM_DATA=... python -m studies.onboarding.int8 MODEL

Intents are fitted with the model on ten examples each of CLINC150 and BANKING77, five draws; the model and its exports
then answer the same test messages, those out of scope too. A decision is what a program acts on: accept, ask or out of
scope, and the intents that are accepted. Beside them stands a classifier that was fitted again with the int8 export.
Replies are those of SGD's validation split, encoded with the model; all are asked for the best one after three turns.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from studies.applications.intents_data import DRAWS, SHOTS, cached, intent_set
from studies.lib.figures import record
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.metrics import cosine_similarity
from turnloom.benchmarks.validation import sampled_replies
from turnloom.intents import Answer, IntentClassifier
from turnloom.intents.answers import answer_vectors
from turnloom.intents.examples import embed
from turnloom.runtime.export import export_model

RUNS = Path("runs/onboarding")
SETS = ("clinc150", "banking77_oos")


def exported(folder: Path, *, int8: bool) -> CachedEncoder:
    out = RUNS / f"{folder.resolve().name}-{'int8' if int8 else 'onnx'}"
    if not (out / "export.json").exists():
        export_model(folder, out, int8=int8)
    return cached(str(out))


def alike(one: Sequence[Answer], other: Sequence[Answer]) -> int:
    return sum((a.decision, a.intents) == (b.decision, b.intents) for a, b in zip(one, other, strict=True))


def intents(whole: CachedEncoder, exports: dict[str, CachedEncoder]) -> dict[str, float]:
    """The share of messages that are decided alike, in percent, over all sets and draws."""
    counts: Counter[str] = Counter()
    for name in SETS:
        data = intent_set(name)
        messages = [(text,) for text in [*data.test.texts, *data.outside]]
        for seed in range(DRAWS):
            drawn = data.draw(SHOTS, seed)
            state = IntentClassifier(whole).fit(drawn.texts, drawn.labels).fitted
            answers = answer_vectors(state, embed(whole, messages, 0), 0)
            now = Counter(
                {
                    kind: alike(answers, answer_vectors(state, embed(model, messages, 0), 0))
                    for kind, model in exports.items()
                }
            )
            again = IntentClassifier(exports["int8"]).fit(drawn.texts, drawn.labels).answer(messages, examples=0)
            now["int8_refitted"] = alike(answers, again)
            print(name, seed, {kind: round(100 * count / len(messages), 2) for kind, count in now.items()})
            counts += now + Counter(asked=len(messages))
    asked = counts.pop("asked")
    return {f"{kind}_decisions_agree_percent": 100 * count / asked for kind, count in counts.items()}


def replies(whole: CachedEncoder, exports: dict[str, CachedEncoder]) -> dict[str, float]:
    """The share of contexts whose best reply is the same one, in percent."""
    pairs = sampled_replies("sgd", 3)
    contexts, texts = [pair.context for pair in pairs], sorted({pair.reply for pair in pairs})
    documents = whole.encode_document(texts)
    best = {
        kind: cosine_similarity(model.encode_query(contexts), documents).argmax(1)
        for kind, model in {"whole": whole, **exports}.items()
    }
    return {f"{kind}_top_reply_agrees_percent": 100 * float(np.mean(best[kind] == best["whole"])) for kind in exports}


def main(folder: Path) -> None:
    whole = cached(str(folder))
    exports = {"int8": exported(folder, int8=True), "onnx": exported(folder, int8=False)}
    record("onboarding", replies(whole, exports))
    record("onboarding", intents(whole, exports))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
