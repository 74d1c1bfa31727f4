"""`turnloom prepare`: a corpus that is ready for training."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import LOGS, MAPPING, SPLIT, command_line, console, new_table, say, split_names, wrong_option
from turnloom.cli.convert import convert_with_progress, find_inputs, table_among

if TYPE_CHECKING:
    from turnloom.corpus import Manifest

DAY = ["%Y-%m-%d"]


def _source(logs: list[str], out: Path, split: str, mapping: str | None) -> Path:
    """Return the folder of the table to prepare: the named one, or one converted from logs beside the output."""
    import hashlib

    from turnloom.corpus import read_manifest
    from turnloom.corpus.table import WORK, Workspace
    from turnloom.files import refuse_other_files

    if (table := table_among(logs)) is not None:
        read_manifest(table)  # Fails early if the table is incomplete.
        return table
    files = find_inputs(logs, split, mapping)
    states = [(file, Path(file.path).stat().st_mtime_ns if Path(file.path).exists() else 0) for file in files]
    refuse_other_files(out, "a table", beside=[WORK])  # Checked before minutes of reading.
    work = Workspace(out / WORK / "convert", hashlib.sha256(repr(states).encode()).hexdigest())
    return work.step("table", lambda folder: convert_with_progress(files, folder))


def prepare(
    logs: list[str] = LOGS,
    out: Path = typer.Option(..., help="The prepared table's folder."),
    hold_out: str = typer.Option("", help="Suites or public sets whose text is removed, such as dse,diaeval or all."),
    split: str = SPLIT,
    since: datetime | None = typer.Option(None, formats=DAY, help="Keep dialogues that begin on this day or later."),
    before: datetime | None = typer.Option(None, formats=DAY, help="Keep dialogues that begin before this day."),
    min_turns: int = typer.Option(2, help="Drop dialogues with fewer turns."),
    merge: bool = typer.Option(False, "--merge-speakers", help="Make consecutive turns of one speaker one turn."),
    near: bool = typer.Option(True, "--near/--no-near", help="Drop near duplicates, not only exact ones."),
    threshold: float = typer.Option(
        0.7, help="Near duplicates: the similarity from which two dialogues count as the same."
    ),
    bands: int = typer.Option(20, help="Near duplicates: bands of the locality-sensitive hash."),
    rows: int = typer.Option(5, help="Near duplicates: rows of a band."),
    scrub: bool = typer.Option(True, "--scrub/--no-scrub", help="Replace personal data with placeholders."),
    names: str | None = typer.Option(
        None, help="Also replace names and addresses, with this spaCy model (name or path)."
    ),
    replace: Path | None = typer.Option(
        None, help="Also replace what the patterns of this YAML file match, such as booking references."
    ),
    mapping: str | None = MAPPING,
    runner: str = typer.Option("native", help="Where it runs: native (this process) or ray."),
    overwrite: bool = typer.Option(False, help="Replace an existing table."),
) -> None:
    """Get a clean dialogue table: drops duplicates, replaces personal data, removes benchmark text.

    Run it again with the same input and it does nothing; after an interruption it continues.

    [bold]Examples[/]

    turnloom prepare corpus/ --out prepared/

    turnloom prepare sgd multiwoz21 --split train --hold-out dse,diaeval --out prepared/

    turnloom prepare zendesk.json --before 2024-06-01 --out older/

    turnloom prepare chats.csv --names en_core_web_sm --out prepared/
    """
    from pydantic import ValidationError

    from turnloom.corpus.cleaning.hold_out import hold_out_names
    from turnloom.corpus.cleaning.near import NearOptions
    from turnloom.corpus.engine import use_runner
    from turnloom.corpus.prepare import PrepareOptions
    from turnloom.corpus.prepare import prepare as run
    from turnloom.corpus.privacy.replacements import load_replacements
    from turnloom.corpus.table import WORK, remove_workspace

    held = hold_out_names(split_names(hold_out))
    try:
        options = PrepareOptions(
            since=since.date() if since else None,
            before=before.date() if before else None,
            min_turns=min_turns,
            merge_speakers=merge,
            near_duplicates=NearOptions(threshold=threshold, bands=bands, rows=rows) if near else None,
            scrub=scrub,
            names_model=names,
            replace=load_replacements(replace) if replace else (),
            hold_out=tuple(held),
        )
    except ValidationError as error:
        raise wrong_option(error, "turnloom prepare", whole="near-duplicates") from error
    use_runner(runner)
    source = _source(logs, out, split, mapping)
    with console.status("preparing …") as status:
        manifest, done = run(
            source,
            out,
            options,
            command=command_line(),
            overwrite=overwrite,
            on_step=lambda step: status.update(f"{step} …"),
        )
    remove_workspace(out / WORK / "convert")  # The table converted from logs is not scrubbed.
    if not done:
        console.print("Nothing to do: this table was prepared from the same input with the same options.")
    _summary(manifest, out)


def _summary(manifest: Manifest, out: Path) -> None:

    from turnloom.corpus import read_table
    from turnloom.corpus.inspect import count_pairs

    steps = new_table("step by step")
    steps.add_column("after")
    for heading in ("dialogues", "turns"):
        steps.add_column(heading, justify="right")
    for step in manifest.counts["steps"]:
        steps.add_row(step["step"], f"{step['dialogues']:,}", f"{step['turns']:,}")
    steps.add_row("benchmark material cut out, scrubbed", f"{manifest.dialogues:,}", f"{manifest.turns:,}")
    console.print(steps)
    for title, counts in (
        ("benchmark material cut out, turns and pairs", manifest.counts["contamination"]),
        ("personal data replaced", manifest.counts["personal_data"]),
    ):
        table = new_table(title, show_header=False)
        for name, count in counts.items():
            table.add_row(name, f"{count:,}")
        if counts:
            table.columns[1].justify = "right"
            console.print(table)
    pairs = count_pairs(read_table(out))
    console.print(f"{pairs:,} consecutive pairs with more than 3 words on both sides")
    console.print(
        f"[bold]{manifest.dialogues:,} dialogues with {manifest.turns:,} turns[/] in {out}"
        f" (content {manifest.content_hash})"
    )
    say(f"Next: turnloom inspect {out}")
