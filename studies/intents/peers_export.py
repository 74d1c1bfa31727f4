"""Write what other tools need to be measured on the same examples: draws, test messages, names and the base model.

Usage: TURNLOOM_DATA=... python -m studies.intents.peers_export FOLDER [DRAWS]

Other tools need other versions of the same packages, so `peers_run.py` runs in environments of their own and reads
only these files.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from studies.intents.measure import MODEL
from studies.intents.sets import read_set
from turnloom.benchmarks.suites import INTENTS
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports
from turnloom.intents.names import label_words

SHOTS = (1, 5)
MODULES = ("Transformer", "Pooling", "Normalize")


def write_model(folder: Path) -> None:
    """Save the base model's meaning vectors as a plain SentenceTransformer that older versions can read."""
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(MODEL), device="cpu")
    SentenceTransformer(modules=list(whole)[: len(MODULES)], device="cpu").save(str(folder))
    modules = [
        {"idx": index, "name": str(index), "path": "" if not index else f"{index}_{name}"}
        | {"type": f"sentence_transformers.models.{name}"}
        for index, name in enumerate(MODULES)
    ]
    (folder / "modules.json").write_text(json.dumps(modules, indent=1))
    longest = {"max_seq_length": whole.max_seq_length, "do_lower_case": False}
    (folder / "sentence_bert_config.json").write_text(json.dumps(longest))
    pooling = {"word_embedding_dimension": whole.get_embedding_dimension(), "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


def write_draws(folder: Path, draws: int) -> None:
    """Write the test messages and the drawn examples of each set."""
    for name in INTENTS:
        known = read_set(name, "test")
        found = {
            f"{shots} {draw}": [
                [known.train.texts[place], known.train.labels[place]]
                for place in draw_supports(known.codes, shots, draw).tolist()
            ]
            for shots in SHOTS
            for draw in range(draws)
        }
        names = {label: label_words(label) for label in known.intents}
        test = [list(pair) for pair in zip(known.test.texts, known.test.labels, strict=True)]
        (folder / f"{name}.json").write_text(json.dumps({"names": names, "test": test, "draws": found}))


def main(folder: str, draws: str = "10") -> None:
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    write_model(out / "model")
    write_draws(out, int(draws))


if __name__ == "__main__":
    main(*sys.argv[1:])
