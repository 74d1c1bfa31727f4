"""Serve a studio of toy chats in a process of its own: python -m tests.studio.serving FOLDER [HOST]."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.studio.toy import StudioEncoder
from turnloom.studio.server import serve


@contextmanager
def serving(folder: Path, host: str = "127.0.0.1") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address of a studio, and its process."""
    command = [sys.executable, "-m", "tests.studio.serving", str(folder), host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


def _print(address: str) -> None:
    print(address, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), StudioEncoder(), host=sys.argv[2], port=0, on_start=_print)  # type: ignore[arg-type]
