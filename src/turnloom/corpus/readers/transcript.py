"""Plain-text transcripts: ``Agent: how can I help?``, with a blank line between dialogues.

A line without a speaker continues the turn before it. A line may start with a time in brackets
(``[2024-05-01 10:32] Agent: …``) or with the time since the start of a call (``00:12 Agent: …``). If there is a blank
line after every turn, the file is one dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.logfile import ByteStream, Line, Parsed, Rejection, read_lines, shorten
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn, check_dialogue

_OFFSET = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_TURN = re.compile(
    r"^(?:\[(?P<time>[^\]]{4,40})\]\s*|\(?" + _OFFSET + r"\)?(?:\s*-+>?\s*" + _OFFSET + r")?\s*[-|]?\s+)?"
    r"(?P<speaker>[^\s:\[{\"][^:\n{\"]{0,60}?)\s*(?:[(\[]" + _OFFSET + r"[)\]])?\s*:"
    r"(?:\s+(?P<text>.*)|$)"
)
_CLOCK_ONLY = re.compile(_OFFSET)
"""Transcripts of calls count the time from the start of the recording: that is no point in time."""
MAX_BLOCK_LINES = 100_000
PEEKED_BYTES = 2**14


def _has_blank_line_after_turns(start: bytes) -> bool:
    """Whether blank lines stand between the turns of one dialogue: each block has one turn, and speakers come back."""
    text = start.decode("utf-8-sig", "replace")
    blocks = [block.splitlines() for block in re.split(r"\n[ \t\r]*\n", text) if block.strip()]
    spoken = [[match["speaker"] for line in block if (match := _TURN.match(line))] for block in blocks]
    if len(spoken) < 3 or any(len(speakers) > 1 for speakers in spoken):
        return False
    speakers = [one[0] for one in spoken if one]
    return len(set(speakers)) > 1 and len(set(speakers)) <= 0.7 * len(speakers)


class TranscriptReader:
    """Reads conversations as people write them down."""

    name = "transcript"
    title = "plain-text transcript (Speaker: text)"

    def recognise(self, head: Head) -> str | None:
        """Recognise files in which most lines start with a speaker and a colon."""
        lines = [line for line in head.lines()[:200] if line.strip()]
        spoken = [match["speaker"] for line in lines if (match := _TURN.match(line))]
        record = head.first_record()  # A leading time in brackets looks like an array, and its year like a record.
        is_json = record is not None and isinstance(record.value, (dict, list))
        if is_json or not spoken or len(spoken) < 0.5 * len(lines):
            return None
        names = ", ".join(repr(name) for name in list(dict.fromkeys(spoken))[:3])
        return f"{len(spoken)} of its first {len(lines)} lines start with a speaker and a colon ({names})"

    def check(self, head: Head, options: ReadOptions) -> None:
        """A transcript has no columns, so there is nothing to check."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield one dialogue per block of lines."""
        block: list[Line] = []
        spaced = _has_blank_line_after_turns(stream.peek(PEEKED_BYTES)[:PEEKED_BYTES])
        for line in read_lines(stream):
            if isinstance(line, Rejection):
                yield line
            elif not line.content.strip() and spaced and len(block) < MAX_BLOCK_LINES:
                continue
            elif line.content.strip() and len(block) < MAX_BLOCK_LINES:
                block.append(line)
            else:
                yield from self._dialogue(block, options)
                block = [line] if line.content.strip() else []
        yield from self._dialogue(block, options)

    def _dialogue(self, block: list[Line], options: ReadOptions) -> Iterator[Parsed | Rejection]:
        if not block:
            return
        try:
            turns, dropped = self._turns(block, options)
            dialogue = Dialogue(f"{options.stem}-{block[0].number}", options.source, turns, language=options.language)
            yield Parsed(check_dialogue(dialogue), dropped_turns=dropped)
        except UnicodeDecodeError as error:
            yield Rejection(block[0].number, "it is not UTF-8", shorten(error.object))
        except BadDialogueError as error:
            yield Rejection(block[0].number, error.reason, shorten(error.piece or block[0].content))

    def _turns(self, block: list[Line], options: ReadOptions) -> tuple[list[Turn], int]:
        turns: list[Turn] = []
        for line in block:
            text = line.content.decode("utf-8").removeprefix("\ufeff")
            match = _TURN.match(text)
            if match:
                offset = match["time"] is not None and _CLOCK_ONLY.fullmatch(match["time"].strip())
                time = None if offset else options.times.read(match["time"])
                turns.append(Turn(match["speaker"], match["text"] or "", time=time))
            elif turns:
                turns[-1].text += "\n" + text
            else:
                raise BadDialogueError(f"line {line.number} starts no turn: 'Speaker: text' expected", text)
        said = [turn for turn in turns if turn.text.strip()]
        return said, len(turns) - len(said)


READER = TranscriptReader()
