"""`turnloom convert`: any chat log to one dialogue table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import (
    SPLIT,
    bytes_progress,
    command_line,
    console,
    new_table,
    parse_mapping,
    polling,
    say,
    warn,
)
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.corpus import Conversion
    from turnloom.corpus.convert import Reason
    from turnloom.corpus.readers.source import FileCounts, LogFile


_SHOWN_TURNS = 8
_SHOWN_CHARS = 120
_SHOWN_REJECTIONS = 3


def find_inputs(
    logs: list[str], split: str = "all", mapping: str | None = None, log_format: str | None = None, **options: Any
) -> list[LogFile]:
    """Return the files behind names of public sets, paths, globs and URLs."""
    from turnloom.corpus.catalog import get_dataset, load_catalog
    from turnloom.corpus.readers.detection import UnknownFormatError, find_logs

    files: list[LogFile] = []
    patterns = []
    for name in logs:
        looks_like_a_name = name.replace("_", "").isalnum() and not Path(name).exists()
        if name in load_catalog() or looks_like_a_name:
            files += get_dataset(name).logs(split)
        else:
            patterns.append(name)
    notes = _Notes()
    try:
        # All at once, because one file's dates can reveal the date order of another.
        files += find_logs(
            patterns,
            format=log_format,
            mapping=parse_mapping(mapping),
            **options,
            on_detect=lambda path, seen: notes.say(seen.format, f"{path}: {seen.format}, because {seen.why}"),
            on_note=lambda text: notes.say("note", text),
        )
    except UnknownFormatError as error:
        for line in error.seen:
            say(line)
        raise
    notes.finish()
    return files


class _Notes:
    """Notes about files, of which a folder may have thousands: the first few of each subject, then a count."""

    MOST = 5

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def say(self, subject: str, text: str) -> None:
        self._counts[subject] += 1
        if self._counts[subject] <= self.MOST:
            say(text)

    def finish(self) -> None:
        for subject, count in self._counts.items():
            if count > self.MOST:
                say(f"… and {count - self.MOST:,} more {'notes' if subject == 'note' else f'files: {subject}'}")


def table_among(logs: list[str]) -> Path | None:
    """Return the table among the inputs, complete or not; None if there are only logs."""
    from turnloom.corpus.table import MANIFEST
    from turnloom.files import LISTING, PARTIAL

    folder = Path(logs[0])
    if len(logs) > 1 or not folder.is_dir():
        return None
    return folder if any((folder / name).exists() for name in (MANIFEST, LISTING, PARTIAL)) else None


def convert(
    logs: list[str] = typer.Argument(..., help="Names of public sets, files, folders, globs (in quotes) or URLs."),
    out: Path | None = typer.Option(None, help="The table's folder; required unless --dry-run is given."),
    split: str = SPLIT,
    log_format: str | None = typer.Option(None, "--format", help="The logs' format; recognised by default."),
    mapping: str | None = typer.Option(
        None,
        "--map",
        help="For tables: dialogue_id=COLUMN,text=COLUMN,speaker=COLUMN,… For JSON, paths: text=items[].body. "
        "Also: time=none, dates=day-first, agent=NAME|NAME.",
    ),
    source: str | None = typer.Option(None, help="A name for the source of these logs; by default each file's name."),
    language: str | None = typer.Option(None, help="The conversations' language, such as en."),
    strict: bool = typer.Option(False, help="Fail if any record is rejected."),
    overwrite: bool = typer.Option(False, help="Replace an existing table."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Show three dialogues as they would be read, and write nothing."
    ),
) -> None:
    """Read chat logs of any format into one dialogue table.

    A record that cannot be read never stops the run: it goes to rejected.jsonl with its file, line, reason and the
    offending piece.

    [bold]Examples[/]

    turnloom convert chats.csv --map dialogue_id=conv,text=body,speaker=who --out corpus/

    turnloom convert 's3://bucket/logs/*.jsonl.gz' --out corpus/

    turnloom convert sgd multiwoz21 --split train --out corpus/

    turnloom convert 'Slack export.zip' --dry-run
    """
    if out is None and not dry_run:
        raise TurnloomError("Missing option '--out'", "see turnloom convert --help")
    files = find_inputs(logs, split, mapping, log_format, source=source, language=language)
    if out is None or dry_run:
        _show_preview(files)
    else:
        _summary(convert_with_progress(files, out, strict=strict, overwrite=overwrite), out)


def _show_preview(files: list[LogFile]) -> None:
    """Print the first dialogues as they would be read, and what would be rejected among the first records."""
    from rich.markup import escape

    from turnloom.corpus.preview import preview_dialogues

    preview = preview_dialogues(files)
    for dialogue in preview.dialogues:
        console.print(f"[bold]{escape(dialogue.dialogue_id)}[/] [dim]({escape(dialogue.source)})[/]", highlight=False)
        for turn in dialogue.turns[:_SHOWN_TURNS]:
            time = f"{turn.time:%Y-%m-%d %H:%M} " if turn.time else ""
            say(f"  {time}{turn.speaker or '?'}: {shorten_line(turn.text)}")
        if len(dialogue.turns) > _SHOWN_TURNS:
            say(f"  … and {len(dialogue.turns) - _SHOWN_TURNS:,} more turns")
    for path, rejection in preview.rejections[:_SHOWN_REJECTIONS]:
        say(f"Rejected: {rejection.reason} ({path}:{rejection.line})")
    if len(preview.rejections) > _SHOWN_REJECTIONS:
        more = len(preview.rejections) - _SHOWN_REJECTIONS
        say(f"… and {more:,} more rejected of the first {preview.records:,} records")
    if not preview.dialogues:
        raise TurnloomError(
            "none of the first records is a conversation with text",
            "name the format with --format, or the columns or JSON paths with --map",
        )
    speakers = list(dict.fromkeys(turn.speaker for dialogue in preview.dialogues for turn in dialogue.turns))
    if not set(speakers) & {"agent", "assistant", "bot", "system"}:
        say(
            f"To tell agents from customers, name the agents: --map 'agent=NAME|NAME' (here: {', '.join(speakers[:8])})"
        )
    say("Nothing was written. Next: the same command with --out FOLDER instead of --dry-run")


def shorten_line(text: str) -> str:
    """Return the start of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"


