"""The first dialogues of some logs as they would be read, without writing a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from turnloom.corpus.readers.location import READ_ERRORS
from turnloom.corpus.readers.logfile import Parsed, Rejection
from turnloom.corpus.readers.rows import NO_ORDER
from turnloom.corpus.readers.source import LogFile, comes_in_pieces, name_roles, read_entries
from turnloom.corpus.schema import Dialogue, Turn
from turnloom.corpus.table import falls_into

LOOKED_AT = 20_000
"""Records: the other turns of the first dialogues of a table may stand anywhere, and usually stand near."""


@dataclass
class Preview:
    """Dialogues, the first rejections, and how many records were looked at."""

    dialogues: list[Dialogue] = field(default_factory=list)
    rejections: list[tuple[str, Rejection]] = field(default_factory=list)
    """Each with its file."""
    records: int = 0


@dataclass
class _Gathered:
    """The pieces of one dialogue."""

    dialogue: Dialogue
    turns: list[tuple[int, int, Turn]] = field(default_factory=list)

    def add(self, entry: Parsed) -> None:
        numbers = range(len(entry.dialogue.turns))
        latest = NO_ORDER
        for turn, order, line in zip(entry.dialogue.turns, entry.order or numbers, entry.lines or numbers, strict=True):
            latest = latest if order == NO_ORDER else order  # Without a time, a turn follows the one before.
            self.turns.append((latest, line, turn))

    def whole(self) -> Dialogue:
        self.dialogue.turns = [turn for _, _, turn in sorted(self.turns, key=lambda entry: entry[:2])]
        return self.dialogue


def preview_dialogues(logs: Sequence[LogFile], most: int = 3) -> Preview:
    """Read the first dialogues of some logs; several turns are more telling than one, so those come first."""
    preview = Preview()
    gathered: dict[tuple[str, str], _Gathered] = {}
    for log in logs:
        _gather(log, gathered, preview, most)
        # Another file may still go on with the dialogues of this one.
        if preview.records >= LOOKED_AT or (len(gathered) >= most and not comes_in_pieces(log.format)):
            break
    dialogues = [entry.whole() for entry in gathered.values() if entry.turns]
    dialogues.sort(key=lambda dialogue: len(dialogue.turns) < 2)
    preview.dialogues = dialogues[:most]
    return preview


def _gather(log: LogFile, gathered: dict[tuple[str, str], _Gathered], preview: Preview, most: int) -> None:
    scattered = comes_in_pieces(log.format)
    try:
        for number, entry in enumerate(read_entries(log)):
            if isinstance(entry, Rejection):
                preview.rejections.append((log.path, entry))
                preview.records += 1
            else:
                preview.records += entry.records
                if log.keep is not None and not falls_into(log.keep, entry.dialogue.dialogue_id):
                    continue
                name_roles(entry.dialogue, log.options.agents)
                name = entry.dialogue.dialogue_id if scattered else f"{log.path} {number}"
                gathered.setdefault((entry.dialogue.source, name), _Gathered(entry.dialogue)).add(entry)
            if preview.records >= LOOKED_AT or (not scattered and len(gathered) >= most):
                return
    except READ_ERRORS as error:
        preview.rejections.append((log.path, Rejection(0, f"the file could not be read to its end: {error}")))
