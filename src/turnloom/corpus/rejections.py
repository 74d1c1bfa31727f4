"""Why records were rejected, summed up: the most frequent reasons, each with an example."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from turnloom.corpus.source import FileCounts
from turnloom.errors import TurnloomError

__all__ = ["NothingReadError", "Reason", "check_anything_read", "common_reasons"]

_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True)
class Reason:
    """A reason for which records were rejected, with the first of them."""

    count: int
    reason: str
    where: str
    """File and line of the example."""
    piece: str

    def __str__(self) -> str:
        piece = f": {self.piece[:80]!r}" if self.piece else ""
        return f"{self.count:,} × {self.reason} ({self.where}{piece})"


class NothingReadError(TurnloomError):
    """A conversion that read no dialogue at all.

    Args:
        problem: What is wrong.
        fix: What to do about it.
        reasons: Why records were rejected, the most frequent first.
    """

    def __init__(self, problem: str, fix: str, reasons: list[Reason]) -> None:
        super().__init__(problem, fix)
        self.reasons = reasons


def common_reasons(rejected: Path | None, most: int = 3) -> list[Reason]:
    """The most frequent reasons in a ``rejected.jsonl``; those that differ in a number only count as one."""
    counts: Counter[str] = Counter()
    first: dict[str, dict[str, str]] = {}
    if rejected is not None and rejected.exists():
        with rejected.open(encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                key = _NUMBER.sub("#", entry["reason"])
                counts[key] += 1
                first.setdefault(key, entry)
    examples = ((count, first[key]) for key, count in counts.most_common(most))
    return [Reason(n, found["reason"], f"{found['file']}:{found['line']}", found["piece"]) for n, found in examples]


def check_anything_read(files: list[FileCounts], rejected: Path | None) -> None:
    """Complain if there is not one dialogue in all the files.

    Raises:
        NothingReadError: If every record was rejected, or there is none, or none with text.
    """
    if any(file.dialogues or file.out_of_split for file in files):
        return
    records, refused = (sum(getattr(file, name) for file in files) for name in ("records", "rejected"))
    names = files[0].path if len(files) == 1 else f"{len(files)} files"
    reasons = common_reasons(rejected)
    if not records:
        raise NothingReadError(f"{names}: no records, so there is nothing to read", "export it again", reasons)
    if refused < records:
        problem = f"{names}: none of the {records - refused:,} readable records has any text"
        raise NothingReadError(problem, "for a table, name the column of the text with --map text=COLUMN", reasons)
    why = f", mostly because {reasons[0].reason} ({reasons[0].where})" if reasons else ""
    raise NothingReadError(
        f"{names}: all {records:,} records were rejected{why}",
        "correct the file, or say how to read it with --format and --map",
        reasons,
    )
