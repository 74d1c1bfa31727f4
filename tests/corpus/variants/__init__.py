"""Exports as vendors write them, by hand: the one list behind the tests of recognition, reading and broken records.

Each variant is written after the vendor's documentation. `said` lists what must be read, by dialogue: speaker, text, and
the time where it is checked.
"""

from __future__ import annotations

from tests.corpus.variants import calls, desks, mail, messengers, plain, tables
from tests.corpus.variants.base import Variant

VARIANTS: list[Variant] = [
    *messengers.VARIANTS,
    *desks.VARIANTS,
    *tables.VARIANTS,
    *mail.VARIANTS,
    *calls.VARIANTS,
    *plain.VARIANTS,
]

__all__ = ["VARIANTS", "Variant"]
