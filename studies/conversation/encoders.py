"""Over any encoder: less than a quarter of an hour of the same recipe on the frozen vectors of several encoders.

Usage: TURNLOOM_DATA=... python -m studies.conversation.encoders NAME=FOLDER...

All encoders learn from the same sample: some dialogues of SGD, MultiWOZ, Ubuntu IRC and STAR, spread over each set.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from studies.conversation.measure import SETS, evaluate, scores
from studies.lib.figures import record
from turnloom.benchmarks.data import split_rows

RUNS = Path("runs/conversation/encoders")
EVERY = {"sgd": 12, "multiwoz21": 6, "ubuntu_irc": 4, "star": 8}
STEPS = "1500"
"""Less than a quarter of an hour on one core."""


def run(*words: str) -> None:
    subprocess.run(["turnloom", *words], check=True)


def sample() -> list[Path]:
    """Every so many dialogues of each set's training part, without what the suites test."""
    found = []
    for name, every in EVERY.items():
        path, table = RUNS / f"{name}.jsonl", RUNS / "tables" / name
        if not table.exists():
            chosen = list(split_rows(name, "train"))[::every]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps({"id": one["id"], "turns": one["turns"]}) + "\n" for one in chosen))
            run("prepare", str(path), "--hold-out", "dse,diaeval,ums", "--no-scrub", "--out", str(table))
        found.append(table)
    return found


def main(*named: str) -> None:
    tables = [str(table) for table in sample()]
    # Alone, an encoder is at its best with the last turn, except on Ubuntu IRC; joined turns take hours to encode.
    alone = ",".join(f"select-{name}-next" for name in SETS.values())
    conversation = ",".join(f"select-{name}-all-heads" for name in SETS.values())
    for name, folder in (one.split("=", 1) for one in named):
        vectors, out = RUNS / f"vectors-{name}", RUNS / name
        run("vectors", *tables, "--model", folder, "--bf16", "--out", str(vectors))
        if not (out / "training" / "result.json").exists():
            resume = ["--resume"] if (out / "training").exists() else []
            words = ("--start", folder, "--out", str(out), "--set", f"steps={STEPS}", *resume)
            run("train", "conversation", str(vectors), *words)
        evaluate(f"{name}-alone", folder, "--tasks", alone)
        evaluate(f"{name}-conversation", str(out), "--tasks", conversation)
        figures = {}
        for short, dataset in SETS.items():
            figures[f"{name}.{short}_next_top1"] = scores(f"{name}-alone").tasks[f"select-{dataset}-next"].mean()
            all_turns = scores(f"{name}-conversation").tasks[f"select-{dataset}-all-heads"]
            figures[f"{name}.{short}_conversation_top1"] = all_turns.mean()
        record("conversation", figures)


if __name__ == "__main__":
    main(*sys.argv[1:])
