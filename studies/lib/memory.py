"""How much memory this process holds, as the kernel counts it."""

from __future__ import annotations

import re
from pathlib import Path

GIB = 2**20  # of the kibibytes in which the kernel counts


def kibibytes(name: str) -> int:
    """A line of the process's status: VmRSS is what it holds now, VmHWM the most it ever held."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found
    return int(found[1])
