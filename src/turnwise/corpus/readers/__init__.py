"""Readers: one file a format, each turning a chat log into dialogues and reasons for what it left out."""

from __future__ import annotations

from turnwise.corpus.readers import delimited, messages, multiwoz, parquet, sgd, taskmaster, transcript, turns
from turnwise.corpus.readers.base import Head, Reader, ReadOptions

__all__ = ["READERS", "Head", "ReadOptions", "Reader"]

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        parquet.READER,
        messages.READER,
        sgd.READER,
        turns.READER,
        multiwoz.READER,
        taskmaster.READER,
        delimited.READER,
        transcript.READER,
    )
}
"""Every format by name, the most distinctive first: detection takes the first that recognises a file."""
