"""`turnloom prepare` on a local Ray cluster and in process: the same content hash, and the pairs that are left.

Usage: TURNLOOM_DATA=... python -m studies.corpus.on_ray
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from studies.corpus.sizes import CORPUS
from studies.lib.figures import record

COMMAND = ["turnloom", "prepare", *CORPUS, "--split", "train", "--hold-out", "dse,diaeval"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        hashes, pairs = {}, 0
        for runner in ("native", "ray"):
            out = Path(folder) / runner
            done = subprocess.run(
                [*COMMAND, "--runner", runner, "--out", str(out)], check=True, capture_output=True, text=True
            )
            hashes[runner] = json.loads((out / "manifest.json").read_text())["content_hash"]
            line = next(line for line in done.stdout.splitlines() if "consecutive pairs" in line)
            pairs = int(line.split()[0].replace(",", ""))
            print(done.stdout)
    record("corpus", {"pairs_over_3_words": pairs, "ray_hash_equals_native": int(hashes["native"] == hashes["ray"])})
    record("scale", {"near_ray_hash_equals_native": int(hashes["native"] == hashes["ray"])})


if __name__ == "__main__":
    main()
