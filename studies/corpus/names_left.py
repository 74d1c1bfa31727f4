"""First names and signatures left in replies that an index of airline threads suggests, checked by reading them.

Usage:
    turnloom prepare THREADS.jsonl --out prepared
    turnloom replies build prepared --model models/turnloom-mini --out index
    python -m studies.corpus.names_left THREADS.jsonl index models/turnloom-mini suggestions.txt   (300 to read)
    python -m studies.corpus.names_left 300 LEFT                                                    (what you counted)
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from studies.lib.figures import record

SUGGESTIONS = 300
SEED = 0


def suggest(threads: Path, index: str, model: str) -> list[str]:
    """The first suggestion for contexts drawn at random, each suggestion once."""
    dialogues = [json.loads(line)["turns"] for line in threads.read_text(encoding="utf-8").splitlines()]
    contexts = [[turns[0]["text"]] for turns in random.Random(SEED).sample(dialogues, 2 * SUGGESTIONS)]
    asked = "\n".join(json.dumps({"context": context}) for context in contexts)
    command = ["turnloom", "replies", "search", index, "--model", model, "-k", "1"]
    answers = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = [reply["text"] for line in answers for reply in json.loads(line)["replies"]]
    return list(dict.fromkeys(texts))[:SUGGESTIONS]


def main() -> None:
    if len(sys.argv) == 3:
        read, left = map(int, sys.argv[1:])
        record("corpus", {"names_left_read": read, "names_left": left, "names_left_percent": 100 * left / read})
        return
    threads, index, model, out = sys.argv[1:]
    Path(out).write_text("\n".join(suggest(Path(threads), index, model)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
