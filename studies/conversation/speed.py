"""What reading a conversation costs: a query after one new turn beside encoding that turn, and contexts per second.

Usage: python -m studies.conversation.speed {incremental MODEL|training RUN...}

`incremental` times both in turns, in one process. `training` reads what finished runs took.
"""

from __future__ import annotations

import copy
import json
import statistics
import sys
import time
from pathlib import Path

from studies.lib.figures import record
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder

TURNS, TRIALS = 20, 200
SAID = [
    "Hi, I ordered a blue teapot last week and it has not arrived yet.",
    "I am sorry to hear that. Could you tell me the number of your order, please?",
    "Yes, one moment, I have to look for the email.",
    "Take your time.",
]


def incremental(model: str) -> float:
    """The time of adding the twentieth turn and making the query, over the time of encoding that turn."""
    encoder = load_encoder(model)
    assert isinstance(encoder, ConversationEncoder)
    before = encoder.start()
    before.extend([SAID[number % len(SAID)] for number in range(TURNS - 1)])
    alone, whole = [], []
    for trial in range(TRIALS):
        turn = f"{SAID[trial % len(SAID)]} It is {trial}."
        state = copy.copy(before)
        began = time.perf_counter()
        encoder.turns.encode([turn])
        between = time.perf_counter()
        state.add(turn)
        state.query()
        alone.append(between - began)
        whole.append(time.perf_counter() - between)
    return statistics.median(whole) / statistics.median(alone)


def main(what: str, *arguments: str) -> None:
    if what == "incremental":
        record("conversation", {"incremental_ratio": incremental(arguments[0])})
    else:
        runs = [json.loads((Path(run) / "training" / "result.json").read_text()) for run in arguments]
        rates = [run["contexts"] / (60 * run["minutes"]) for run in runs]
        record("conversation", {"contexts_per_second": statistics.fmean(rates)})


if __name__ == "__main__":
    main(*sys.argv[1:])
