"""What identifies a model by all that can change a vector."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from turnloom.files import LISTING

__all__ = ["NOT_THE_MODEL", "folder_fingerprint", "weights_fingerprint"]

NOT_THE_MODEL = ("training", "ray", "report.json", "measured", LISTING)
"""How it was made, what was measured, and which files it has: that does not change what it is."""


def folder_fingerprint(folder: Path) -> str:
    """A hash of everything in a model's folder that can change a vector."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.relative_to(folder).parts[0] in NOT_THE_MODEL:
            continue
        if path.suffix in (".json", ".safetensors", ".onnx", ".txt", ".model"):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def weights_fingerprint(model: Any, *more: str) -> str:
    """A hash of a module's weights, and of what else is said to matter."""
    digest = hashlib.sha256("\x00".join(more).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:32]
