"""Convert chat logs of any format into one dialogue table."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.readers.rows import NO_ORDER
from turnloom.corpus.readers.source import FileCounts, LogFile, dialogue_source, read_counts
from turnloom.corpus.schema import ARROW_SCHEMA
from turnloom.corpus.table import Manifest, TableWriter, count_by_source
from turnloom.corpus.turn_arrays import TURNS_TYPE, join_turns, split_turns
from turnloom.errors import TurnloomError

IntArray = npt.NDArray[np.int64]
REJECTED = "rejected.jsonl"
_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True)
class Conversion:
    """The result of a conversion."""

    manifest: Manifest
    files: list[FileCounts]
    rejected_path: Path | None


@dataclass(frozen=True)
class Reason:
    """Why records were rejected, with the first example."""

    count: int
    reason: str
    where: str
    """File and line of the example."""
    piece: str

    def __str__(self) -> str:
        piece = f": {self.piece[:80]!r}" if self.piece else ""
        return f"{self.count:,} × {self.reason} ({self.where}{piece})"


class NothingReadError(TurnloomError):
    """A conversion that read no dialogue at all; `reasons` come from `common_reasons`."""

    def __init__(self, problem: str, fix: str, reasons: Sequence[Reason] = ()) -> None:
        super().__init__(problem, fix)
        self.reasons = list(reasons)


def common_reasons(rejected: Path | None, most: int = 3) -> list[Reason]:
    """Return the most frequent reasons in a ``rejected.jsonl``; reasons that differ only in a number count as one."""
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
    return [Reason(n, entry["reason"], f"{entry['file']}:{entry['line']}", entry["piece"]) for n, entry in examples]


def _check_anything_read(files: list[FileCounts], rejected: Path) -> None:
    """Raise NothingReadError if there is no record, no text, or every record was rejected."""
    if any(file.dialogues or file.out_of_split for file in files):
        return
    records, refused = (sum(getattr(file, name) for file in files) for name in ("records", "rejected"))
    names = files[0].path if len(files) == 1 else f"{len(files)} files"
    reasons = common_reasons(rejected)
    if not records:
        problem, fix = "no records, so there is nothing to read", "export it again"
    elif refused < records:
        problem = f"none of the {records - refused:,} readable records has any text"
        fix = "for a table, name the column of the text with --map text=COLUMN"
    else:
        why = f", mostly because {reasons[0].reason} ({reasons[0].where})" if reasons else ""
        problem = f"all {records:,} records were rejected{why}"
        fix = "correct the file, or say how to read it with --format and --map"
    raise NothingReadError(f"{names}: {problem}", fix, reasons)


def _joined_pieces(pieces: Any) -> Any:
    """Join dialogues whose rows were scattered over a table."""
    col = daft().col
    if pieces.select("source", "dialogue_id").distinct().count_rows() == pieces.count_rows():
        return pieces
    rest = [name for name in ARROW_SCHEMA.names if name not in ("source", "dialogue_id", "turns")]
    return pieces.groupby("source", "dialogue_id").agg(
        *[col(name).string_agg() for name in ("turns", "order", "lines")],  # Daft's name for concatenating lists, too.
        *[col(name).any_value(ignore_nulls=True) for name in rest],
    )


def _fill_order(order: IntArray, lines: IntArray, dialogue: IntArray) -> IntArray:
    """Give a turn without an order that of the line before it in the same dialogue; leading ones stay first."""
    if not (order == NO_ORDER).any():
        return order
    by = np.lexsort((lines, dialogue))
    ordered, owner = order[by], dialogue[by]
    starts = np.append(True, owner[1:] != owner[:-1])
    last_known = np.maximum.accumulate(np.where((ordered != NO_ORDER) | starts, np.arange(len(by)), 0))
    filled = np.empty_like(order)
    filled[by] = ordered[last_known]
    return filled


def _sort_turns(table: Any) -> Any:
    """Sort each dialogue's turns by their numbers, times or lines."""

    def in_order(turns: pa.Array, order: pa.Array, lines: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        dialogue = np.repeat(np.arange(len(turns)), np.diff(offsets))
        numbers = lines.flatten().to_numpy()
        by = np.lexsort((numbers, _fill_order(order.flatten().to_numpy(), numbers, dialogue), dialogue))
        return [join_turns(offsets, flat.take(pa.array(by)))]

    ordered = with_columns(table, {"turns": TURNS_TYPE}, in_order, "turns", "order", "lines")
    return ordered.select(*ARROW_SCHEMA.names)


def convert(
    logs: list[LogFile],
    out: str | Path,
    *,
    command: str = "turnloom.corpus.convert",
    strict: bool = False,
    overwrite: bool = False,
    on_start: Callable[[Path], None] | None = None,
) -> Conversion:
    """Read log files into one dialogue table.

    Records that are not dialogues are skipped and listed in ``rejected.jsonl`` with their file, line, reason and the
    offending text.

    Args:
        logs: The result of `find_logs`, or the files of catalog sets.
        out: The table's folder.
        command: The command line or call to record in the manifest.
        strict: Fail if any record is rejected.
        overwrite: Replace an existing table.
        on_start: Called before reading starts with the folder of running counts, for a progress bar.
    """
    writer = TableWriter(out, overwrite=overwrite)
    side_folder = writer.partial / "side"
    side_folder.mkdir()
    if on_start:
        on_start(side_folder)
    table = dialogue_source(logs, side_folder)
    if "order" in table.column_names:
        table.write_parquet(str(writer.partial / "pieces"))
        table = _sort_turns(_joined_pieces(daft().read_parquet(f"{writer.partial}/pieces/*.parquet")))
    writer.write(table)
    files = read_counts(side_folder)
    staged = writer.new / REJECTED  # It moves into the table's folder when the table is complete.
    for rejections in sorted(side_folder.glob("*.rejected.jsonl")):
        with staged.open("ab") as gathered, rejections.open("rb") as content:
            shutil.copyfileobj(content, gathered)
    rejected_path = writer.folder / REJECTED if staged.exists() else None
    totals = {
        name: sum(getattr(file, name) for file in files)
        for name in ("records", "rejected", "dropped_turns", "unread_times", "out_of_split")
    }
    if strict and totals["rejected"]:
        raise TurnloomError(
            f"{totals['rejected']:,} records were rejected, and --strict allows none",
            f"see {writer.publish(REJECTED)} for lines and reasons",
        )
    _check_anything_read(files, staged)
    manifest = writer.finish(command, {"sources": count_by_source(writer.staged()), **totals})
    return Conversion(manifest, files, rejected_path)
