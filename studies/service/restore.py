"""Snapshots of a service that is written to, restored after a kill: is anything lost, is any answer another?

Usage: python -m studies.service.restore MODEL --work FOLDER [--restores 10]
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import httpx
import numpy as np

from studies.lib.figures import record
from studies.service.erasure import accepted
from studies.service.lab import TEXTS, Served, arguments, client, dialogues, prepare, save

BEFORE, AFTER = 10, 3
"""How many additions of each kind are acknowledged before and after each snapshot."""
KNOWN = range(1_000_000, 1_000_020)
ASKED = {"where is my lamp": "where is my order", "what does the desk cost": "price", "i want to return it": "return"}


class Writer:
    """Adds conversations and examples, and notes which were acknowledged."""

    def __init__(self, address: str, first: int) -> None:
        self.address, self.number = address, first
        self.conversations: list[int] = []
        self.examples: list[str] = []
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with client(self.address) as asking:
            while not self.stop.is_set():
                with suppress(httpx.TransportError):
                    self._write(asking, self.number)
                self.number += 1

    def _write(self, asking: httpx.Client, number: int) -> None:
        added = asking.post("/v1/replies/conversations", json={"conversations": dialogues(1, number)})
        if added.status_code == 202:
            self.conversations.append(number)
        example = {"message": f"please refund order {number}", "intent": "return"}
        if asking.post("/v1/intents/examples", json={"examples": [example]}).status_code == 200:
            self.examples.append(example["message"])

    def wait_for(self, additions: int) -> None:
        while min(len(self.conversations), len(self.examples)) < additions:
            time.sleep(0.05)

    def end(self) -> None:
        self.stop.set()
        self._thread.join()


def reply_of(number: int) -> str:
    return str(dialogues(1, number)[0]["turns"][1]["text"])


def is_found(asking: httpx.Client, number: int) -> bool:
    body = {"context": [f"number {number}"], "mode": "text", "k": 5}
    replies = accepted(asking, "/v1/replies", body)["replies"]
    return reply_of(number) in [reply["text"] for reply in replies]


def examples_of(asking: httpx.Client) -> set[str]:
    answer = asking.get("/v1/intents/examples", params={"intent": "return"}).raise_for_status()
    return {turns[0] for turns in answer.json()["examples"]}


def lost(asking: httpx.Client, conversations: list[int], examples: list[str]) -> int:
    """How many acknowledged writes are missing, when all that waited has been indexed."""
    missing = [number for number in conversations if not is_found(asking, number)]
    deadline = time.monotonic() + 120
    while missing and time.monotonic() < deadline:
        time.sleep(1)
        missing = [number for number in missing if not is_found(asking, number)]
    return len(missing) + len(set(examples) - examples_of(asking))


def wrong(asking: httpx.Client, vectors: Any, later: list[int], later_examples: list[str]) -> int:
    """How many answers are not those of the time of the snapshot."""
    found = accepted(asking, "/v1/embeddings", {"model": "model", "input": TEXTS[:10]})
    rows = np.array([row["embedding"] for row in found["data"]], np.float32)
    count = int((np.abs(rows - vectors).max(axis=1) > 1e-4).sum())
    for text, intent in ASKED.items():
        answer = accepted(asking, "/v1/intents", {"messages": [text]})["answers"][0]
        count += answer["candidates"][0]["intent"] != intent
    count += sum(not is_found(asking, number) for number in KNOWN)
    count += sum(is_found(asking, number) for number in later)
    return count + len(set(later_examples) & examples_of(asking))


def main() -> None:
    parser = arguments()
    parser.add_argument("--restores", type=int, default=10)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    from turnloom.runtime import load_encoder

    vectors = load_encoder(given.work / "model").encode(TEXTS[:10])
    served = Served(given.work, workers=1, limits={"request_seconds": 300}, scrub=False)
    missing = differing = written = 0
    seconds: list[float] = []
    try:
        for number in range(given.restores):
            writer = Writer(served.address, 10_000 * (number + 1))
            writer.wait_for(BEFORE)
            conversations, examples = list(writer.conversations), list(writer.examples)
            began = time.monotonic()
            with client(served.address) as asking:
                asking.timeout = 300
                taken = asking.post("/admin/snapshots").raise_for_status().json()["snapshot"]
            seconds.append(time.monotonic() - began)
            # One of each may be on its way while the snapshot's answer comes.
            during, spoken = len(writer.conversations) + 2, len(writer.examples) + 2
            writer.wait_for(max(during, spoken) + AFTER)
            served.kill()
            writer.end()
            command = [sys.executable, "-m", "turnloom.cli.main", "restore"]
            subprocess.run([*command, given.work / "snapshots" / taken, served.config], check=True)
            served.start()
            with client(served.address) as asking:
                missing += lost(asking, conversations, examples)
                differing += wrong(asking, vectors, writer.conversations[during:], writer.examples[spoken:])
            written += len(writer.conversations) + len(writer.examples)
            print(number, len(conversations), len(examples), missing, differing, f"{seconds[-1]:.1f} s", flush=True)
    finally:
        served.stop()
    figures: dict[str, float] = {
        "restores": given.restores,
        "restore_lost_writes": missing,
        "restore_wrong_answers": differing,
    }
    print(figures)
    if not given.dry:
        save("restore", {"seconds_of_snapshots": seconds, "writes": written})
        record("service", figures)


if __name__ == "__main__":
    main()
