"""From any chat log to one clean dialogue table."""

from __future__ import annotations

from turnwise.corpus.convert import Conversion, convert, find_logs
from turnwise.corpus.schema import SCHEMA_VERSION, Dialogue, Slot, Turn
from turnwise.corpus.table import Manifest, read_manifest, read_table

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
