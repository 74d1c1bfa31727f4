"""10,000 mutated records through each reader: crashes, hangs, and whether every record is accounted for.

Usage: python -m studies.corpus.fuzz
"""

from __future__ import annotations

import signal
import time
import traceback
from types import FrameType

from tests.corpus.mutations import fuzz_files
from tests.corpus.test_fuzz import read_all

from studies.lib.figures import record
from turnloom.corpus.readers import READERS

RECORDS = 10_000
HANG_SECONDS = 60


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"one file took more than {HANG_SECONDS} seconds")


def main() -> None:
    signal.signal(signal.SIGALRM, _hang)
    records = crashes = 0
    for reader in READERS:
        start, accepted, rejected = time.perf_counter(), 0, 0
        for fuzz in fuzz_files(reader, RECORDS, seed=1):
            signal.alarm(HANG_SECONDS)
            try:
                good, bad = read_all(fuzz)
                assert good + bad == fuzz.records or (fuzz.records is None and good + bad >= 1), (
                    good,
                    bad,
                    fuzz.records,
                )
            except Exception:
                traceback.print_exc()
                crashes += 1
                continue
            finally:
                signal.alarm(0)
            accepted, rejected = accepted + good, rejected + bad
        seconds = time.perf_counter() - start
        print(f"{reader}: {accepted:,} accepted + {rejected:,} rejected = {accepted + rejected:,}, {seconds:.1f} s")
        records += RECORDS
    record("corpus", {"fuzz_records": records, "fuzz_crashes": crashes})


if __name__ == "__main__":
    main()
