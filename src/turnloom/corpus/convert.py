"""From chat logs in any shape to one dialogue table."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.date_order import settle_orders, survey_dates
from turnloom.corpus.detect import Detection, detect_format, read_head
from turnloom.corpus.encoding import UTF_8, encoding_note
from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.logfile import is_url, stem
from turnloom.corpus.readers import ReadOptions, find_reader
from turnloom.corpus.readers.rows import NO_ORDER, read_mapping
from turnloom.corpus.rejections import check_anything_read
from turnloom.corpus.schema import ARROW_SCHEMA
from turnloom.corpus.source import FileCounts, LogFile, dialogue_source, read_counts
from turnloom.corpus.table import Manifest, TableWriter, count_by_source
from turnloom.corpus.turn_arrays import join_turns, split_turns, turns_dtype
from turnloom.errors import TurnloomError

IntArray = npt.NDArray[np.int64]

__all__ = ["Conversion", "convert", "find_logs", "list_files"]

REJECTED = "rejected.jsonl"


@dataclass(frozen=True)
class Conversion:
    """What a conversion did."""

    manifest: Manifest
    files: list[FileCounts]
    rejected_path: Path | None


def list_files(pattern: str) -> list[str]:
    """The files that a path, a glob or a URL names; a folder means all files in it.

    Raises:
        TurnloomError: If there are none.
    """
    if is_url(pattern):
        files = _list_remote(pattern)
    elif Path(pattern).is_file():
        files = [pattern]
    else:
        within = f"{pattern}/**/*" if Path(pattern).is_dir() else pattern
        files = [name for name in glob.glob(within, recursive=True) if Path(name).is_file()]  # noqa: PTH207
    if not files:
        raise TurnloomError(f"{pattern} names no file", "check the path; a glob in quotes is expanded by Turnloom")
    return sorted(files)


def _list_remote(pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    from daft.exceptions import DaftCoreException

    try:
        found: list[str] = daft().from_glob_path(pattern).to_pydict()["path"]
    except (FileNotFoundError, DaftCoreException):
        return []
    return found


def find_logs(
    patterns: Iterable[str],
    *,
    format: str | None = None,
    source: str | None = None,
    mapping: dict[str, str] | None = None,
    language: str | None = None,
    on_detect: Callable[[str, Detection], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> list[LogFile]:
    """The log files that paths, globs and URLs name, each with its format.

    Args:
        patterns: Local paths, globs, folders or URLs.
        format: The format of all files, if it is not to be recognised.
        source: The name of the source; a file's own name if not given.
        mapping: For tables, which column gives which field. For every format, ``time`` may be ``none``, and ``dates``
            ``day-first`` or ``month-first``, if that is not to be found out.
        language: The conversations' language.
        on_detect: Called with each file and what it was recognised as.
        on_note: Called with what else is worth knowing: a file's encoding, the order of day and month.
    """
    columns, times = read_mapping(mapping or {})
    if format is not None:
        find_reader(format)  # Says so if there is none, before any file is looked at.
    logs, surveys = [], []
    for path in dict.fromkeys(path for pattern in patterns for path in list_files(pattern)):
        head = read_head(path)
        detection = Detection(format, "you said so") if format else detect_format(head)
        if on_detect:
            on_detect(path, detection)
        if on_note and head.encoding != UTF_8:
            on_note(encoding_note(path, head.encoding))
        options = ReadOptions(source or stem(path), stem(path), columns, language, times)
        find_reader(detection.format).check(head, options)
        logs.append(LogFile(path, detection.format, options, encoding=head.encoding))
        surveys.append(survey_dates(logs[-1], head))
    settled, notes = settle_orders(logs, surveys)
    if on_note:
        for note in notes:
            on_note(note)
    return settled


def _join_pieces(pieces: Any) -> Any:
    """Dialogues whose rows were scattered over a table, put together and sorted."""
    engine = daft()
    col = engine.col
    rest = [name for name in ARROW_SCHEMA.names if name not in ("source", "dialogue_id", "turns")]
    return pieces.groupby("source", "dialogue_id").agg(
        *[col(name).string_agg() for name in ("turns", "order", "lines")],  # Daft's name for concatenating lists, too.
        *[col(name).any_value(ignore_nulls=True) for name in rest],
    )


def _fill_order(order: IntArray, lines: IntArray, dialogue: IntArray) -> IntArray:
    """Give a turn without an order that of the line before it in the same dialogue; the first ones stay first."""
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
    """Each dialogue's turns in the order of their numbers, times or lines."""

    @batch_function(turns_dtype())
    def in_order(turns: pa.Array, order: pa.Array, lines: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        dialogue = np.repeat(np.arange(len(turns)), np.diff(offsets))
        numbers = lines.flatten().to_numpy()
        by = np.lexsort((numbers, _fill_order(order.flatten().to_numpy(), numbers, dialogue), dialogue))
        return join_turns(offsets, flat.take(pa.array(by)))

    col = daft().col
    ordered = table.with_column("turns", in_order(col("turns"), col("order"), col("lines")))
    return ordered.select(*ARROW_SCHEMA.names)


def _has_scattered(pieces: Any) -> bool:
    distinct = pieces.select("source", "dialogue_id").distinct().count_rows()
    return bool(distinct < pieces.count_rows())


def _write_rejected(side_folder: Path, out: Path) -> bool:
    """Gather what each task has rejected; whether there was anything."""
    parts = sorted(side_folder.glob("*.rejected.jsonl"))
    if not parts:
        return False
    with (out / REJECTED).open("wb") as file:
        for part in parts:
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)
    return True


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

    A record that is no dialogue is left out and noted in ``rejected.jsonl`` with its file, line, reason and the
    offending piece.

    Args:
        logs: What `find_logs` found, or the files of catalog sets.
        out: The table's folder.
        command: What to name in the manifest as the table's origin.
        strict: Fail if any record is rejected.
        overwrite: Replace a table that is there.
        on_start: Called with the folder of running counts before reading starts, for a progress bar.

    Raises:
        TurnloomError: If nothing could be read, or with `strict` if anything was rejected.
    """
    writer = TableWriter(out, overwrite=overwrite)
    side_folder = writer.partial / "side"
    side_folder.mkdir()
    if on_start:
        on_start(side_folder)
    table = dialogue_source(logs, side_folder)
    if "order" in table.column_names:
        pieces_folder = writer.partial / "pieces"
        table.write_parquet(str(pieces_folder))
        pieces = daft().read_parquet(f"{pieces_folder}/*.parquet")
        table = _sort_turns(_join_pieces(pieces) if _has_scattered(pieces) else pieces)
    writer.write(table)
    files = read_counts(side_folder)
    rejected_path = writer.folder / REJECTED if _write_rejected(side_folder, writer.new) else None
    rejected = sum(file.rejected for file in files)
    if strict and rejected:
        raise TurnloomError(
            f"{rejected:,} records were rejected, and --strict allows none",
            f"see {writer.publish(REJECTED)} for lines and reasons",
        )
    check_anything_read(files, rejected_path)
    counts = {
        "sources": count_by_source(writer.staged()),
        "records": sum(file.records for file in files),
        "rejected": rejected,
        "dropped_turns": sum(file.dropped_turns for file in files),
        "unread_times": sum(file.unread_times for file in files),
        "out_of_split": sum(file.out_of_split for file in files),
    }
    return Conversion(writer.finish(command, counts), files, rejected_path)
