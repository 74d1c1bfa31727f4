"""`turnloom verify`: find damaged files."""

from __future__ import annotations

from pathlib import Path

import typer

from turnloom.cli.console import note, say, warn
from turnloom.errors import TurnloomError

SHOWN = 5


def verify(
    folder: Path = typer.Argument(..., help="A table, vectors, an index, intents, a model, or a folder of these."),
    record: bool = typer.Option(False, "--record", help="Note the checksums of files that have none, as they are now."),
) -> None:
    """Compare every file with the checksum that was noted when it was written.

    [bold]Examples[/]

    turnloom verify service/

    turnloom verify downloaded-model/ --record
    """
    from turnloom.service.verify import record_checksums
    from turnloom.service.verify import verify as compare

    if record:
        say(f"Noted the checksums of {record_checksums(folder):,} files. Compare with: turnloom verify {folder}")
        return
    found = compare(folder, lambda path: note(f"reading {path}"))
    for path, problem in found.problems.items():
        say(f"{path} {problem}")
    if found.unknown:
        named = ", ".join(str(path) for path in found.unknown[:SHOWN])
        warn(f"{len(found.unknown):,} files have no checksum (such as {named}); note them with --record")
    if found.problems:
        raise TurnloomError(f"{len(found.problems):,} files are damaged or missing", "restore them from a backup")
    say(f"{len(found.checked):,} files are as they were written.")
