"""A supervisor of two workers that need no model: one serves, the other cannot start until a file says so.

Usage: python -m tests.service.supervised FOLDER
"""

from __future__ import annotations

import os
import socket
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from turnloom.service import supervisor

FOLDER = "SUPERVISED_FOLDER"


def work(_: socket.socket, ready: Connection) -> None:
    folder = Path(os.environ[FOLDER])
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        if not (folder / "repaired").exists():
            (folder / f"failed-{os.getpid()}").touch()
            raise SystemExit(supervisor.FAILED_TO_START) from None
    ready.send("ready")
    (folder / f"served-{os.getpid()}").touch()
    time.sleep(60)


def main() -> None:
    os.environ[FOLDER] = sys.argv[1]
    supervisor.PRELOADED, supervisor.PAUSE = (), 0.1
    raise SystemExit(supervisor.Supervisor(work, socket.socket, 2).run())


if __name__ == "__main__":
    main()
