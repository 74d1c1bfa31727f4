"""`turnloom replies`: build, change and inspect an index of past replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import (
    TABLES,
    VECTORS,
    console,
    new_table,
    say,
    share_progress,
    split_names,
    wrong_option,
)
from turnloom.cli.replies_search import BF16, INDEX, MODEL, evaluate, open_index, search

if TYPE_CHECKING:
    from turnloom.replies import IndexVersion

app = typer.Typer(
    help="Suggest past replies that fit a conversation: build an index, search it, measure it.", no_args_is_help=True
)

app.command()(search)
app.command()(evaluate)


@app.command()
def build(
    tables: list[Path] = TABLES,
    model: Path = MODEL,
    out: Path = typer.Option(..., help="The index's folder."),
    speakers: str = typer.Option("system", help="Whose turns are replies: system (those who answer) or everyone."),
    system: str = typer.Option("", help="The names of those who answer, such as agent,helpdesk; common ones if empty."),
    min_words: int = typer.Option(1, help="Leave out shorter replies."),
    context_turns: int = typer.Option(5, help="How many turns before a reply are its context."),
    contexts: bool = typer.Option(False, help="Index contexts too, to find replies to similar ones."),
    vectors: Path | None = VECTORS,
    bf16: bool = BF16,
) -> None:
    """Get an index of past replies, each once, with how often and where it was given.

    Interrupted? Run the same command again.

    [bold]Example[/]

    turnloom replies build prepared/ --model my-model/ --out replies/
    """
    from pydantic import ValidationError

    from turnloom.replies import ReplyIndex, ReplyOptions
    from turnloom.runtime import load_encoder
    from turnloom.vectors.encoder import stored

    named = {"system_speakers": tuple(split_names(system))} if system else {}
    values = {"speakers": speakers, "min_words": min_words, "context_turns": context_turns, "contexts": contexts}
    try:
        options = ReplyOptions.model_validate({**values, **named})
    except ValidationError as error:
        raise wrong_option(error, "turnloom replies build") from error
    encoder = stored(load_encoder(model, bf16=bf16), vectors)
    with share_progress() as show:
        index = ReplyIndex.build(tables, out, encoder, options, on_progress=show)
    _summary(index.version)
    say(f"Next: turnloom replies search {out} --model {model} 'a message'")


@app.command()
def add(
    tables: list[Path] = TABLES,
    index: Path = typer.Option(..., help="The index's folder."),
    model: Path = MODEL,
    vectors: Path | None = VECTORS,
    bf16: bool = BF16,
) -> None:
    """Add the replies of more conversations; what is there already is not counted twice.

    [bold]Example[/]

    turnloom replies add todays-chats/ --index replies/ --model my-model/
    """
    opened = open_index(index, model, bf16, vectors=vectors)
    with share_progress() as show:
        version = opened.add(tables, on_progress=show)
    _summary(version)
    say(f"Next: turnloom replies search {index} --model {model} 'a message'")


@app.command()
def delete(
    index: Path = INDEX,
    conversations: str = typer.Option("", help="The ids of dialogues, separated by commas."),
    reply: list[str] = typer.Option([], help="The text of a reply; may be given several times."),
    where: str | None = typer.Option(None, help="A condition in SQL over dialogue_id, source and turn."),
) -> None:
    """Remove conversations or replies; older versions hold them until 'turnloom replies prune'.

    [bold]Example[/]

    turnloom replies delete replies/ --conversations c17,c18
    """
    from turnloom.replies import ReplyIndex

    version = ReplyIndex(index).delete(conversations=split_names(conversations), replies=reply, where=where)
    _summary(version)
    say(f"Next: turnloom replies prune {index}, which removes it from older versions too")


@app.command()
def reembed(index: Path = INDEX, model: Path = MODEL, bf16: bool = BF16) -> None:
    """Make all vectors again with another model; searches use the old ones until it is done.

    Interrupted? Run the same command again.

    [bold]Example[/]

    turnloom replies reembed replies/ --model better-model/
    """
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder

    encoder = load_encoder(model, bf16=bf16)
    with share_progress() as show:
        version = ReplyIndex.reembed(index, encoder, on_progress=show).version
    _summary(version)
    say(f"Next: turnloom replies prune {index}, which frees the space of the old vectors")


@app.command()
def versions(index: Path = INDEX) -> None:
    """List the finished versions of an index.

    [bold]Example[/]

    turnloom replies versions replies/
    """

    from turnloom.replies import ReplyIndex

    table = new_table()
    for heading in ("version", "when", "replies", "occurrences", "model", "what"):
        table.add_column(heading, justify="right" if heading in ("version", "replies", "occurrences") else "left")
    for version in ReplyIndex(index).versions:
        sizes = (f"{version.replies.rows:,}", f"{version.occurrences.rows:,}")
        table.add_row(str(version.number), version.when, *sizes, version.model, version.what)
    console.print(table)
    say(f"Next: turnloom replies prune {index} --keep 1, which frees the space of older ones")


@app.command()
def prune(index: Path = INDEX, keep: int = typer.Option(1, help="How many of the latest versions to keep.")) -> None:
    """Remove older versions.

    [bold]Example[/]

    turnloom replies prune replies/ --keep 2
    """
    from turnloom.replies import ReplyIndex

    gone = ReplyIndex(index).prune(keep)
    console.print(f"Removed: version {', '.join(map(str, gone))}" if gone else "There is no older version.")
    say(f"Next: turnloom replies versions {index}")


@app.command()
def rollback(index: Path = INDEX) -> None:
    """Undo an interrupted write.

    [bold]Example[/]

    turnloom replies rollback replies/
    """
    from turnloom.replies import ReplyIndex

    undone = ReplyIndex.rollback(index)
    say(f"Undone: {undone}" if undone else "Every write is finished.")
    say(f"Next: turnloom replies versions {index}")


def _summary(version: IndexVersion) -> None:
    ann = version.ann
    say(
        f"Version {version.number}: {version.replies.rows:,} replies, given {version.occurrences.rows:,} times,"
        f" vectors of {version.model}"
    )
    if ann.kind == "exact":
        console.print("Searched exactly: every vector is compared")
    elif ann.recall is not None:
        console.print(
            f"Searched by {ann.nprobes} of {ann.partitions} partitions: {ann.recall:.3f} of the true ten nearest are"
            f" found, measured on {ann.probes} contexts"
        )
