"""`turnloom vectors` as a job: its throughput beside the bare encoder's, kills, Ray, and ten million turns once.

Usage: python -m studies.scale.encode {ratio|kill|ray|many} FOLDER BASE [--turns N] [--minutes M]

BASE is all-MiniLM-L6-v2; its first two layers encode, for `kill`, `ray` and `many` in 8 bits. FOLDER keeps models
and corpora. `ratio` counts the processor's seconds, so another job may run meanwhile. `many`
ends after M minutes, and continues when it is called again; it takes about 20 GB.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from studies.conversation.vectors import command, content_hash
from studies.lib.figures import record
from studies.lib.memory import GIB
from studies.scale.chats import chats, in_8_bits, two_layers
from turnloom.corpus import read_table
from turnloom.corpus.table import read_manifest
from turnloom.runtime import load_encoder
from turnloom.vectors import VectorOptions, build_vectors

TURNS = {"ratio": 15_000, "kill": 60_000, "ray": 15_000, "many": 10_000_000}
ROUNDS = 3
KILLS = 6
WORKERS, RANGES_PER_WORKER = 2, 4


def measure_ratio(table: Path, model: Path, folder: Path) -> dict[str, float]:
    """All of `build_vectors`, reading and writing too, and one call of the encoder on the same texts, in turns."""
    encoder: Any = load_encoder(model)
    texts = sorted({turn["text"] for row in read_table(table).iter_rows() for turn in row["turns"]})

    def bare() -> None:
        encoder.model.encode(texts, batch_size=64, show_progress_bar=False)

    def build() -> None:
        shutil.rmtree(folder / "ratio", ignore_errors=True)
        _, encoded = build_vectors([table], folder / "ratio", VectorOptions(lambda: encoder))
        assert encoded == len(texts)

    spent = {bare: 0.0, build: 0.0}
    encoder.model.encode(texts[:1_000])  # What happens once per process is no part of either.
    for number in range(ROUNDS):
        for what in spent:
            began = time.process_time()
            what()
            spent[what] += time.process_time() - began
        rates = {what.__name__: round((number + 1) * len(texts) / seconds) for what, seconds in spent.items()}
        print(f"{number}: texts per second of a processor so far: {rates}", flush=True)
    return {
        "encode_ratio_to_bare": spent[bare] / spent[build],
        "encode_texts": len(texts),
        "encode_texts_per_core_second": ROUNDS * len(texts) / spent[build],
    }


def kill_and_resume(table: Path, model: Path, folder: Path) -> dict[str, float]:
    """One job, killed at several moments of its work."""
    out, chance, kills = folder / "killed", random.Random(0), 0
    shutil.rmtree(out, ignore_errors=True)
    began = time.perf_counter()
    subprocess.run(command(table, model, out), check=True)
    expected, whole = content_hash(out), time.perf_counter() - began
    shutil.rmtree(out, ignore_errors=True)
    for _ in range(KILLS):
        process = subprocess.Popen(command(table, model, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = chance.uniform(0.05, 0.35) * whole
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
        steps = len(list((out / ".work").glob("*.done")))
        print(f"killed {kills} times, now after {seconds:.0f} of {whole:.0f} s; steps done: {steps}", flush=True)
    subprocess.run(command(table, model, out), check=True)
    equal = content_hash(out) == expected
    shutil.rmtree(out)
    turns = read_manifest(table).turns
    return {"encode_kill_resume_equal": int(equal), "encode_kills": kills, "encode_kill_turns": turns}


def on_ray(table: Path, model: Path, folder: Path) -> dict[str, float]:
    """The same vectors from several workers of a cluster that listens on loopback only."""
    import ray

    from turnloom.corpus.engine import use_runner

    hashes, turns = {}, read_manifest(table).turns
    for runner in ("native", "ray"):
        if runner == "ray":
            ray.init(num_cpus=WORKERS, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False)
            use_runner("ray")
        out, ranges = folder / runner, turns // (RANGES_PER_WORKER * WORKERS)
        shutil.rmtree(out, ignore_errors=True)
        options = VectorOptions(lambda: load_encoder(model), on_ray=runner == "ray", turns_per_range=ranges)
        build_vectors([table], out, options)
        hashes[runner] = content_hash(out)
        shutil.rmtree(out)
    ray.shutdown()
    equal = int(hashes["native"] == hashes["ray"])
    return {"encode_ray_equals_native": equal, "encode_ray_workers": WORKERS, "encode_ray_turns": turns}


def many(table: Path, model: Path, folder: Path, minutes: float) -> dict[str, float]:
    """Encode for so many minutes; figures when everything is done."""
    out = folder / f"many-{table.name}"
    try:
        subprocess.run(command(table, model, out), check=True, timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        done = len(list((out / ".work").glob("range-*.done")))
        print(f"not done yet: {done} ranges are encoded; call it again", flush=True)
        return {}
    return {"encode_10m_done": 1, "encode_10m_peak_gib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / GIB}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=list(TURNS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("--turns", type=int)
    parser.add_argument("--minutes", type=float, default=50)
    given = parser.parse_args()
    model = two_layers(given.folder, given.base)
    table = chats(given.folder, given.base, given.turns or TURNS[given.what])
    if given.what == "ratio":
        figures = measure_ratio(table, model, given.folder)
    elif given.what == "many":
        figures = many(table, in_8_bits(model), given.folder, given.minutes)
    else:
        measure = kill_and_resume if given.what == "kill" else on_ray
        figures = measure(table, in_8_bits(model), given.folder)
    record("scale", figures)


if __name__ == "__main__":
    main()
