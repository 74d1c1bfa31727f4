"""Read chat logs of any format into one clean dialogue table."""

from __future__ import annotations

from turnloom.corpus.convert import Conversion, convert
from turnloom.corpus.readers.detection import find_logs
from turnloom.corpus.schema import SCHEMA_VERSION, Dialogue, Slot, Turn
from turnloom.corpus.table import Manifest, read_manifest, read_table

__all__ = [
    "SCHEMA_VERSION",
    "Conversion",
    "Dialogue",
    "Manifest",
    "Slot",
    "Turn",
    "convert",
    "find_logs",
    "read_manifest",
    "read_table",
]
