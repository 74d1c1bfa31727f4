"""The tutorial as a newcomer does it: every block of docs/tutorial.md, in order; records how long it takes.

Usage: python -m studies.onboarding.tutorial [--log FILE] [--pictures FOLDER]

Commands come from the page itself, so page and study cannot drift; they run in a new virtual environment that holds
what the page's own `pip install` puts there. What each one prints goes to the log, to be shown on the page.
The installation is timed by `install.py`; time that a person spends reading and typing is in neither.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tools.code_blocks import ROOT, Block, blocks, commands

from studies.lib.figures import record
from studies.onboarding.install import Environment
from studies.onboarding.pictures import take_pictures
from studies.service.lab import free_port

PAGE = ROOT / "docs" / "tutorial.md"
ADDRESS = "127.0.0.1:8000"


@dataclass
class Newcomer:
    """Does what the page says, in a folder, with a watch in hand."""

    place: Path
    log: IO[str]
    installed: Environment
    address: str = field(default_factory=lambda: f"127.0.0.1:{free_port()}")
    seconds: list[tuple[str, float]] = field(default_factory=list)
    service: subprocess.Popen[bytes] | None = None
    said: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The commands of the new environment, and nothing of the clone."""
        tools = f"{self.installed.python.parent}:{os.environ['PATH']}"
        return {**os.environ, "PATH": tools, "PYTHONPATH": "", "COLUMNS": "100"}

    def do(self, block: Block) -> None:
        """Write, run or ask what a block holds."""
        body = block.body.replace(ADDRESS, self.address)
        if block.title:
            port = self.address.rpartition(":")[2]
            (self.place / block.title).write_text(body.replace("port: 8000", f"port: {port}"), encoding="utf-8")
        elif block.kind == "python":
            # A page's Python goes on where the block before it ended.
            again = f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    exec({self.said!r})\n"
            self.timed("python", ["python", "-c", again + body])
            self.said += body
        elif block.kind == "console":
            for command in commands(block):
                if command.text.startswith("turnloom serve service.yaml") and "--check" not in command.text:
                    self.serve(command.text)
                elif command.text.startswith("pip install "):
                    self.installed.run(command.text)
                else:
                    self.timed(command.text, ["bash", "-euo", "pipefail", "-c", command.text])

    def timed(self, name: str, command: list[str]) -> None:
        """Run to the end; what fails stops the study."""
        begun = time.perf_counter()
        done = subprocess.run(
            command, cwd=self.place, env=self.environment, capture_output=True, text=True, check=False
        )
        self.seconds.append((name, time.perf_counter() - begun))
        self.log.write(f"$ {name}\n{done.stdout}{done.stderr}\n")
        if done.returncode:
            raise SystemExit(f"{name}\n{done.stdout}{done.stderr}")

    def serve(self, name: str) -> None:
        """Start the service and wait until it is ready."""
        begun = time.perf_counter()
        self.service = subprocess.Popen(name.split(), cwd=self.place, env=self.environment)
        while not self.ready():
            if self.service.poll() is not None or time.perf_counter() - begun > 300:
                raise SystemExit("the service does not come up")
            time.sleep(0.2)
        self.seconds.append((name, time.perf_counter() - begun))

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/health/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, TimeoutError):
            return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, help="where what is printed goes")
    parser.add_argument("--pictures", type=Path, help="the folder for pictures of the pages that it makes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, (given.log or Path(os.devnull)).open("w", encoding="utf-8") as log:
        newcomer = Newcomer(Path(folder), log, Environment(Path(folder) / "environment"))
        (Path(folder) / "examples").symlink_to(ROOT / "examples")  # The page's first command writes the shop's chats.
        try:
            for block in blocks(PAGE):
                newcomer.do(block)
            if given.pictures:
                take_pictures(newcomer.place, newcomer.address, given.pictures)
        finally:
            if newcomer.service is not None:
                newcomer.service.terminate()
                newcomer.service.wait(60)
    for name, seconds in newcomer.seconds:
        print(f"{seconds:7.1f} s  {name}")
    record("onboarding", {"tutorial_minutes": sum(seconds for _, seconds in newcomer.seconds) / 60})


if __name__ == "__main__":
    main()
