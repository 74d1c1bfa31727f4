"""Measure another tool on the draws that `peers_export` wrote; needs only that tool's package.

Usage: python studies/intents/peers_run.py {setfit|autointent|autointent-names|semantic-router} FOLDER OUT.json DRAWS
           [SHOTS...]

Writes the accuracy of each set, shots and draw in percent; what is in the file is skipped. An error is kept as text.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SETS = ("snips", "hwu64", "banking77", "clinc150")
PAIRS, BATCH = 2_000, 16
"""SetFit's training pairs per fit. One example per intent makes few different ones."""
Draw = Sequence[tuple[str, str]]
Names = dict[str, str]
Predict = Callable[[list[str]], list[str]]


def setfit(folder: str, examples: Draw, names: Names) -> Predict:
    """SetFit with its defaults; pairs are made of the examples."""
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    labels = sorted(names)
    texts, codes = [text for text, _ in examples], [labels.index(label) for _, label in examples]
    model = SetFitModel.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(out, batch_size=BATCH, max_steps=PAIRS // BATCH, report_to="none", seed=0)
        Trainer(model=model, args=arguments, train_dataset=Dataset.from_dict({"text": texts, "label": codes})).train()
    return lambda messages: [labels[int(code)] for code in model.predict(messages, batch_size=64)]


def autointent(folder: str, examples: Draw, names: Names, modules: Sequence[dict[str, Any]] | None = None) -> Predict:
    """AutoIntent's search among the scorers of its light preset, or some of them.

    It splits off validation messages, which fails with one example per intent; then the examples are given as both.
    """
    from autointent import Dataset, Pipeline

    labels = sorted(names)
    rows = [{"utterance": text, "label": labels.index(label)} for text, label in examples]
    intents = [{"id": code, "name": label, "description": names[label]} for code, label in enumerate(labels)]
    single = len(examples) == len(labels)
    neighbours = {"module_name": "knn", "k": {"low": 1, "high": 20}, "weights": ["uniform", "distance", "closest"]}
    # The linear scorer cross-validates, which needs three examples of each intent.
    scorers = modules or ([neighbours | {"k": [1]}] if single else [neighbours, {"module_name": "linear"}])
    space = [
        {"node_type": "scoring", "target_metric": "scoring_accuracy", "search_space": list(scorers)},
        {"node_type": "decision", "target_metric": "decision_accuracy", "search_space": [{"module_name": "argmax"}]},
    ]
    pipeline = Pipeline.from_search_space(space)
    from autointent.configs import SentenceTransformerEmbeddingConfig

    pipeline.set_config(SentenceTransformerEmbeddingConfig(model_name=folder))
    parts = {"train": rows, "intents": intents} | ({"validation": rows} if single else {})
    pipeline.fit(Dataset.from_dict(parts), refit_after=not single)
    return lambda messages: [labels[code] for code in pipeline.predict(messages)]


def autointent_names(folder: str, examples: Draw, names: Names) -> Predict:
    """AutoIntent's scorer by descriptions."""
    return autointent(folder, examples, names, [{"module_name": "description_bi"}])


def semantic_router(folder: str, examples: Draw, names: Names) -> Predict:
    """semantic-router with its defaults: each intent's name and examples are its utterances."""
    from semantic_router import IndexedRouter, Route
    from semantic_router.encoders import DenseEncoder
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    known: dict[str, list[float]] = {}

    class Encoder(DenseEncoder):  # type: ignore[misc]
        name: str = "base"

        def __call__(self, docs: list[Any]) -> list[list[float]]:
            new = [text for text in docs if text not in known]
            known.update(zip(new, model.encode(new).tolist() if new else [], strict=True))
            return [known[text] for text in docs]

    said: dict[str, list[str]] = {label: [words] for label, words in names.items()}
    for text, label in examples:
        said[label].append(text)
    encoder = Encoder()
    router = IndexedRouter(encoder, [Route(name=label, utterances=texts) for label, texts in said.items()])

    def predict(messages: list[str]) -> list[str]:
        encoder(messages)  # All at once, which is faster.
        return [str(router(message).name) for message in messages]

    return predict


PEERS = {
    "setfit": setfit,
    "autointent": autointent,
    "autointent-names": autointent_names,
    "semantic-router": semantic_router,
}


def main(peer: str, folder: str, out: str, draws: str, *shots: str) -> None:
    path = Path(out)
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for draw in range(int(draws)):
        for count in shots or ("1", "5"):
            for name in SETS:
                key = f"{peer} {name} {count} {draw}"
                if key in found:
                    continue
                data = json.loads((Path(folder) / f"{name}.json").read_text())
                try:
                    predict = PEERS[peer](str(Path(folder) / "model"), data["draws"][f"{count} {draw}"], data["names"])
                    said = predict([text for text, _ in data["test"]])
                    hits = sum(one == label for one, (_, label) in zip(said, data["test"], strict=True))
                    found[key] = round(100 * hits / len(said), 3)
                except Exception as error:
                    found[key] = f"{type(error).__name__}: {error}"[:300]
                path.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")
                print(key, found[key], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
