"""Mixed load with faults: every answer is checked against a direct call, every accepted addition must be there.

Workers are killed, and every fifth time their parent, which is started again as an init system does; clients leave and
dawdle, bursts of ten times the load come. Answers that do not come (a connection cut by a kill, 429, 503, 504) are no
wrong answers; they are counted, and asked again.

Usage: python -m studies.service.soak EXPORTED_MODEL --work FOLDER [--minutes 30 --kills 15 --reranker EXPORTED]
"""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import psutil

from studies.lib.figures import record
from studies.service.lab import (
    ADMIN,
    TEXTS,
    Served,
    arguments,
    client,
    dialogues,
    prepare,
    ready_workers,
    save,
    wait_ready,
    workers,
)
from turnloom.replies.suggestion import RERANKED

CLIENTS, BURST, PARENT_EVERY = 4, 10, 5
KNOWN = range(1_000_000, 1_000_500)
"""The conversations that are in the index from the start."""


def reply_of(number: int) -> str:
    return str(dialogues(1, number)[0]["turns"][1]["text"])


def question_of(number: int) -> str:
    """A context whose words only this reply has; the reply itself would not be suggested to itself."""
    return f"number {number}"


class Truth:
    """What must be answered, by direct calls made before."""

    def __init__(self, folder: Path, texts: list[str]) -> None:
        from turnloom.runtime import load_encoder
        from turnloom.runtime.scorer import load_scorer

        encoder = load_encoder(folder / "model")
        self.vectors = {
            kind: dict(zip(texts, rows, strict=True))
            for kind, rows in (
                ("", encoder.encode(texts)),
                ("query", encoder.encode_query([[text] for text in texts])),
                ("document", encoder.encode_document(texts)),
            )
        }
        self.scores: dict[str, np.ndarray[Any, Any]] = {}
        self.replies: dict[str, float] = {}
        if (folder / "reranker").exists():
            scorer = load_scorer(folder / "reranker")
            self.scores = {text: scorer.score([text], texts[:5]) for text in texts[:20]}
            known = [(question_of(number), reply_of(number)) for number in KNOWN]
            self.replies = {reply: float(scorer.score([asked], [reply])[0]) for asked, reply in known}

    def is_score(self, text: str, found: float) -> bool:
        """Whether a reply has the score that the re-ranker gives it for its question, if there is one."""
        return text not in self.replies or abs(self.replies[text] - found) < 1e-3