def convert_with_progress(
    files: list[LogFile], out: Path, *, strict: bool = False, overwrite: bool = False
) -> Conversion:
    """Convert files with a progress bar."""
    from turnloom.corpus.readers.location import size_of

    with bytes_progress() as progress:
        total = sum(size_of(file.path) for file in files)
        task = progress.add_task("reading", total=total or None, note="")
        folder: list[Path] = []

        def update() -> None:
            from turnloom.corpus.readers.source import read_counts

            counts = read_counts(folder[0]) if folder and folder[0].exists() else []
            note = f"{sum(count.turns for count in counts):,} turns"
            progress.update(task, completed=sum(count.bytes_read for count in counts), note=note)

        with polling(update):
            conversion = convert_logs(files, out, strict=strict, overwrite=overwrite, on_start=folder.append)
    warn_if_most_rejected(conversion.manifest.counts, out)
    return conversion


def convert_logs(files: list[LogFile], out: Path, **options: Any) -> Conversion:
    """Convert files; if nothing could be read, print the reasons before the error."""
    from turnloom.corpus.convert import NothingReadError
    from turnloom.corpus.convert import convert as run

    try:
        return run(files, out, command=command_line(), **options)
    except NothingReadError as error:
        _say_reasons(error.reasons)
        raise


def warn_if_most_rejected(counts: dict[str, Any], table: Path) -> None:
    """Warn, with the reasons, if more than half of the records were rejected."""
    from turnloom.corpus.convert import common_reasons

    records, rejected = counts["records"], counts["rejected"]
    if 2 * rejected > records:
        warn(f"{rejected:,} of {records:,} records were rejected ({100 * rejected // records} %)")
        _say_reasons(common_reasons(table / "rejected.jsonl"))


def _say_reasons(reasons: list[Reason]) -> None:
    if reasons:
        console.print("Most frequent reasons for a rejection:")
    for reason in reasons:
        say(f"  {reason}")


def _say_times(files: list[FileCounts]) -> None:
    """Warn of unreadable times, and of dates whose order had to be assumed."""
    from turnloom.corpus.readers.times import usual_order

    for file in files:
        if file.unread_times:
            say(
                f"! {file.path}: {file.unread_times:,} times could not be read and were left out, "
                f"such as {file.unread_time!r}. To read no times: --map time=none"
            )
        if file.assumed_dates:
            order = usual_order(file.assumed_date)
            say(
                f"! {file.path}: {file.assumed_dates:,} dates such as {file.assumed_date} were read {order}; "
                "if that is wrong, add --map dates=day-first or dates=month-first"
            )


def _summary(conversion: Conversion, out: Path) -> None:

    from turnloom.corpus.convert import common_reasons
    from turnloom.corpus.readers.location import stem

    table = new_table("as read")
    table.add_column("set", no_wrap=True)
    table.add_column("file", overflow="fold")
    for heading in ("records", "rejected", "not in split", "dialogues", "turns"):
        table.add_column(heading, justify="right", no_wrap=True)
    sources: dict[str, dict[str, int]] = conversion.manifest.counts["sources"]
    for name in dict.fromkeys(file.source for file in conversion.files):
        files = [file for file in conversion.files if file.source == name]
        totals = sources.get(name, {"dialogues": 0, "turns": 0})
        for file in files if len(files) > 1 else []:
            # Rows of one dialogue may be spread over several tables; those are counted below, after joining.
            dialogues = "" if file.in_pieces else f"{file.dialogues:,}"
            numbers = [f"{number:,}" for number in (file.records, file.rejected, file.out_of_split)]
            table.add_row(name, stem(file.path), *numbers, dialogues, f"{file.turns:,}", style="dim")
        sums = [sum(getattr(file, key) for file in files) for key in ("records", "rejected", "out_of_split")]
        cells = [f"{number:,}" for number in (*sums, totals["dialogues"], totals["turns"])]
        table.add_row(name, f"{len(files)} files" if len(files) > 1 else stem(files[0].path), *cells)
    console.print(table)
    manifest = conversion.manifest
    records, rejected = manifest.counts["records"], manifest.counts["rejected"]
    console.print(f"{records - rejected:,} records accepted, {rejected:,} rejected, {records:,} in all.")
    if manifest.counts["dropped_turns"]:
        console.print(f"{manifest.counts['dropped_turns']:,} turns without text were left out.")
    _say_times(conversion.files)
    if conversion.rejected_path:
        if 2 * rejected <= records:  # Otherwise the warning has already said so.
            _say_reasons(common_reasons(conversion.rejected_path))
        say(f"All rejected records: {conversion.rejected_path}")
    console.print(f"[bold]{manifest.dialogues:,} dialogues with {manifest.turns:,} turns[/] in {out}")
    say(f"Next: turnloom inspect {out}")
