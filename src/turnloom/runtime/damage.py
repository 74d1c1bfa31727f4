"""A model's folder that is not whole: a download that broke off, a file of another model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from turnloom.errors import TurnloomError

__all__ = ["damage_named"]

LONGEST = 160


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Within this context a model is loaded; what goes wrong names its folder.

    Raises:
        TurnloomError: If the model cannot be loaded.
    """
    from safetensors import SafetensorError

    try:
        yield
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= LONGEST else reason[:LONGEST] + "…"
        raise TurnloomError(f"{folder} holds a damaged model ({reason})", "copy or download it again") from error
