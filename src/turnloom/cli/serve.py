"""`turnloom serve`: embeddings, intents, replies and re-ranking over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import note, say
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.service.config import ServiceConfig


def serve(
    config: Path | None = typer.Argument(None, help="The configuration file; see --init."),
    init: bool = typer.Option(False, "--init", help="Print a commented configuration and exit."),
    new_key: str | None = typer.Option(None, help="Make an API key with this name and exit."),
    check: bool = typer.Option(
        False, "--check", help="Load everything as a start does, say what would stop it, and exit."
    ),
) -> None:
    """Serve models, intents and replies over HTTP, with a web page at / to try them.

    [bold]Examples[/]

    turnloom serve --init > config.yaml

    turnloom serve --new-key website

    turnloom serve config.yaml
    """
    if init:
        from turnloom.service.config_file import config_text

        typer.echo(config_text(), nl=False)
    elif new_key is not None:
        _print_key(new_key)
    elif config is None:
        raise TurnloomError("no configuration is named", "write one with: turnloom serve --init > config.yaml")
    elif check:
        from turnloom.service.run import check as check_start

        check_start(config)
        say(f"{config} is fine. Start it with: turnloom serve {config}")
    else:
        from turnloom.service.run import serve as run

        run(config, on_start=_announce)


def _announce(config: ServiceConfig) -> None:
    note(f"Serving {config.model.called} on http://{config.host}:{config.port}/; end it with Ctrl+C.")


def _print_key(name: str) -> None:
    """Print the key once, for its user, and its hash for the configuration."""
    from turnloom.service.config import KeyEntry
    from turnloom.service.keys import hashed, new_key

    key = new_key()
    try:
        entry = KeyEntry(name=name, hash=hashed(key), scopes=frozenset(["embeddings"]))
    except ValueError as error:
        raise TurnloomError(
            f"{name!r} is not a valid name for a key", "use letters, digits, '.', '_' and '-'"
        ) from error
    note("The key is shown this once; give it to its user. The entry below goes into the configuration, under keys.")
    say(f"key: {key}")
    typer.echo(f"- name: {entry.name}\n  hash: {entry.hash}\n  scopes: [embeddings, rerank, intents, replies]")
