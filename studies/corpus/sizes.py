"""How large the open-licence training dialogues are, and how uneven the training corpus is.

Usage: TURNLOOM_DATA=... python -m studies.corpus.sizes
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from studies.lib.figures import record
from turnloom.corpus import convert, read_table
from turnloom.corpus.catalog import get_dataset, training_dialogues
from turnloom.corpus.inspect import measure

CORPUS = ["sgd", "multiwoz21", "taskmaster", "self_dialogue", "star", "ubuntu_irc"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        logs = []
        for entry in training_dialogues("open"):
            logs += entry.logs("train" if "train" in entry.splits else "all")
        everything = convert(logs, Path(folder) / "open", command="studies.corpus.sizes").manifest
        assert everything.counts["rejected"] == 0
        logs = [log for name in CORPUS for log in get_dataset(name).logs("train")]
        convert(logs, Path(folder) / "corpus", command="studies.corpus.sizes")
        found = measure(read_table(Path(folder) / "corpus"))
    record(
        "corpus",
        {
            "tier_a_dialogues": everything.dialogues,
            "tier_a_turns": everything.turns,
            "top_1_percent_share": found.top_1_percent_share,
        },
    )


if __name__ == "__main__":
    main()
