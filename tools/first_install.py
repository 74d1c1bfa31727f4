"""The install lines of the README and the tutorial, run as they are written, and what they install put to work.

Usage: python -m tools.first_install

Run it in a new virtual environment; it needs nothing but Python. Pin torch with PIP_CONSTRAINT to keep its CPU build.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.code_blocks import ROOT, blocks, commands

PAGES = ("README.md", "docs/tutorial.md")
"""Whose install lines must work as they are written."""


def install_lines() -> list[str]:
    """The `pip install` lines of the pages, each once."""
    shown = (command.text for page in PAGES for block in blocks(ROOT / page) for command in commands(block))
    return list(dict.fromkeys(line for line in shown if line.startswith("pip install ")))


def try_out() -> None:
    """Go from chats to a service's configuration, outside the clone, with what is installed."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as place:

        def run(*words: str) -> str:
            done = subprocess.run(words, cwd=place, env=settings, stdout=subprocess.PIPE, text=True, check=True)
            return done.stdout

        run(sys.executable, str(ROOT / "examples" / "shop.py"), "chats.csv", "60")
        said = run("turnloom", "quickstart", "chats.csv", "--minutes", "0.02")
        if "turnloom serve quickstart/service.yaml" not in said:
            sys.exit(f"quickstart does not say how to serve:\n{said}")
        where = run(sys.executable, "-c", "import turnloom; print(turnloom.__file__)").strip()
        if not Path(where).is_relative_to(sys.prefix):
            sys.exit(f"turnloom was not installed, but found in {where}")


def main() -> None:
    for line in install_lines():
        subprocess.run(["bash", "-c", line], cwd=ROOT, check=True)
    try_out()


if __name__ == "__main__":
    main()
