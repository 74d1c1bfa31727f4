"""A transcript per cell: ``Agent: hello  Customer: hi``, on several lines or on one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.column_names import folded_name
from turnloom.corpus.readers.fields import ROLES
from turnloom.corpus.readers.logfile import Parsed, Rejection, shorten
from turnloom.corpus.readers.markup import plain_text
from turnloom.corpus.readers.rows import FIELDS, Row
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn, check_dialogue

_OFFSET = r"(?:[(\[]\s*(?:\d+\s?[hms]\s?)+[)\]]|[(\[]?\d{1,2}:\d{2}(?::\d{2})?\s?(?:[AaPp][Mm])?[)\]]?)"
"""`( 1m 5s )`, `[00:15]`, `10:32:05`."""
_LABEL = re.compile(
    rf"(?P<start>^|\n|\|+|(?<=[.?!…)\"'])\s|\s{{2,}}|\s(?={_OFFSET}))\s*(?:{_OFFSET}\s*[-|]?\s*)?"
    rf"(?P<name>[^\W\d_][\w.'’-]{{0,40}}(?:[^\S\n][\w.'’()#-]{{1,40}}){{0,3}}?)[^\S\n]*{_OFFSET}?[^\S\n]*:(?=\s|$)"
)
_WIDE_SPACE = re.compile(r"[^\S\n]{3,}")
_BLANK_LINES = re.compile(r"\n\s*\n")
_WORDS = frozenset(
    (*ROLES, "assistant", "system", "speaker", "helpdesk", "csr", "service", "kunde", "cliente", "agente")
)
_ABOUT = ("chat started", "chat origin", "chat transferred", "call started", "duration", "date", "subject")
"""Labels above a transcript that are no speakers."""
_CELLS = 50
_COLUMN_NAMES = (
    "transcript",
    "conversation",
    "dialogue",
    "dialog",
    "chat",
    "chat_transcript",
    "messages",
    "body",
    "text",
)


def _is_role(name: str) -> bool:
    return any(word in _WORDS for word in re.split(r"[\s_\d#()-]+", name.lower()))


def split_transcript(text: str) -> list[tuple[str, str]]:
    """Split a transcript into speakers and texts; what stands before the first speaker has none.

    A label inside a line counts if it names a role or comes back: `Note: ` in the middle of a sentence is no speaker.

    Example:
        >>> split_transcript("Agent: Hi, how can I help? Customer: My card is lost. Agent: I block it now.")
        [('Agent', 'Hi, how can I help?'), ('Customer', 'My card is lost.'), ('Agent', 'I block it now.')]
    """
    text = _BLANK_LINES.sub("\n", _WIDE_SPACE.sub("  ", text))
    labels = list(_LABEL.finditer(text))
    counts = Counter(match["name"] for match in labels)
    labels = [
        match
        for match in labels
        if match["start"] in ("", "\n") or _is_role(match["name"]) or counts[match["name"]] > 1
    ]
    starts = [*(match.start() for match in labels), len(text)]
    before = text[: starts[0]].strip()
    pairs = [("", before)] if before else []
    for match, end in zip(labels, starts[1:], strict=True):
        pairs.append((match["name"].strip(), text[match.end() : end].strip().strip("|").strip()))
    return pairs


def _is_transcript(value: Any) -> bool:
    """Whether a cell has two or more turns of which most have a speaker that comes back or names a role."""
    if not isinstance(value, str) or ":" not in value:
        return False
    names = [name for name, _ in split_transcript(plain_text(value)) if name]
    return len(set(names)) > 1 and (sum(map(_is_role, names)) >= 2 or len(names) > len(set(names)))


def _column(names: list[str], rows: list[Row]) -> str | None:
    """Return the column with transcripts, if there is one."""
    shares = {}
    for name in names:
        cells = [row.values.get(name) for row in rows[:_CELLS]]
        cells = [cell for cell in cells if cell not in (None, "")]
        if cells:
            shares[name] = sum(map(_is_transcript, cells)) / len(cells)
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= 0.5 else None


class TranscriptCells:
    """Tables with a conversation per row."""

    name = "transcript-cells"
    title = "table with a transcript per row"

    def sign(self, names: list[str], rows: list[Row]) -> str | None:
        """Recognise a column in which most cells hold several turns."""
        column = _column(names, rows)
        return None if column is None else f"the cells of its column {column!r} hold whole transcripts"

    def read(
        self, rows: Iterator[Row | Rejection], names: list[str], options: ReadOptions
    ) -> Iterator[Parsed | Rejection]:
        """Yield a dialogue per row."""
        first: list[Row | Rejection] = []
        while sum(isinstance(row, Row) for row in first) < _CELLS and (row := next(rows, None)) is not None:
            first.append(row)
        mapped = options.mapping.get("text")
        column = mapped or _column(names, [row for row in first if isinstance(row, Row)]) or self._likely(names)
        by_name = {folded_name(name): name for name in reversed(names)}
        ids = (by_name.get(name) for name in (*FIELDS["dialogue_id"], "id", "call_id", "chat_id", "case_id"))
        name = options.mapping.get("dialogue_id") or next((found for found in ids if found and found != column), None)
        for row in (*first, *rows):
            yield row if isinstance(row, Rejection) else self._dialogue(row, column, name, options)

    def _likely(self, names: list[str]) -> str:
        usual = (name for name in names if folded_name(name) in _COLUMN_NAMES)
        return next(usual, names[-1] if names else "")

    def _dialogue(self, row: Row, column: str, name: str | None, options: ReadOptions) -> Parsed | Rejection:
        try:
            cell = row.values.get(column)
            text = plain_text(str(cell)) if cell is not None else ""
            pairs = split_transcript(text)
            turns = [Turn(speaker, "" if speaker.lower() in _ABOUT else said) for speaker, said in pairs]
            said = [turn for turn in turns if turn.text]
            value = row.values.get(name) if name else None
            number = str(value).strip() if value is not None else ""
            dialogue = Dialogue(number or f"{options.stem}-{row.line}", options.source, said, language=options.language)
            return Parsed(check_dialogue(dialogue), dropped_turns=len(turns) - len(said))
        except BadDialogueError as error:
            return Rejection(row.line, error.reason, shorten(error.piece or repr(row.values)))


KIND = TranscriptCells()
