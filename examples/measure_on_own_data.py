"""The benchmarks on your own files: labelled messages in a CSV, and conversations in a dialogue table."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

from turnloom.benchmarks import CachedEncoder, run_tasks
from turnloom.benchmarks.baselines import TfIdf
from turnloom.benchmarks.suites import intent_tasks, reply_tasks
from turnloom.corpus import convert, find_logs
from turnloom.runtime import load_encoder

THINGS = [f"{colour} {thing}" for colour in ("red", "blue", "green", "white") for thing in ("lamp", "desk", "chair")]
ASKED = {
    "where_is_it": ["where is my {}?", "has the {} been sent?", "the {} has not arrived yet"],
    "send_back": ["how do I return the {}?", "I want to send the {} back", "can I give the {} back?"],
    "price": ["what does the {} cost?", "is the {} on sale?", "how much is the {}?"],
    "oos": ["who painted a {}?", "sing about a {}", "dream of a {}"],
}


def write_intents(path: Path) -> Path:
    """`text` and `label`; messages labelled `oos` are out of scope, and measured as such."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for label, texts in ASKED.items():
            rows.writerows([text.format(thing), label] for text in texts for thing in THINGS)
    return path


def write_table(folder: Path) -> Path:
    """One conversation for each thing and question, with an answer that names the thing."""
    logs = folder.with_suffix(".jsonl")
    texts = [text for label, texts in ASKED.items() if label != "oos" for text in texts]
    with logs.open("w", encoding="utf-8") as file:
        for number, (text, thing) in enumerate((text, thing) for text in texts for thing in THINGS):
            turns = [
                ("customer", text.format(thing)),
                ("agent", f"About the {thing}, case {number}: one moment please."),
            ]
            row = {"id": str(number), "turns": [{"speaker": who, "text": said} for who, said in turns]}
            file.write(json.dumps(row) + "\n")
    convert(find_logs([str(logs)]), folder)
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        tasks = [*intent_tasks(write_intents(place / "intents.csv")), *reply_tasks(write_table(place / "corpus"))]
        words = [text.format(thing) for texts in ASKED.values() for text in texts for thing in THINGS]
        model = load_encoder(TfIdf(words))
        result = run_tasks(CachedEncoder(model), tasks, place / "results")
        for task_name, task in result.tasks.items():
            print(f"{task_name}: {task.info.main_score} {task.mean():.1f}")


if __name__ == "__main__":
    main()
