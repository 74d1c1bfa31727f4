"""Which precision a machine computes fast."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PROCESSOR = Path("/proc/cpuinfo")

# Others emulate it: with AVX-512 but without these, a step of training takes about three times as long as in fp32.
_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def computes_bf16_fast() -> bool:
    """Whether bfloat16 is faster than fp32 here: a GPU or a CPU that has instructions for it.

    A CPU of which torch cannot tell (an old torch, or not x86) counts as one that has none.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able: Mapping[str, bool | int | str] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(able.get(name) for name in _INSTRUCTIONS)


def has_vnni() -> bool:
    """Whether an x86 CPU has instructions that sum products of 8 bits in 32 bits; not known outside of Linux: no."""
    told = PROCESSOR.read_text(encoding="utf-8", errors="replace") if PROCESSOR.exists() else ""
    flags = re.search(r"^flags\s*:(.*)$", told, re.MULTILINE)
    return flags is not None and not {"avx512_vnni", "avx_vnni"}.isdisjoint(flags[1].split())
