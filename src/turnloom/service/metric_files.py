"""Where worker processes count together: memory-mapped files that no full disk can take away.

Prometheus' client maps a file per worker and metric type. Touching a mapped page that the disk has no room for ends the
process, so the files are in memory where the system has a file system for that, and their space is taken at the start.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
IN_MEMORY = Path("/dev/shm")
TYPES = ("counter", "histogram", "gauge_livesum")
BYTES = 2**18
"""Per file: several times what all routes, statuses and models need."""
_PREFIX = "turnloom-metrics-"
_log = logging.getLogger("turnloom.service")


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Make a folder for the files of this process's workers, and name it in the environment."""
    above = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _forget_killed(above)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=above))
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _forget_killed(above: Path) -> None:
    """Remove what services left that were killed."""
    for folder in above.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not is_running(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def is_running(process: int) -> bool:
    """Whether a process exists."""
    try:
        os.kill(process, 0)  # Signal 0 only checks.
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def reserve(tenants: int = 0) -> bool:
    """Take the space of this worker's files; return whether it counts together with others.

    Without space it counts for itself alone. Each of the tenants has counts of its own.
    """
    from prometheus_client import values

    if FOLDER not in os.environ:
        return False
    size = BYTES * (1 + tenants)
    paths = [Path(os.environ[FOLDER]) / f"{name}_{os.getpid()}.db" for name in TYPES]
    try:
        for path in paths:
            if not path.exists():
                with path.open("xb", buffering=0) as file:
                    file.write(bytes(size))
                    os.fsync(file.fileno())
                    if file.tell() < size:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        values.ValueClass = values.MutexValue
        for path in paths:
            path.unlink(missing_ok=True)
        _log.error("this worker's metrics are not added to the others'", extra={"problem": error.strerror})
        return False
    return True
