"""What a team with chat logs gets: a quarter of an hour of `turnloom train turnloom --adapt` on raw support threads.

The threads of twitter_airlines_twacs that have labels are kept apart: their first messages are the intents to tell
apart, their turns the replies to find. The rest is learned from, as it is.

Usage: TURNLOOM_DATA=... python -m studies.flagship.adapt START FLAGSHIP [MINUTES]
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from studies.flagship.arms import RESULTS
from studies.lib.figures import record
from studies.methods.figures import as_used
from turnloom.benchmarks.data import rows

WORK = Path("runs/twacs")
NAME = "twitter_airlines_twacs"


def _write(path: Path, dialogues: list[dict[str, Any]]) -> None:
    kept = [{"id": one["id"], "turns": one["turns"]} for one in dialogues]
    path.write_text("".join(json.dumps(one) + "\n" for one in kept))


def prepare() -> None:
    """Raw threads to learn from, labelled ones to measure on; no text of the latter is in the former."""
    WORK.mkdir(parents=True, exist_ok=True)
    labelled = list(rows(NAME, "labelled"))
    known = {" ".join(turn["text"].lower().split()) for one in labelled for turn in one["turns"]}
    raw = [
        one
        for one in rows(NAME, "all")
        if not any(" ".join(turn["text"].lower().split()) in known for turn in one["turns"])
    ]
    _write(WORK / "raw.jsonl", raw)
    _write(WORK / "held.jsonl", labelled)
    with (WORK / "intents.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "split"])
        for number, one in enumerate(sorted(labelled, key=lambda one: str(one["id"]))):
            split = "dev" if number % 20 == 0 else "train" if number % 2 else "test"
            writer.writerow([one["turns"][0]["text"], one["label"], split])
    for name in ("raw", "held"):
        if not (WORK / name).exists():
            run("prepare", str(WORK / f"{name}.jsonl"), "--out", str(WORK / name), "--no-scrub")


def run(*words: str) -> None:
    subprocess.run(["turnloom", *words], check=True)


def scores(model: str, name: str) -> dict[str, float]:
    """Those that are recorded; next turns by the heads where the model has them."""
    kept = f"adaptation/{name}"
    if RESULTS.scores(kept) is None:
        RESULTS.evaluate(kept, model, "--intents", str(WORK / "intents.csv"), "--responses", str(WORK / "held"))
    result = RESULTS.scores(kept)
    assert result is not None
    tasks = as_used(result).tasks
    wanted = {f"intent_{shots}shot": f"intent-{shots}shot-intents" for shots in (1, 5)}
    return {figure: tasks[task].mean() for figure, task in {**wanted, "next_top1": "select-held-next"}.items()}


def main(start: str, flagship: str, minutes: str = "15") -> None:
    prepare()
    out = WORK / "adapted"
    if not (out / "training" / "result.json").exists():
        resume = ["--resume"] if (out / "training").exists() else []
        words = ["--start", flagship, "--out", str(out), "--minutes", minutes, "--set=report_to=none", *resume]
        run("train", "turnloom", str(WORK / "raw"), "--adapt", *words)
    for name, model in (("start", start), ("turnloom", flagship), ("adapted", str(out))):
        prefix = "adapted" if name == "adapted" else f"adapted.{name}"
        record("flagship", {f"{prefix}.{figure}": value for figure, value in scores(model, name).items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
