"""How many hostile model folders are refused with nothing run: `python -m studies.onboarding.hostile`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.runtime.test_hostile_folders import HOSTILE, refused, write_bases

from studies.lib.figures import record


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="turnloom-") as folder:
        good = refused(write_bases(Path(folder) / "bases"))
    for hostile, fine in zip(HOSTILE, good, strict=True):
        print(f"{'refused' if fine else 'NOT REFUSED'}: {hostile.name}")
    record("onboarding", {"hostile_folders_refused": sum(good)})


if __name__ == "__main__":
    main()
