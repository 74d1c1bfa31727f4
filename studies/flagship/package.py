"""Makes the package `turnloom-mini` of a finished run: half precision, card, notice, and what an installer needs.

Usage: python -m studies.flagship.package RUN models/turnloom-mini
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

NAME, MODULE, VERSION = "turnloom-mini", "turnloom_mini", "0.1.0"
LEFT_OUT = ("training", "__pycache__")
PROJECT = f"""[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "{NAME}"
version = "{VERSION}"
description = "A small dialogue encoder: what a message means, what a conversation calls for, what a reply answers"
readme = "README.md"
license = "Apache-2.0"
license-files = ["NOTICE"]
requires-python = ">=3.10"

# `turnloom.load("{NAME}")` finds the model by this.
[project.entry-points."turnloom.models"]
{NAME} = "{MODULE}"

[tool.hatch.build.targets.wheel.force-include]
"." = "{MODULE}"
"""
NOTICE = """turnloom-mini

The weights were trained from all-MiniLM-L6-v2 (Apache-2.0, the sentence-transformers authors) with Turnloom
(Apache-2.0), recipe `turnloom`, on open conversations without labels. The sources, their licences and how much of each
was used stand in README.md, "Training"; those under CC BY and CC BY-SA want to be named:

"""


def halve(path: Path) -> None:
    """Write weights in 16 bits; they are read in 32."""
    tensors = {
        name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in load_file(path).items()
    }
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    save_file(tensors, path, metadata={"format": "pt"})
    path.chmod(0o644)


def sources(card: str) -> str:
    """The lines of the card that name a source and its licence."""
    rows = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith("| ")]
    named = [row for row in rows if len(row) == 3 and row[0] not in ("source", "---")]
    return "\n".join(f"- {source}: {licence}" for source, _, licence in named) + "\n"


def main(run: str, out: str) -> None:
    folder = Path(out)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for path in folder.rglob("*.safetensors"):
        halve(path)
    card = (folder / "README.md").read_text().replace(Path(run).name, NAME)
    (folder / "README.md").write_text(card)
    (folder / "NOTICE").write_text(NOTICE + sources(card))
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "__init__.py").write_text('"""A dialogue encoder; this folder is the model."""\n')
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    assert size <= 50e6


if __name__ == "__main__":
    main(*sys.argv[1:])
