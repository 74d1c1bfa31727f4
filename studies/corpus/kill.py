"""`turnloom prepare` killed at random moments: one more run must give the table of an undisturbed one.

Usage: TURNLOOM_DATA=... python -m studies.corpus.kill
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from studies.lib.figures import record

RUNS = 20
COMMAND = ["turnloom", "prepare", "taskmaster", "woz20", "--split", "train", "--hold-out", "multiwoz21", "--out"]


def content(out: Path) -> str:
    found: str = json.loads((out / "manifest.json").read_text())["content_hash"]
    return found


def main() -> None:
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        subprocess.run([*COMMAND, str(folder / "undisturbed")], check=True, capture_output=True)
        seconds = time.perf_counter() - start
        expected = content(folder / "undisturbed")
        equal = 0
        for number in range(RUNS):
            out = folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            moment = rng.uniform(0.05, 0.98) * seconds
            process = subprocess.Popen([*COMMAND, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            process.wait()
            whole = (out / "manifest.json").exists()
            subprocess.run([*COMMAND, str(out)], check=True, capture_output=True)
            equal += content(out) == expected
            left = sorted(path.name for path in (out / ".work").glob("*"))
            print(
                f"{number}: killed after {moment:.1f} of {seconds:.1f} s, table there: {whole}, work left: {left}",
                flush=True,
            )
    record("corpus", {"kill_runs": RUNS, "kill_runs_with_equal_hash": equal})
    record("scale", {"near_kill_runs": RUNS, "near_kill_runs_with_equal_hash": equal})


if __name__ == "__main__":
    main()
