"""Which precision a machine computes fast."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["computes_bf16_fast"]

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
