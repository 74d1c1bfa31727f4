"""A load generator that does not wait: requests are sent when they are due, however slow the answers.

It runs as a process of its own.

Usage: python -m studies.service.open_loop URL --route intents [--key KEY] --seconds 10 (--rate 300 | --clients 32)
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
from typing import Any
from urllib.parse import urlsplit

from studies.service.lab import ADMIN, ASKS, TEXTS, THINGS, dialogues

MOST_CONNECTIONS = 2_000
Answer = tuple[float, float, int]
"""When it was due, how many seconds it took, and the status; 0 if there was no answer."""


def bodies(route: str) -> tuple[str, list[Any]]:
    """The path, and different bodies in turn; those of greedy requests have nearly as many tokens as they may."""
    texts, asks = TEXTS, [ask.format(thing) for asks in ASKS.values() for ask in asks for thing in THINGS]
    long = ["word " * 400] * 30
    routes: dict[str, tuple[str, list[Any]]] = {
        "embeddings": ("/v1/embeddings", [{"model": "model", "input": text} for text in texts]),
        "embeddings-8": ("/v1/embeddings", [{"model": "model", "input": texts[n : n + 8]} for n in range(0, 320, 8)]),
        "queries": (
            "/v1/embeddings",
            [{"model": "model", "input": [texts[n : n + 3]], "input_type": "query"} for n in range(300)],
        ),
        "rerank": ("/rerank", [{"query": text, "texts": texts[n : n + 5]} for n, text in enumerate(texts[:300])]),
        "rerank-cohere": (
            "/v1/rerank",
            [{"query": t, "documents": texts[n : n + 5]} for n, t in enumerate(texts[:300])],
        ),
        "intents": ("/v1/intents", [{"messages": [ask]} for ask in asks]),
        "replies": ("/v1/replies", [{"context": [ask]} for ask in asks]),
        "add-examples": (
            "/v1/intents/examples",
            [{"examples": [{"message": f"{ask} again", "intent": "price"}]} for ask in asks[:40]],
        ),
        "remove-examples": ("/v1/intents/examples/remove", [{"messages": [f"{ask} again"]} for ask in asks[:40]]),
        "add-conversations": ("/v1/replies/conversations", [{"conversations": dialogues(1, n)} for n in range(2_000)]),
        "greedy-embeddings": ("/v1/embeddings", [{"model": "model", "input": long}]),
        "greedy-intents": ("/v1/intents", [{"messages": long}]),
    }
    return routes[route]


def requests(url: str, route: str, key: str) -> list[bytes]:
    """Whole requests as bytes, made before the load."""
    path, contents = bodies(route)
    made = []
    for content in contents:
        body = json.dumps(content).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


class Pool:
    """Connections that are reused, and opened when none is free."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._host, self._port = place.hostname, place.port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._open = asyncio.Semaphore(MOST_CONNECTIONS)

    async def ask(self, request: bytes) -> int:
        """The status; 0 if the connection was cut."""
        async with self._open:
            while self._free and self._free[-1][0].at_eof():  # The service has closed it, because it was idle.
                self._free.pop()[1].close()
            if not self._free:
                self._free.append(await asyncio.open_connection(self._host, self._port, limit=2**22))
            line = reader, writer = self._free.pop()
            try:
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = next(each for each in head.split(b"\r\n") if each.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
            except (OSError, asyncio.IncompleteReadError):
                writer.close()
                return 0
            if b"connection: close" in head:
                writer.close()
            else:
                self._free.append(line)
            return int(head[9:12])


async def load(url: str, made: list[bytes], seconds: float, rate: float | None, clients: int) -> dict[str, Any]:
    """An open loop with a rate, otherwise a closed loop of some clients."""
    pool = Pool(url)
    answers: list[Answer] = []
    turn = itertools.cycle(made)
    began = time.perf_counter()

    async def one(due: float) -> None:
        status = await pool.ask(next(turn))
        answers.append((due - began, time.perf_counter() - due, status))

    async def client() -> None:
        while time.perf_counter() - began < seconds:
            await one(time.perf_counter())

    if rate is None:
        await asyncio.gather(*(client() for _ in range(clients)))
    else:
        tasks = []
        for number in range(int(rate * seconds)):
            due = began + number / rate
            if due > time.perf_counter():
                await asyncio.sleep(due - time.perf_counter())
            tasks.append(asyncio.create_task(one(due)))
        sent = time.perf_counter() - began
        await asyncio.gather(*tasks)
    ended = time.perf_counter() - began
    sent = ended if rate is None else sent
    return {"answers": answers, "sent_seconds": sent, "seconds": ended, "cpu": time.process_time()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--route", required=True)
    parser.add_argument("--key", default=ADMIN)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    made = requests(given.url, given.route, given.key)
    print(json.dumps(asyncio.run(load(given.url, made, given.seconds, given.rate, given.clients))))


if __name__ == "__main__":
    main()
