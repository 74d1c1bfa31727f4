"""Three times as many requests as the service can answer, route by route, and a greedy key beside a modest one.

Everything is a ratio to the capacity that the same run measured a moment before: what a closed loop of 32 clients gets.
The generator computes on the same cores; goodput and capacity are both per core that it left.

Usage: python -m studies.service.overload EXPORTED_MODEL --work FOLDER [--reranker EXPORTED] [--route R ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from studies.lib.figures import record
from studies.service.lab import ADMIN, OTHER, arguments, prepare, save, service
from studies.service.open_loop import bodies
from turnloom.journal import Journal

ROUTES = [
    *("embeddings", "embeddings-8", "queries", "rerank", "rerank-cohere", "intents", "replies"),
    *("add-examples", "remove-examples", "add-conversations"),
]
"""All routes that do more than read what is in memory."""
TIMES, CLIENTS = 3.0, 32
RECOVERED, PROBES, PROBE_EVERY = 5, 60, 0.1
MOST_PROBES = 600
GREEDY_CLIENTS, VICTIM_SHARE = 8, 0.05
"""A modest key asks each of its routes for this share of what the route can do."""
VICTIM_ROUTES = ("embeddings", "intents", "replies")


def start(address: str, route: str, seconds: float, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "studies.service.open_loop", address, "--route", route]
    return subprocess.Popen([*command, "--seconds", str(seconds), *options], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate()
    found: dict[str, Any] = json.loads(out)
    found["generator_cores"] = found["cpu"] / found["seconds"]
    return found


def accepted(run: dict[str, Any]) -> list[float]:
    return [seconds for _, seconds, status in run["answers"] if status in (200, 202)]


def statuses(run: dict[str, Any]) -> dict[str, int]:
    every = [status for *_, status in run["answers"]]
    return {str(status): every.count(status) for status in sorted(set(every))}


def per_core(run: dict[str, Any], cores: int) -> float:
    """Answers per second that were accepted in the time of sending, for each core that the generator left."""
    inside = [
        1 for due, seconds, status in run["answers"] if status in (200, 202) and due + seconds <= run["sent_seconds"]
    ]
    return float(len(inside) / run["sent_seconds"] / (cores - run["generator_cores"]))


def probe(client: httpx.Client, route: str) -> tuple[int, float]:
    path, contents = bodies(route)
    began = time.perf_counter()
    status = client.post(path, json=contents[0]).status_code
    return status, time.perf_counter() - began


def recovery(client: httpx.Client, route: str, usual: float) -> float:
    """Seconds from the end of the load until answers are as fast as before it, for several in a row."""
    began, good = time.perf_counter(), 0
    since = 0.0
    for _ in range(PROBES):
        at = time.perf_counter() - began
        status, seconds = probe(client, route)
        if status in (200, 202) and seconds <= max(3 * usual, 0.25):
            since = at if good == 0 else since
            good += 1
            if good == RECOVERED:
                return since
        else:
            good = 0
        time.sleep(PROBE_EVERY)
    return time.perf_counter() - began


def settle(work: Path) -> None:
    """Wait until no conversations of an earlier phase wait to be indexed."""
    for _ in range(MOST_PROBES):
        waiting = [*work.rglob("pending.jsonl"), *work.rglob("adding.jsonl")]
        if not any(Journal(path).size for path in waiting):
            return
        time.sleep(PROBE_EVERY)


def overload(address: str, route: str, seconds: float, work: Path) -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0))
    headers = {"Authorization": f"Bearer {ADMIN}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        usual = float(np.median([probe(client, route)[1] for _ in range(9)]))
        result(start(address, route, 3, "--clients", str(CLIENTS)))  # Warm.
        settle(work)
        closed = result(start(address, route, seconds, "--clients", str(CLIENTS)))
        capacity = len(accepted(closed)) / closed["seconds"]
        settle(work)
        loaded = start(address, route, seconds, "--rate", str(TIMES * capacity))
        run = result(loaded)
        # The generator ends when it has all answers; the load ended when it had sent its last request.
        after = recovery(client, route, usual) + max(0.0, run["seconds"] - run["sent_seconds"])
    latencies = accepted(run) or [float("inf")]
    return {
        "capacity_per_second": capacity,
        "capacity_p99_ms": float(1000 * np.percentile(accepted(closed), 99)),
        "sent_per_second": len(run["answers"]) / run["sent_seconds"],
        "statuses": statuses(run),
        "p50_ms_of_accepted": float(1000 * np.percentile(latencies, 50)),
        "p99_ms_of_accepted": float(1000 * np.percentile(latencies, 99)),
        "timeouts": statuses(run).get("504", 0),
        "goodput_ratio": per_core(run, cores) / per_core(closed, cores),
        "goodput_ratio_without_accounting": len(accepted(run)) / run["seconds"] / capacity,
        "generator_cores": [closed["generator_cores"], run["generator_cores"]],
        "usual_ms": 1000 * usual,
        "recovery_seconds": after,
    }


def beside_a_greedy_key(address: str, greedy: str, seconds: float, capacities: dict[str, float]) -> dict[str, Any]:
    """How long a modest key waits while another sends the largest legal requests without pause."""
    load = start(address, greedy, seconds + 4, "--key", OTHER, "--clients", str(GREEDY_CLIENTS))
    time.sleep(2)
    rates = {route: str(max(1.0, VICTIM_SHARE * capacities[route])) for route in VICTIM_ROUTES}
    victims = {route: start(address, route, seconds, "--rate", rates[route]) for route in VICTIM_ROUTES}
    runs = {route: result(victim) for route, victim in victims.items()}
    other = result(load)
    return {
        "greedy_statuses": statuses(other),
        "greedy_answers_per_second": len(accepted(other)) / other["seconds"],
        "victim_statuses": {route: statuses(run) for route, run in runs.items()},
        "victim_p95_ms": {
            route: float(1000 * np.percentile([seconds for _, seconds, _ in run["answers"]], 95))
            for route, run in runs.items()
        },
    }


def main() -> None:
    parser = arguments(reranker=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--route", action="append", choices=ROUTES)
    given = parser.parse_args()
    prepare(given.work, given.model, given.reranker)
    routes: dict[str, dict[str, Any]] = {}
    greedy: dict[str, dict[str, Any]] = {}
    cores = len(os.sched_getaffinity(0))
    with service(given.work, workers=cores) as (address, _):
        for route in given.route or ROUTES:
            routes[route] = overload(address, route, given.seconds, given.work)
            print(route, json.dumps(routes[route]), flush=True)
        for route in () if given.route else ("greedy-embeddings", "greedy-intents"):
            capacities = {name: found["capacity_per_second"] for name, found in routes.items()}
            greedy[route] = beside_a_greedy_key(address, route, 2 * given.seconds, capacities)
            print(route, json.dumps(greedy[route]), flush=True)
    if given.route or given.dry:
        return
    save("overload", {"routes": routes, "greedy": greedy})
    figures = {
        "overload_p99_ms_of_accepted": max(each["p99_ms_of_accepted"] for each in routes.values()),
        "overload_504": sum(each["timeouts"] for each in routes.values()),
        "overload_recovery_seconds": max(each["recovery_seconds"] for each in routes.values()),
        "overload_goodput_ratio": min(each["goodput_ratio"] for each in routes.values()),
        "victim_p95_ms": max(p95 for each in greedy.values() for p95 in each["victim_p95_ms"].values()),
    }
    record("service", figures)


if __name__ == "__main__":
    main()
