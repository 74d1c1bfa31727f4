"""Package a finished run as `turnloom-mini`: half-precision weights, model card, notice, and what an installer needs.

Usage: python -m studies.flagship.package RUN models/turnloom-mini

People write the card. Packaging again keeps it, and renews only the sections that follow from the run (`RENEWED`).
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

NAME, MODULE, VERSION = "turnloom-mini", "turnloom_mini", "0.1.0"
LEFT_OUT = ("training", "__pycache__")
RENEWED = ("Recipe", "Papers")
PROJECT = f"""[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "{NAME}"
version = "{VERSION}"
description = "A small dialogue encoder: detects intents from a few examples and finds fitting replies"
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
(Apache-2.0), recipe `turnloom`, on open conversations without labels. README.md, "Training", lists the sources, their
licences and how much of each was used. CC BY and CC BY-SA require this attribution:

"""


def halve(path: Path) -> None:
    """Store weights in 16 bits; models load them in 32."""
    tensors = {
        name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in load_file(path).items()
    }
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    save_file(tensors, path, metadata={"format": "pt"})
    path.chmod(0o644)


def sources(card: str) -> str:
    """The sources of a run's card with their licences, as a list."""
    rows = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith("| ")]
    named = [row for row in rows if len(row) == 3 and row[0] not in ("source", "---")]
    return "\n".join(f"- {source}: {licence}" for source, _, licence in named) + "\n"


def renewed(written: str, card: str) -> str:
    """A written card with the `RENEWED` sections of a run's card; `##` inside a code block is no heading."""
    for heading in RENEWED:
        section = re.compile(rf"^## {heading}\n(?:```[^`]*```\n|(?!## )[^\n]*\n)*", re.MULTILINE)
        old, new = section.search(written), section.search(card)
        if old and new:
            space = old[0][len(old[0].rstrip()) :]
            written = written[: old.start()] + new[0].rstrip() + space + written[old.end() :]
    return written


def main(run: str, out: str) -> None:
    folder = Path(out)
    card = (Path(run) / "README.md").read_text().replace(Path(run).name, NAME)
    written = (folder / "README.md").read_text() if (folder / "README.md").exists() else card
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for path in folder.rglob("*.safetensors"):
        halve(path)
    (folder / "README.md").write_text(renewed(written, card))
    (folder / "NOTICE").write_text(NOTICE + sources(card))
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "__init__.py").write_text('"""A dialogue encoder; this folder is the model."""\n')
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB; check scores, training and validation on its card")
    assert size <= 50e6


if __name__ == "__main__":
    main(*sys.argv[1:])
