"""Two orders of suggested replies, rated blind: `hybrid`, and `typical`, which prefers what the nearest replies share.

Usage: TURNLOOM_DATA=... python -m studies.onboarding.orders sheet FOLDER
       python -m studies.onboarding.orders score FOLDER RATINGS

FOLDER is that of `studies.onboarding.real_logs run`. The threads are neither those that the command read nor those of
its sheet. A rater follows the first part of `rubric.txt` and writes {"0": "fits", ...}.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from studies.lib.figures import record
from studies.lib.results import Results
from studies.onboarding.real_logs import RUBRIC, cut_before_replies, open_index, threads, write_lines
from turnloom.cli.quickstart_replies import ORDERS

THREADS, SKIPPED = 100, 1_000
WORTH = {"wrong": 0, "harmless": 1, "fits": 2}


def write_sheet(folder: Path) -> None:
    """Write the first suggestion of both orders for each thread, shuffled, and the key to them."""
    rng, index = random.Random(9), open_index(folder / "quickstart")
    items: list[tuple[str, int, dict[str, Any]]] = []
    asked = islice(cut_before_replies(threads()[1][SKIPPED:], rng), THREADS)
    for number, (turns, said, _) in enumerate(asked):
        replies = [index.suggest(turns, 1, mode=order)[0].text for order in ORDERS]
        items += [
            (order, number, {"conversation": said, "reply": reply})
            for order, reply in zip(ORDERS, replies, strict=True)
        ]
    rng.shuffle(items)
    sheet = folder / "sheet2"
    sheet.mkdir(exist_ok=True)
    write_lines(sheet / "replies.jsonl", [shown for *_, shown in items])
    (folder / "key2.json").write_text(json.dumps([(order, thread) for order, thread, _ in items]), encoding="utf-8")
    shutil.copy(RUBRIC, sheet)
    print(sheet)


def score(folder: Path, ratings: str) -> None:
    """Record how many first suggestions of each order fit and are wrong, and how often one order beats the other."""
    key = json.loads((folder / "key2.json").read_text(encoding="utf-8"))
    said = json.loads(Path(ratings).read_text(encoding="utf-8"))
    by_thread: dict[int, dict[str, str]] = defaultdict(dict)
    for item, (order, thread) in enumerate(key):
        by_thread[thread][order] = said[str(item)]
    gains = [WORTH[both["typical"]] - WORTH[both["hybrid"]] for both in by_thread.values()]
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    found = {"orders_better": better, "orders_worse": worse, "orders_p": binomtest(better, better + worse).pvalue}
    for order in ORDERS:
        for rating in ("fits", "wrong"):
            share = 100 * sum(both[order] == rating for both in by_thread.values()) / len(by_thread)
            found[f"orders_{order}_{rating}_percent"] = share
    record("onboarding", found)
    Results("onboarding").put("orders", {"key": key, "rater": said})


if __name__ == "__main__":
    if sys.argv[1] == "sheet":
        write_sheet(Path(sys.argv[2]))
    else:
        score(Path(sys.argv[2]), sys.argv[3])
