"""`turnloom vectors`: how much it costs beside encoding, and whether kills or a cluster change the result.

Usage: TURNLOOM_DATA=... python -m studies.conversation.vectors {ratio|ray|kill} FOLDER [--model MODEL] [--dialogues N]

FOLDER keeps tables for the next time. `ratio` compares all of `build_vectors` with a bare loop over the same distinct
texts, in turns, in one process: nothing else may run meanwhile. `ray` and `kill` run the command itself, with a small
random model, so that a table of several ranges takes seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from studies.lib.figures import record
from studies.onboarding.minutes import MODEL, sampled_table
from turnloom.corpus import read_table
from turnloom.objectives import small_transformer
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import SentenceTransformerEncoder
from turnloom.runtime.protocols import turn_encoder
from turnloom.vectors import VectorOptions, build_vectors

ROUNDS = 3
KILLS = 12
SAMPLES = {"ratio": 1_800, "ray": 3_000, "kill": 2_200}
"""Dialogues of SGD: more than 20,000 distinct texts, and tables of four and three ranges."""


def build_seconds(table: Path, out: Path, encoder: SentenceTransformerEncoder) -> tuple[float, int]:
    """All of `build_vectors` with a model that is loaded already, and how many texts it encoded."""
    began = time.perf_counter()
    _, encoded = build_vectors([table], out, VectorOptions(lambda: encoder))
    return time.perf_counter() - began, encoded


def bare_seconds(texts: list[str], model: Any) -> float:
    """The encoder alone: one call over all texts, which sorts them by length."""
    began = time.perf_counter()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model.encode(texts, batch_size=64, show_progress_bar=False, convert_to_tensor=True)
    return time.perf_counter() - began


def measure_ratio(table: Path, model: Path) -> dict[str, float]:
    encoder = turn_encoder(load_encoder(model, bf16=True))
    assert isinstance(encoder, SentenceTransformerEncoder)
    texts = sorted({turn["text"] for row in read_table(table).iter_rows() for turn in row["turns"]}, key=len)
    bare_seconds(texts[:2_000], encoder.model)  # What happens once per process is no part of either.
    spent = {"build": 0.0, "bare": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            bare = bare_seconds(texts, encoder.model)
            build, encoded = build_seconds(table, Path(folder) / str(number), encoder)
            assert encoded == len(texts)
            spent = {"build": spent["build"] + build, "bare": spent["bare"] + bare}
            print(
                f"{number}: bare {len(texts) / bare:.0f}, build {len(texts) / build:.0f} texts per second", flush=True
            )
    return {
        "vectors_ratio_to_bare_encoder": spent["bare"] / spent["build"],
        "vectors_texts": len(texts),
        "vectors_texts_per_second": ROUNDS * len(texts) / spent["build"],
    }


def small_model(folder: Path, model: Path) -> Path:
    """A random model of one narrow layer that reads the words of another."""
    torch.manual_seed(0)
    tokenizer: Any = load_encoder(model)
    small_transformer(tokenizer.model.tokenizer, layers=1, width=32).save_pretrained(str(folder))
    return folder


def command(table: Path, model: Path, out: Path, runner: str = "native") -> list[str]:
    return ["turnloom", "vectors", str(table), "--model", str(model), "--out", str(out), "--runner", runner]


def content_hash(out: Path) -> str:
    found: str = json.loads((out / "manifest.json").read_text())["content_hash"]
    return found


def compare_ray(table: Path, model: Path, folder: Path) -> dict[str, float]:
    for runner in ("native", "ray"):
        subprocess.run(command(table, model, folder / runner, runner), check=True)
    return {"vectors_ray_equals_native": int(content_hash(folder / "native") == content_hash(folder / "ray"))}


def run_for(arguments: list[str], out: Path, seconds: float | None = None) -> tuple[bool, float]:
    """Run the command, and kill it so many seconds after it began to work; whether it was, and how long it worked.

    Half of a short run is Python's imports, in which there is nothing to lose yet: the clock starts after them.
    """
    shutil.rmtree(out, ignore_errors=True)
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (out / ".work" / "job").exists() and process.poll() is None:
        time.sleep(0.01)
    began = time.perf_counter()
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL, time.perf_counter() - began


def kill_and_resume(table: Path, model: Path, folder: Path) -> dict[str, float]:
    _, whole = run_for(command(table, model, folder / "undisturbed"), folder / "undisturbed")
    expected = content_hash(folder / "undisturbed")
    kills = equal = 0
    out = folder / "killed"
    while kills < KILLS:
        was_killed, seconds = run_for(command(table, model, out), out, (kills + 0.5) / KILLS * whole)
        if not was_killed:  # It was faster than before: kill it earlier.
            whole = seconds
            continue
        kills += 1
        left = sorted(path.stem for path in (out / ".work").glob("*.done"))
        subprocess.run(command(table, model, out), check=True, capture_output=True)
        equal += content_hash(out) == expected
        print(f"{kills}: killed after {seconds:.1f} of {whole:.1f} s; steps done: {left}; {equal} equal", flush=True)
    return {"kill_runs": kills, "kill_runs_with_equal_hash": equal}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=list(SAMPLES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--dialogues", type=int)
    given = parser.parse_args()
    dialogues = given.dialogues or SAMPLES[given.what]
    table = sampled_table(given.folder / f"sgd-{dialogues}", ["sgd"], dialogues)
    if given.what == "ratio":
        record("conversation", measure_ratio(table, given.model))
        return
    measure = compare_ray if given.what == "ray" else kill_and_resume
    with tempfile.TemporaryDirectory() as name:
        small = small_model(Path(name) / "model", given.model)
        record("conversation", measure(table, small, Path(name)))


if __name__ == "__main__":
    main()
