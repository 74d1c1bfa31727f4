"""10,000 mutated records through each reader: crashes, hangs, and whether every record is accounted for.

Usage: python -m studies.corpus.fuzz [reader ...]

The crashes of each reader go to `fuzz.json`; the figures are recorded when every reader has been run. Delete a line
there to run its reader again.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

from tests.corpus.fuzzing import read_or_refuse
from tests.corpus.mutations import fuzz_files

from studies.lib.figures import record
from turnloom.corpus.readers import READERS

RESULTS = Path(__file__).with_name("fuzz.json")
RECORDS = 10_000
HANG_SECONDS = 60
"""Of the processor: on a busy machine, anything takes long."""
DETECTED_EVERY = 20
"""Every reader looks at the start of one in so many broken files, as when a format is recognised."""


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"one file took more than {HANG_SECONDS} seconds of the processor")


def known_crashes() -> dict[str, int]:
    """Return the crashes of the readers that have been run."""
    known: dict[str, int] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return known


def fuzz_reader(reader: str) -> int:
    """Return the number of crashes of a reader."""
    start, accepted, rejected, crashes = time.perf_counter(), 0, 0, 0
    for number, fuzz in enumerate(fuzz_files(reader, RECORDS, seed=1)):
        signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
        try:
            good, bad = read_or_refuse(fuzz, detect=number % DETECTED_EVERY == 0)
            accepted, rejected = accepted + good, rejected + bad
        except Exception:
            traceback.print_exc()
            crashes += 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.perf_counter() - start
    print(f"{reader}: {accepted:,} accepted, {rejected:,} rejected, {crashes} crashes, {seconds:.1f} s", flush=True)
    return crashes


def main() -> None:
    signal.signal(signal.SIGPROF, _hang)
    for reader in sys.argv[1:] or READERS:
        if reader not in known_crashes():
            crashes = fuzz_reader(reader)
            known = {**known_crashes(), reader: crashes}  # Read again: other readers may run beside this one.
            RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
    known = known_crashes()
    if all(reader in known for reader in READERS):
        crashes = sum(known[reader] for reader in READERS)
        figures: dict[str, float] = {
            "fuzz_records": RECORDS * len(READERS),
            "fuzz_records_per_reader": RECORDS,
            "fuzz_crashes": crashes,
        }
        record("corpus", figures)


if __name__ == "__main__":
    main()
