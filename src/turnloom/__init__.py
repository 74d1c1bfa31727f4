"""Turnloom: dialogue embeddings from raw conversations, and the tools that put them to work.

Importing this package does no work and loads no heavy dependency; import the part you need,
for example ``from turnloom.corpus import read_table``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from turnloom.runtime import Encoder

__version__ = "0.2.0"

__all__ = ["__version__", "load"]


def load(model: str | Path) -> Encoder:
    """Load an encoder from a model folder, or by the name of an installed model.

    Example:
        ``turnloom.load("turnloom-mini").encode(["where is my parcel?"])``
    """
    from turnloom.runtime import load_encoder

    return load_encoder(model)
