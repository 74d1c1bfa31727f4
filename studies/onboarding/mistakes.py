"""How many of a new user's mistakes are answered by one line with the fix: `python -m studies.onboarding.mistakes`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.cli.test_mistakes import MISTAKES, answer, is_one_line, write_world

from studies.lib.figures import record


def main() -> None:
    good = 0
    with tempfile.TemporaryDirectory(prefix="turnloom-") as folder:
        world = write_world(Path(folder))
        for mistake in MISTAKES:
            code, said = answer(mistake, world)
            fine = is_one_line(code, said) and mistake.says in said
            good += fine
            print(f"{'one line' if fine else 'NOT FIXED'}: {mistake.name}")
    record("onboarding", {"user_mistakes": len(MISTAKES), "user_mistakes_one_line": good})


if __name__ == "__main__":
    main()
