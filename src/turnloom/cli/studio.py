"""`turnloom studio`: review groups and make intents in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import VECTORS, note, share_progress
from turnloom.cli.discover import CONTEXT, FIRST, MODEL, PIPELINE, ROLE
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.runtime import Encoder


def studio(
    folder: Path = typer.Argument(..., help="The studio's folder; made from --table if it does not exist."),
    table: Path | None = typer.Option(None, help="A dialogue table's folder, to make the studio from."),
    model: str = MODEL,
    vectors: Path | None = VECTORS,
    role: str = ROLE,
    first: bool = FIRST,
    context: bool = CONTEXT,
    pipeline: str | None = PIPELINE,
    replies: Path | None = typer.Option(None, help="An index of 'turnloom replies build', to suggest replies from."),
    host: str = typer.Option("127.0.0.1", help="The address to listen at; anything but this machine needs a key."),
    port: int = typer.Option(7860, min=0, max=65_535, help="The port; 0 takes a free one."),
    make_only: bool = typer.Option(False, "--make-only", help="Make the folder and exit."),
) -> None:
    """Go from chat logs to a maintained set of intents, in the browser.

    The first call makes the folder: groups, a map and the flow of conversations. Every edit is saved at once and can be
    undone, so you can stop whenever you like and go on later.

    [bold]Examples[/]

    turnloom studio my-studio/ --table prepared/ --first

    turnloom studio my-studio/
    """
    from turnloom.studio.folder import MARKER, is_studio
    from turnloom.studio.server import check_installed, serve

    check_installed()
    encoder = None
    if not is_studio(folder):
        if table is None:
            raise TurnloomError(f"{folder} holds no studio (it has no {MARKER})", "make one with --table TABLE")
        encoder = _make(folder, table, model, vectors, role, first, context, pipeline, replies)
        note(f"{folder} is made. Open it again with: turnloom studio {folder}")
    elif table is not None:
        raise TurnloomError(f"{folder} holds a studio already", f"leave out --table, or remove {folder} to begin again")
    if not make_only:
        serve(folder, encoder, host=host, port=port, on_start=_announce)


def _make(
    folder: Path,
    table: Path,
    model: str,
    vectors: Path | None,
    role: str,
    first: bool,
    context: bool,
    pipeline: str | None,
    replies: Path | None,
) -> Encoder:
    """Make the studio's folder, and return the encoder that it was made with."""
    from turnloom.corpus.table import read_manifest
    from turnloom.discovery import MessageOptions, Namer, find_parser
    from turnloom.runtime import load_encoder
    from turnloom.runtime.model_folder import find_model
    from turnloom.studio.folder import prepare, refuse_foreign
    from turnloom.vectors.encoder import stored

    find_model(model)
    refuse_foreign(folder)
    read_manifest(table)
    options, namer = MessageOptions(role, first, context), Namer(find_parser(pipeline))
    encoder = stored(load_encoder(model), vectors)
    with share_progress() as progress:
        prepare(folder, table, model, encoder, options, replies=replies, namer=namer, on_progress=progress)
    return encoder


def _announce(address: str) -> None:
    note(f"The studio is at {address}; end it with Ctrl+C.")
