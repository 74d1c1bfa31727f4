"""Conversations and persons are erased from a service under load; then every byte that it has on disk is searched.

Every conversation to erase has a word of its own in its texts, its id and its speaker; so have examples of intents.
They are added over HTTP a moment before, or long enough before to be in the index, in one version or in several.

Usage: python -m studies.service.erasure MODEL --work FOLDER [--erasures 50]
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from studies.lib.figures import record
from studies.service.lab import Served, arguments, client, dialogues, prepare, save
from studies.service.on_disk import files_with

CLIENTS, WAIT = 2, 4.0


def marked(number: int) -> tuple[str, dict[str, Any]]:
    """A word, and a conversation that has it everywhere."""
    word = f"qz{random.Random(number).randrange(10**9, 10**10)}w"
    turns = [
        {"speaker": f"person-{word}", "text": f"my {word} lamp is broken"},
        {"speaker": "agent", "text": f"I send a new {word} lamp"},
        {"speaker": f"person-{word}", "text": f"thanks for the {word}"},
        {"speaker": "agent", "text": "You are welcome"},
    ]
    return word, {"id": f"chat-{word}", "source": "study", "turns": turns}


class Load:
    """Clients that add conversations and search meanwhile."""

    def __init__(self, address: str) -> None:
        self.address, self.stop = address, threading.Event()
        self.accepted: list[int] = []
        self.failed: list[str] = []
        self.requests = 0
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _run(self, who: int) -> None:
        with client(self.address) as asking:
            number = 2_000_000 * (who + 1)
            while not self.stop.is_set():
                added = asking.post("/v1/replies/conversations", json={"conversations": dialogues(1, number)})
                found = asking.post("/v1/replies", json={"context": ["where is my lamp order"], "mode": "text"})
                named = asking.post("/v1/intents", json={"messages": ["where is my lamp"]})
                with self._lock:
                    self.requests += 3
                    self.accepted += [number] if added.status_code == 202 else []
                    self.failed += [
                        each.text for each in (added, found, named) if each.status_code not in (200, 202, 429)
                    ]
                number += 1
                time.sleep(0.05)

    def end(self) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join()


def add(asking: Any, number: int) -> str:
    word, conversation = marked(number)
    accepted(asking, "/v1/replies/conversations", {"conversations": [conversation]})
    example = {"message": f"My {word} lamp is broken", "intent": "return"}
    accepted(asking, "/v1/intents/examples", {"examples": [example]})
    return word


def accepted(asking: Any, path: str, body: dict[str, Any]) -> Any:
    """Ask until there is room, as a client should."""
    while (answer := asking.post(path, json=body)).status_code == 429:
        time.sleep(float(answer.headers["Retry-After"]))
    return answer.raise_for_status().json()


def lost(asking: Any, load: Load) -> int:
    """How many of the load's conversations are not found in the end."""
    missing = 0
    for number in random.Random(0).sample(load.accepted, min(100, len(load.accepted))):
        reply = dialogues(1, number)[0]["turns"][1]["text"]
        body = {"context": [f"number {number}"], "mode": "text", "k": 20}
        replies = accepted(asking, "/v1/replies", body)["replies"]
        missing += reply not in [each["text"] for each in replies]
    return missing


def main() -> None:
    parser = arguments()
    parser.add_argument("--erasures", type=int, default=50)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    served = Served(given.work, workers=2, limits={"request_seconds": 300}, scrub=False)
    load = Load(served.address)
    seen: dict[str, list[str]] = {}
    words: list[str] = []
    seconds: list[float] = []
    found_before = 0
    try:
        with client(served.address) as asking:
            asking.timeout = 300
            waiting = [add(asking, number) for number in range(given.erasures // 2)]
            time.sleep(3 * WAIT)  # These are in the index.
            for number in range(given.erasures):
                word = waiting[number] if number < len(waiting) else add(asking, number)
                found_before += bool(files_with(given.work, [word]))
                body = {"speakers": [f"person-{word}"]} if number % 2 else {"conversations": [f"chat-{word}"]}
                began = time.monotonic()
                answer = accepted(asking, "/v1/erasures", body)
                seconds.append(time.monotonic() - began)
                assert answer["conversations"] == 1, answer
                words.append(word)
                for path, marks in files_with(given.work, words).items():
                    seen.setdefault(path, []).extend(marks)
            time.sleep(2 * WAIT)
            load.end()
            time.sleep(2 * WAIT)
            missing = lost(asking, load)
    finally:
        load.end()
        served.stop()
    for path, marks in files_with(given.work, words).items():  # Once more, when all has ended.
        seen.setdefault(path, []).extend(marks)
    figures: dict[str, float] = {
        "erasures": len(words),
        "erasures_found_before": found_before,
        "erased_bytes_found": sum(map(len, seen.values())),
        "erasure_failed_requests": len(load.failed),
        "erasure_lost_adds": missing,
    }
    print(figures, f"{sum(seconds) / len(seconds):.1f} s each", seen, load.failed[:3])
    if not given.dry:
        details = {"seconds": seconds, "requests": load.requests, "accepted": len(load.accepted), "found": seen}
        save("erasure", details)
        record("service", figures)


if __name__ == "__main__":
    main()
