"""The control of adaptation: the base model with a new conversation encoder, which learns from the same threads.

Usage: TURNLOOM_DATA=... python -m studies.conversation.control START SEED...

START is the base model. Each seed takes as many steps as adaptation does. That the result is a look at the airline
threads is counted.
"""

from __future__ import annotations

import json
import statistics
import sys

from studies.conversation.adapt import RUNS, TASKS, run, tables
from studies.conversation.measure import look, looks, scores
from studies.lib.figures import record

STEPS = 2_000
"""Those of `turnloom train conversation --adapt`."""


def main(start: str, *seeds: str) -> None:
    raw, held = tables("airline")
    vectors = RUNS / "vectors-airline-start"
    run("vectors", str(raw), "--model", start, "--bf16", "--out", str(vectors))
    minutes = []
    for seed in seeds:
        out = RUNS / f"control-airline-{seed}"
        if not (out / "training" / "result.json").exists():
            changes = ("--set", f"steps={STEPS}", "--set", f"seed={seed}")
            resume = ["--resume"] if (out / "training").exists() else []
            run("train", "conversation", str(vectors), "--start", start, "--out", str(out), *changes, *resume)
        minutes.append(json.loads((out / "training" / "result.json").read_text(encoding="utf-8"))["minutes"])
        look(f"control{seed}-airline", str(out), "airline", "--responses", str(held))
    found = {"start.airline_trained_minutes": max(minutes)}
    for turns, task in TASKS.items():
        every = [scores(f"control{seed}-airline").tasks[task].mean() for seed in seeds]
        found[f"start.airline_trained_{turns}_top1"] = statistics.fmean(every)
    record("conversation", found | looks())


if __name__ == "__main__":
    main(*sys.argv[1:])
