"""`turnloom data`: the catalog of public dialogue sets."""

from __future__ import annotations

import typer
from rich.table import Table

from turnloom.cli.console import bytes_progress, console, say

app = typer.Typer(
    help="Public dialogue sets: what there is, where it comes from, what may be done with it.", no_args_is_help=True
)


@app.command("list")
def list_sets(
    task: str | None = typer.Option(None, help="Only sets for this task, such as intent or corpus."),
    language: str | None = typer.Option(None, help="Only sets in this language, such as en."),
    use: str | None = typer.Option(None, help="Only sets of this kind of licence: open, noncommercial or unclear."),
) -> None:
    """List the public sets that Turnloom knows.

    [bold]Example[/]

    turnloom data list --task intent --use open
    """
    from turnloom.corpus.catalog import data_root, load_catalog
    from turnloom.errors import TurnloomError

    table = Table()
    for heading in ("name", "title", "tasks", "turns have", "language", "use", "rows", "here"):
        table.add_column(heading, justify="right" if heading == "rows" else "left", overflow="fold")
    for entry in load_catalog().values():
        if (
            (task and task not in entry.tasks)
            or (language and language != entry.language)
            or (use and use != entry.use)
        ):
            continue
        try:
            here = "yes" if entry.folder() else ""
        except TurnloomError:
            here = "no"
        rows = f"{sum(file.rows for file in entry.files.values()):,}"
        tasks, labels = ", ".join(entry.tasks), ", ".join(entry.labels)
        table.add_row(entry.name, entry.title, tasks, labels, entry.language, entry.use, rows, here)
    if not table.row_count:
        raise TurnloomError("no set matches", "leave out an option; 'turnloom data list' shows all")
    console.print(table)
    console.print(f"{table.row_count} sets; data folder: {data_root()}")
    console.print("Next: turnloom data info NAME")


@app.command()
def info(name: str = typer.Argument(..., help="The set's name.")) -> None:
    """See what a set is: licence, source, splits, overlaps with others.

    [bold]Example[/]

    turnloom data info clinc150
    """
    from turnloom.corpus.catalog import get_dataset
    from turnloom.corpus.catalog.fetch import fetch_plan

    entry = get_dataset(name)
    lines = {
        "title": entry.title,
        "tasks": ", ".join(entry.tasks),
        "turns have": ", ".join(entry.labels),
        "language": entry.language,
        "licence": f"{entry.licence} [{entry.use}]",
        "source": "; ".join(entry.sources),
        "citation": entry.citation,
        "note": entry.note,
    }
    for key, value in lines.items():
        if value:
            say(f"{key:>10}  {value}")
    for file, described in entry.files.items():
        turns = f", {described.turns:,} turns" if described.turns else ""
        say(f"{'file':>10}  {file}: {described.rows:,} {described.kind}{turns}")
    for split, names in entry.splits.items():
        say(f"{'split':>10}  {split}: {', '.join(names)}")
    if entry.split_rule:
        parts = ", ".join(f"{part} {share} %" for part, share in entry.split_rule.items())
        say(f"{'split':>10}  by a hash of the dialogue's id: {parts}")
    for other, what in entry.overlaps.items():
        say(f"{'overlap':>10}  {other}: {what}")
    fetched = f"turnloom data fetch {name}" if fetch_plan(name) else "by hand, from the source above"
    say(f"{'get it':>10}  {fetched}")


@app.command()
def path(
    name: str = typer.Argument(..., help="The set's name."),
    split: str | None = typer.Option(None, help="Only the files of this split."),
) -> None:
    """Print where a set, or the files of a split, lie on this machine.

    [bold]Example[/]

    turnloom data path sgd --split test
    """
    from turnloom.corpus.catalog import get_dataset

    entry = get_dataset(name)
    for place in [entry.folder()] if split is None else [entry.path(file) for file in entry.split_files(split)]:
        typer.echo(place)


@app.command()
def fetch(
    name: str = typer.Argument(..., help="The set's name."),
    base_url: str | None = typer.Option(None, help="A mirror with the layout BASE/OWNER/REPOSITORY/COMMIT/PATH."),
    accept_noncommercial: bool = typer.Option(False, help="Your use keeps to a licence that forbids commercial use."),
) -> None:
    """Download a set from its public source, check it and convert it; an interrupted download resumes.

    [bold]Example[/]

    turnloom data fetch clinc150
    """
    from turnloom.corpus.catalog import data_root, get_dataset
    from turnloom.corpus.catalog.fetch import fetch as run

    entry = get_dataset(name)
    with bytes_progress() as progress:
        task = progress.add_task(f"fetching {name}", total=None, note="")
        rows = run(
            entry,
            base_url=base_url,
            accept_noncommercial=accept_noncommercial,
            on_bytes=lambda count: progress.advance(task, count),
            on_file=lambda _, number, total: progress.update(task, note=f"file {number + 1} of {total}"),
        )
    for file, count in rows.items():
        expected = entry.files[file].rows if file in entry.files else count
        remark = "" if expected == count else f" (the catalog's version has {expected:,})"
        say(f"{file}: {count:,} rows{remark}")
    say(f"In {data_root() / name}, under: {entry.licence}")
    use = f"turnloom convert {name} --out corpus/" if "corpus" in entry.tasks else f"turnloom data info {name}"
    say(f"Next: {use}")
