"""`turnloom erase`: erase conversations and persons from folders for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import note, say, warn
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.runtime import Encoder


def erase(
    folders: list[Path] = typer.Argument(..., help="Tables, vectors, indices, intents, or folders that hold them."),
    conversation: list[str] = typer.Option([], help="The id of a conversation; may be given several times."),
    speaker: list[str] = typer.Option(
        [], help="The id of a person: conversations in which they speak go as a whole; may be given several times."
    ),
    source: str | None = typer.Option(None, help="Erase only conversations of this source."),
    model: Path | None = typer.Option(None, help="The model of intents with a pool; by default the one they name."),
) -> None:
    """Erase conversations from tables, vectors, indices with all their versions, intents, and a service's state.

    A running service may go on; it notices. Interrupted? Run the same command again.

    [bold]Examples[/]

    turnloom erase corpus/ prepared/ vectors/ replies/ --conversation chat-17

    turnloom erase service/ --speaker customer-4711
    """
    from turnloom.corpus.erasure import Erasure
    from turnloom.service.folders import erase_from_folders, find_holdings

    def load(named: str | None) -> Encoder:
        from turnloom.runtime import load_encoder

        if model is None and (named is None or not Path(named).exists()):
            raise TurnloomError(f"the model of the intents is not at {named}", "name its folder with --model")
        return load_encoder(model or Path(str(named)))

    erasure = Erasure(frozenset(conversation), frozenset(speaker), source)
    holdings = find_holdings(folders)
    found, examples = erase_from_folders(holdings, erasure, load, lambda folder: note(f"erasing from {folder}"))
    say(
        f"Erased: {len(found.conversations):,} conversations, and {examples:,} examples of intents that were said in"
        " no other"
    )
    for other in holdings.others:
        warn(f"{other} was made from conversations and cannot be changed: make it again, or delete it")
    say("Not erased: copies elsewhere, such as backups, and what models learned from these conversations.")
