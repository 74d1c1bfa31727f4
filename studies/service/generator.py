"""A load generator that costs little: bytes are made before, answers are only counted. Runs as a process of its own.

Usage: python -m studies.service.generator URL --texts 8 --concurrency 32 --seconds 20 [--rate REQUESTS_PER_SECOND]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from urllib.parse import urlsplit

from studies.service.lab import ADMIN, TEXTS


def requests(host: str, texts: int) -> list[bytes]:
    """Embedding requests as bytes, base64 answers as OpenAI's client asks for."""
    made = []
    for start in range(0, len(TEXTS), texts):
        chosen = [TEXTS[(start + place) % len(TEXTS)] for place in range(texts)]
        body = json.dumps({"model": "model", "input": chosen, "encoding_format": "base64"}).encode()
        head = (
            f"POST /v1/embeddings HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {ADMIN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))
    return int(head[9:12])


async def load(url: str, texts: int, concurrency: int, seconds: float, rate: float | None) -> dict[str, object]:
    """Closed loop, or with a rate: requests are due at fixed times, and lateness counts as latency."""
    place = urlsplit(url)
    made = requests(place.netloc, texts)
    latencies: list[float] = []
    statuses: dict[int, int] = {}
    began = time.perf_counter()
    turn = iter(range(1_000_000_000))

    async def one() -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=2**22)
        while True:
            number = next(turn)
            due = began + number / rate if rate else time.perf_counter()
            if due - began >= seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            start = due if rate else time.perf_counter()
            status = await ask(reader, writer, made[number % len(made)])
            latencies.append(time.perf_counter() - start)
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()

    await asyncio.gather(*(one() for _ in range(concurrency)))
    passed = time.perf_counter() - began
    return {"seconds": passed, "latencies": latencies, "statuses": statuses, "cpu": time.process_time()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=float)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(load(given.url, given.texts, given.concurrency, given.seconds, given.rate))))


if __name__ == "__main__":
    main()
