"""The service under load against bare ONNX Runtime on the same texts, in one run.

The load generator computes on the same cores. Its share is measured, and both are compared per core that was theirs:
ratio = (texts/s of the service / (cores - generator's cores)) / (texts/s of bare ONNX Runtime / cores).

Usage: python -m studies.service.load EXPORTED_MODEL --work FOLDER [--seconds 40]
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from studies.lib.figures import record
from studies.service.lab import TEXTS, arguments, cpu_seconds, prepare, save, service, workers

ROUNDS = 5


def bare(folder: str, seconds: float, ready: Any, results: Any) -> None:
    """Texts a second without a service: tokenizing and the graph, texts of like length together."""
    from turnloom.runtime.onnx_backend import OnnxEncoder

    encoder = OnnxEncoder(Path(folder), threads=1)
    texts = sorted(TEXTS, key=len)
    encoder.encode(texts)
    ready.wait()
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        encoder.encode(texts)
        done += len(texts)
    results.put(done / (time.perf_counter() - began))


def bare_rate(model: Path, seconds: float, cores: int) -> float:
    """Of one process a core."""
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Barrier(cores), spawn.Queue()
    processes = [spawn.Process(target=bare, args=(str(model), seconds, ready, results)) for _ in range(cores)]
    for process in processes:
        process.start()
    found = sum(results.get() for _ in processes)
    for process in processes:
        process.join()
    return float(found)


def generate(address: str, texts: int, seconds: float, rate: float | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "studies.service.generator", address, "--texts", str(texts)]
    command += ["--seconds", str(seconds)] + (["--rate", str(rate)] if rate else [])
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    found["requests_per_second"] = len(found["latencies"]) / found["seconds"]
    found["generator_cores"] = found["cpu"] / found["seconds"]
    return found


def percentiles(latencies: list[float]) -> dict[str, float]:
    return {f"p{part}_ms": float(1000 * np.percentile(latencies, part)) for part in (50, 95, 99)}


def main() -> None:
    parser = arguments()
    parser.add_argument("--seconds", type=float, default=40)
    given = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    prepare(given.work, given.model, None)
    ideal, fulls, ratios = [], [], []
    with service(given.work, workers=cores) as (address, parent):
        generate(address, 8, min(5.0, given.seconds))  # Warm.
        used = cpu_seconds(workers(parent))
        for _ in range(ROUNDS):  # In turns, because the machine's speed changes; the service idles while bare runs.
            ideal.append(bare_rate(given.model, given.seconds / ROUNDS, cores))
            fulls.append(full := generate(address, 8, given.seconds / ROUNDS))
            theirs = 8 * full["requests_per_second"] / (cores - full["generator_cores"])
            ratios.append(theirs / (ideal[-1] / cores))
        used = (cpu_seconds(workers(parent)) - used) / sum(full["seconds"] for full in fulls)
        full = sorted(fulls, key=lambda run: float(run["requests_per_second"]))[ROUNDS // 2]
        half = generate(address, 8, given.seconds, full["requests_per_second"] / 2)
        single = generate(address, 1, given.seconds)
    figures = {
        "throughput_ratio_to_bare_onnx": float(np.median(ratios)),
        "single_text_requests_per_second": single["requests_per_second"],
        **percentiles(half["latencies"]),
    }
    details = {
        "cores": cores,
        "bare_texts_per_second": ideal,
        "ratios": ratios,
        "service_texts_per_second": 8 * full["requests_per_second"],
        "service_cores": used,
        "ratio_without_accounting": 8 * full["requests_per_second"] / float(np.median(ideal)),
        **{
            f"{name}_{key}": run[key]
            for name, run in (("full", full), ("half", half), ("single", single))
            for key in ("requests_per_second", "generator_cores", "statuses")
        },
        "full_latency": percentiles(full["latencies"]),
    }
    print(json.dumps(details | figures, indent=2))
    if not given.dry:
        save("load", details)
        record("service", figures)


if __name__ == "__main__":
    main()