class Soak:
    """The clients, and what they saw."""

    def __init__(self, address: str, truth: Truth, texts: list[str]) -> None:
        self.address, self.truth, self.texts = address, truth, texts
        self.stop = threading.Event()
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.examples: list[str] = []
        self.conversations: list[int] = []
        self._numbers = iter(range(1_000_000_000))
        self._lock = threading.Lock()

    def number(self) -> int:
        with self._lock:
            return next(self._numbers)

    def check(self, right: bool, what: str) -> None:
        if not right:
            with self._lock:
                self.wrong.append(what)

    def embeddings(self, asking: httpx.Client, rng: random.Random) -> None:
        kind = rng.choice(["", "query", "document"])
        texts = rng.sample(self.texts, rng.randint(1, 8))
        body = {"model": "model", "input": texts} | ({"input_type": kind} if kind else {})
        answer = self.asked(asking, "/v1/embeddings", body)
        if answer is not None:
            found = np.array([row["embedding"] for row in answer["data"]], np.float32)
            expected = np.stack([self.truth.vectors[kind][text] for text in texts])
            cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
            self.check(bool((cosines > 0.9999).all()), f"embeddings {cosines.min():.6f}")

    def intents(self, asking: httpx.Client, rng: random.Random) -> None:
        text = rng.choice(["where is my lamp", "what does the desk cost", "i want to return the chair"])
        expected = {"where": "where is my order", "what": "price", "i": "return"}[text.split()[0]]
        answer = self.asked(asking, "/v1/intents", {"messages": [text]})
        if answer is not None:
            self.check(answer["answers"][0]["candidates"][0]["intent"] == expected, f"intents {text}")

    def replies(self, asking: httpx.Client, rng: random.Random) -> None:
        number = rng.choice(KNOWN)
        thing, asked = reply_of(number), question_of(number)
        answer = self.asked(asking, "/v1/replies", {"context": [asked], "mode": "text", "k": RERANKED})
        if answer is not None:
            found = {reply["text"]: reply["score"] for reply in answer["replies"]}
            right = thing in found and self.truth.is_score(thing, found[thing])
            self.check(right, f"replies {thing} {found.get(thing)}")

    def rerank(self, asking: httpx.Client, rng: random.Random) -> None:
        if not self.truth.scores:
            return
        text = rng.choice(list(self.truth.scores))
        answer = self.asked(asking, "/rerank", {"query": text, "texts": self.texts[:5], "raw_scores": False})
        if answer is not None:
            found = np.zeros(5)
            found[[row["index"] for row in answer]] = [row["score"] for row in answer]
            moved = np.abs(found - self.truth.scores[text]).max()
            self.check(bool(moved < 1e-3), f"rerank {moved:.5f}")

    def add(self, asking: httpx.Client, rng: random.Random) -> None:
        number = self.number()
        if rng.random() < 0.5:
            text = f"soak example {number} {rng.random()}"
            body = {"examples": [{"message": text, "intent": "soak"}]}
            if self.asked(asking, "/v1/intents/examples", body) is not None:
                self.examples.append(text)
        else:
            body = {"conversations": dialogues(1, number)}
            if self.asked(asking, "/v1/replies/conversations", body) is not None:
                self.conversations.append(number)

    def leave(self, _: httpx.Client, rng: random.Random) -> None:
        """Ask and go; or send half a request, slowly, and go."""
        place = urlsplit(self.address)
        with socket.create_connection((place.hostname, place.port or 80), timeout=5) as line:
            head = ["POST /v1/embeddings HTTP/1.1", "Host: x", f"Authorization: Bearer {ADMIN}", "Content-Length: 60"]
            line.sendall("\r\n".join([*head, "", ""]).encode())
            for byte in b'{"model": "model", "input": "left"}'[: rng.randint(1, 36)]:
                line.sendall(bytes([byte]))
                time.sleep(rng.choice([0, 0.02]))
        self.seen["left"] += 1

    def asked(self, asking: httpx.Client, path: str, body: Any) -> Any:
        try:
            answer = asking.post(path, json=body)
        except httpx.TransportError:
            self.seen["cut"] += 1
            time.sleep(0.05)
            return None
        self.seen[str(answer.status_code)] += 1
        if answer.status_code in (200, 202):
            return answer.json()
        self.check(answer.status_code in (429, 503, 504), f"{path} {answer.status_code}")
        time.sleep(0.05)
        return None

    def run(self, seed: int, until: float | None = None) -> None:
        rng = random.Random(seed)
        kinds = [self.embeddings] * 5 + [self.intents] * 2 + [self.replies] * 2 + [self.rerank, self.add, self.leave]
        with client(self.address) as asking:
            while not self.stop.is_set() and (until is None or time.monotonic() < until):
                self._one(rng.choice(kinds), asking, rng)

    def _one(
        self, kind: Callable[[httpx.Client, random.Random], Any], asking: httpx.Client, rng: random.Random
    ) -> None:
        try:
            kind(asking, rng)
        except OSError:
            self.seen["cut"] += 1

    def lost(self) -> int:
        """Accepted additions that are not there after all is indexed."""
        with client(self.address) as asking:
            answer = asking.get("/v1/intents/examples", params={"intent": "soak"})
            known = {turns[-1] for turns in answer.json().get("examples", [])} if answer.status_code == 200 else set()
            missing = sum(text not in known for text in self.examples)
            waiting, deadline = list(self.conversations), time.monotonic() + 120
            while waiting and time.monotonic() < deadline:
                waiting = [number for number in waiting if not self.is_found(asking, number)]
                time.sleep(1 if waiting else 0)
        return missing + len(waiting)

    @staticmethod
    def is_found(asking: httpx.Client, number: int) -> bool:
        body = {"context": [question_of(number)], "mode": "text", "k": RERANKED}
        answer = asking.post("/v1/replies", json=body)
        return answer.status_code == 200 and reply_of(number) in [reply["text"] for reply in answer.json()["replies"]]


