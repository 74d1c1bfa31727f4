"""Broken and odd requests by the ten thousand, and schemathesis on the schema: no 5xx, no hang, nothing of the inside.

The same call goes on after an interruption.

Usage: python -m studies.service.fuzz EXPORTED_MODEL --work FOLDER [--requests 104000]
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from studies.lib.figures import record
from studies.service.lab import ADMIN, arguments, client, prepare, save, service

INSIDE = re.compile(r"Traceback|File \"|site-packages|\.py\b|/home/|/usr/|/tmp/|0x[0-9a-f]{6,}|sha256:")
ODD: list[Any] = [
    None, True, False, 0, -1, 1e308, 2**64, "", " ", "\x00", "\ufffd", "a" * 3_000, "🦊" * 50, "\u202e", "' OR 1=1 --",
    "<script>", "../../etc/passwd", [], {}, [[]], [None], {"": None}, [["a"], "b"], "\ud83d\ude00", "%s%n", "${7*7}",
]  # fmt: skip
CHUNK = 4_000
HALF = '"\\ud800"'


def mutated(value: Any, rng: random.Random) -> Any:
    """The same with something odd in it."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(sorted(value))
        kind = rng.random()
        if kind < 0.15:
            return {other: inner for other, inner in value.items() if other != name}
        if kind < 0.3:
            return value | {rng.choice(["extra", "", "__proto__", "model\x00"]): rng.choice(ODD)}
        return value | {name: mutated(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        if rng.random() < 0.1:
            return value * rng.randint(2, 400)
        return [*value[:place], mutated(value[place], rng), *value[place + 1 :]]
    return rng.choice(ODD)


def broken(body: bytes, rng: random.Random) -> bytes:
    """Bytes cut, doubled, changed, or nested."""
    kind = rng.randrange(5)
    place = rng.randrange(len(body) + 1)
    if kind == 0:
        return body[:place]
    if kind == 1:
        return body[:place] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 8))) + body[place:]
    if kind == 2:
        return body + body[place:]
    if kind == 3:
        depth = rng.randint(1, 3_000)
        return b"[" * depth + body + b"]" * depth
    return re.sub(rb'"[^"]*"', lambda found: HALF.encode() if rng.random() < 0.3 else found[0], body)


def requests(count: int, examples: list[tuple[str, str, Any]], seed: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    rng = random.Random(seed)
    for _ in range(count):
        method, path, example = rng.choice(examples)
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/json"}
        kind = rng.random()
        if kind < 0.05:
            headers["Content-Type"] = rng.choice(
                ["text/plain", "application/xml", "", "application/json; charset=utf-7"]
            )
        elif kind < 0.08:
            headers["Authorization"] = rng.choice(
                ["", "Bearer", "Bearer  ", "Bearer \xe9", "Basic a", f"bearer {ADMIN}"]
            )
        elif kind < 0.1:
            headers["X-Request-Id"] = rng.choice(["a" * 9_000, "a b", "\xe9"])
        elif kind < 0.12:
            method = rng.choice(["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
        elif kind < 0.14:
            path += rng.choice(["/", "/%00", "?a=%ff", "/../x", ";x"])
        body = json.dumps(mutated(example, rng) if rng.random() < 0.8 else example).encode()
        if rng.random() < 0.3:
            body = broken(body, rng)
        yield (
            method,
            path,
            {"content": body, "headers": {name: value.encode("latin-1") for name, value in headers.items()}},
        )


def documented(address: str) -> list[tuple[str, str, Any]]:
    """Every request of the schema with its example, and the pages that are not in it."""
    schema = httpx.get(f"{address}/openapi.json").json()
    found: list[tuple[str, str, Any]] = [("GET", path, {}) for path in ("/", "/page/page.js", "/openapi.json")]
    for path, methods in schema["paths"].items():
        for method, said in methods.items():
            body = said.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            named = schema["components"]["schemas"].get(body.get("$ref", "").rsplit("/", 1)[-1], {})
            found.append((method.upper(), path, (named.get("examples") or [{}])[0]))
    return found


def fuzz(address: str, count: int, seed: int) -> tuple[Counter[int], list[str]]:
    """Statuses, and what was wrong."""
    examples = documented(address)
    statuses: Counter[int] = Counter()
    problems: list[str] = []

    def part(number: int) -> None:
        with client(address) as asking:
            for method, path, sent in requests(count // 8, examples, seed * 8 + number):
                try:
                    answer = asking.request(method, path, **sent)
                except httpx.TimeoutException:
                    problems.append(f"hang: {method} {path} {sent['content'][:200]!r}")
                    continue
                except (httpx.InvalidURL, httpx.LocalProtocolError):  # Our own client refuses to send it.
                    continue
                statuses[answer.status_code] += 1
                if answer.status_code >= 500:
                    problems.append(f"{answer.status_code}: {method} {path} {sent['content'][:300]!r}")
                if answer.status_code >= 400 and INSIDE.search(answer.text):
                    problems.append(f"leak: {method} {path} {answer.text[:300]}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(part, range(8)))
    return statuses, problems


def fuzz_in_chunks(address: str, count: int, progress: Path) -> tuple[Counter[int], list[str]]:
    """The same in chunks, each with its own seed; the same call goes on after an interruption."""
    known: dict[str, Any] = {"chunks": 0, "statuses": {}, "problems": []}
    if progress.exists():
        known = json.loads(progress.read_text())
    statuses = Counter({int(status): number for status, number in known["statuses"].items()})
    problems: list[str] = known["problems"]
    for chunk in range(known["chunks"], -(-count // CHUNK)):
        found, wrong = fuzz(address, CHUNK, seed=1 + chunk)
        statuses, problems = statuses + found, problems + wrong
        progress.write_text(json.dumps({"chunks": chunk + 1, "statuses": statuses, "problems": problems}))
        print(f"{sum(statuses.values())} requests, {len(problems)} problems", flush=True)
    return statuses, problems


def schemathesis(address: str, examples: int) -> tuple[int, str]:
    """Its exit code and the end of what it said."""
    command = [
        str(Path(sys.executable).parent / "schemathesis"), "run", f"{address}/openapi.json",
        "--header", f"Authorization: Bearer {ADMIN}", "--checks", "not_a_server_error,content_type_conformance",
        "--max-examples", str(examples), "--exclude-path", "/admin/reload", "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout[-4_000:] + done.stderr[-1_000:]


def main() -> None:
    parser = arguments()
    parser.add_argument("--requests", type=int, default=104_000)
    parser.add_argument("--examples", type=int, default=100)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    with service(given.work, workers=2, limits={"body_bytes": 50_000}) as (address, _):
        statuses, problems = fuzz_in_chunks(address, given.requests, given.work / "fuzz.json")
        code, said = schemathesis(address, given.examples)
        alive = httpx.get(f"{address}/health/ready").status_code == 200
    print(dict(statuses), f"schemathesis: {code}", f"alive: {alive}", *problems[:20], said if code else "", sep="\n")
    if not given.dry:
        details = {
            "statuses": dict(statuses),
            "problems": problems[:20],
            "schemathesis_exit": code,
            "schemathesis": said,
        }
        save("fuzz", details | {"alive_after": alive})
        fives = sum(count for status, count in statuses.items() if status >= 500)
        figures = {"fuzz_requests": sum(statuses.values()), "fuzz_5xx": fives, "fuzz_problems": len(problems)}
        record("service", {**figures, "schemathesis_failed": float(code != 0)})


if __name__ == "__main__":
    main()
