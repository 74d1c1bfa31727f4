"""How many roles went the whole way, and how many frictions are left, by `roles.yaml`.

Usage: python -m studies.onboarding.roles
"""

from __future__ import annotations

from pathlib import Path

import yaml

from studies.lib.figures import record


def main() -> None:
    roles = yaml.safe_load(Path(__file__).with_name("roles.yaml").read_text(encoding="utf-8")).values()
    finished = sum(role["finished"] for role in roles)
    record("onboarding", {"roles_finished": finished, "frictions_left": sum(len(role["left"]) for role in roles)})


if __name__ == "__main__":
    main()