def memory(parent: psutil.Process) -> float:
    """Megabytes of a worker, the mean."""
    sizes = []
    for worker in workers(parent):
        with suppress(psutil.Error):
            sizes.append(worker.memory_info().rss)
    return float(np.mean(sizes)) / 2**20 if sizes else float("nan")


def growth(samples: list[tuple[float, float]], kills: list[float]) -> float:
    """In percent between the second quarter and the end, of the time after the last kill: workers then are as old."""
    start = max(kills, default=samples[0][0])
    rest = [megabytes for when, megabytes in samples if when >= start and megabytes == megabytes]
    if len(rest) < 8:
        return float("nan")
    quarter = len(rest) // 4
    return 100 * (float(np.median(rest[-quarter:])) / float(np.median(rest[quarter : 2 * quarter])) - 1)


def kill_one(folder: Path, parent: psutil.Process) -> float:
    """Seconds until a new worker serves in the place of one that was killed; the others serve meanwhile."""
    known = ready_workers(folder)
    victim = random.choice(sorted(worker.pid for worker in workers(parent)))
    began = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    while not ready_workers(folder) - known and time.monotonic() - began < 300:
        time.sleep(0.05)
    return time.monotonic() - began


def kill_parent(served: Served) -> float:
    """Seconds until a new service answers in the place of one whose parent was killed."""
    began = time.monotonic()
    served.kill()
    served.start()
    return time.monotonic() - began


def main() -> None:
    parser = arguments(reranker=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--kills", type=int, default=15)
    given = parser.parse_args()
    texts = TEXTS[:120]
    prepare(given.work, given.model, given.reranker)
    truth = Truth(given.work, texts)
    # Kills come in the first half; memory is watched in the second, where no worker is replaced.
    half = 30 * given.minutes
    samples: list[tuple[float, float]] = []
    recoveries: list[float] = []
    restarts: list[float] = []
    killed: list[float] = []
    # What was added is looked for word by word, so nothing of it is replaced.
    served = Served(given.work, workers=2, scrub=False, logs={"level": "info"})
    try:
        soak = Soak(served.address, truth, texts)
        began = time.monotonic()
        threads = [threading.Thread(target=soak.run, args=(seed,)) for seed in range(CLIENTS)]
        for thread in threads:
            thread.start()
        next_kill, next_burst = half / (given.kills + 1), half / 4
        while (now := time.monotonic() - began) < 2 * half:
            if len(killed) < given.kills and now >= next_kill:
                if len(killed) % PARENT_EVERY == PARENT_EVERY - 1:
                    restarts.append(kill_parent(served))
                else:
                    recoveries.append(kill_one(given.work, served.parent))
                killed.append(time.monotonic() - began)
                next_kill += half / (given.kills + 1)
            if now >= next_burst:
                until = time.monotonic() + min(5.0, half / 10)
                burst = [threading.Thread(target=soak.run, args=(100 + n, until)) for n in range(CLIENTS * (BURST - 1))]
                for thread in burst:
                    thread.start()
                next_burst += half / 2
            samples.append((now, memory(served.parent)))
            time.sleep(min(5.0, half / 60))
        soak.stop.set()
        for thread in threads:
            thread.join()
        wait_ready(served.address)
        lost = soak.lost()
    finally:
        served.stop()
    figures = {
        "soak_requests": sum(soak.seen.values()),
        "soak_wrong_answers": len(soak.wrong),
        "soak_lost_adds": lost,
        "soak_memory_growth_percent": growth(samples, killed),
        "kills_survived": len(killed),
        "recovery_seconds_max": max(recoveries, default=0.0),
    }
    details = {
        "seen": dict(soak.seen),
        "wrong": soak.wrong[:100],
        "accepted_examples": len(soak.examples),
        "accepted_conversations": len(soak.conversations),
        "recoveries": recoveries,
        "restarts_after_kills_of_the_parent": restarts,
        "memory": samples,
    }
    print({**figures, "seen": details["seen"], "wrong": soak.wrong[:10]})
    if not given.dry:
        save("soak", details)
        record("service", figures)


if __name__ == "__main__":
    main()
