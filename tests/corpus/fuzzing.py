"""Read what `tests.corpus.mutations` breaks."""

from __future__ import annotations

import io

from tests.corpus.mutations import SHAPELESS, Fuzz
from turnloom.corpus.readers import READERS, Head, ReadOptions
from turnloom.corpus.readers.logfile import Parsed
from turnloom.corpus.schema import dialogues_to_arrow
from turnloom.errors import TurnloomError


def read_all(fuzz: Fuzz) -> tuple[int, int]:
    """Accepted and rejected records of a file; what is accepted must fit into the table."""
    options = ReadOptions("fuzz", "fuzz", mapping=SHAPELESS if fuzz.reader == "json" else {})
    accepted = rejected = 0
    dialogues = []
    for entry in READERS[fuzz.reader].read(io.BufferedReader(io.BytesIO(fuzz.content)), "fuzz", options):
        if isinstance(entry, Parsed):
            accepted += entry.records
            dialogues.append(entry.dialogue)
        else:
            assert entry.reason
            rejected += 1
    dialogues_to_arrow(dialogues)
    return accepted, rejected


def detect_in(fuzz: Fuzz) -> None:
    """Let every reader look at the start of a file."""
    head = Head("fuzz", fuzz.content, mapping=SHAPELESS if fuzz.reader == "json" else {})
    for reader in READERS.values():
        reader.recognise(head)


def read_or_refuse(fuzz: Fuzz, *, detect: bool = False) -> tuple[int, int]:
    """Accepted and rejected records of a file; an error for its user counts as one rejected record."""
    try:
        if detect:
            detect_in(fuzz)
        good, bad = read_all(fuzz)
    except TurnloomError:
        return 0, 1
    known = fuzz.records is None and (good + bad >= 1 or fuzz.may_be_empty)
    assert known or good + bad == fuzz.records, (good, bad, fuzz.records)
    return good, bad
