"""`turnloom serve`: embeddings, intents, replies and re-ranking over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

from turnloom.cli.console import note, say, split_names
from turnloom.errors import TurnloomError, did_you_mean

if TYPE_CHECKING:
    from pydantic import ValidationError

    from turnloom.service.config import ServiceConfig

USUAL_SCOPES = "embeddings,rerank,intents,replies"
"""What a new key may do: everything that changes nothing."""


def serve(
    config: Path | None = typer.Argument(None, help="The configuration file; see --init."),
    init: bool = typer.Option(False, "--init", help="Print a commented configuration and exit."),
    new_key: str | None = typer.Option(None, help="Make an API key with this name and exit."),
    scopes: str | None = typer.Option(
        None, help=f"What the new key may do, separated by commas; {USUAL_SCOPES} if not given."
    ),
    tenant: str | None = typer.Option(None, help="The tenant whose data the new key reaches."),
    check: bool = typer.Option(
        False, "--check", help="Load everything as a start does, say what would stop it, and exit."
    ),
) -> None:
    """Serve models, intents and replies over HTTP, with a web page at / to try them.

    [bold]Examples[/]

    turnloom serve --init > config.yaml

    turnloom serve --new-key website --scopes intents,intents:write --tenant acme

    turnloom serve config.yaml
    """
    if init:
        from turnloom.service.config_file import config_text

        typer.echo(config_text(), nl=False)
    elif new_key is not None:
        _print_key(new_key, split_names(USUAL_SCOPES if scopes is None else scopes), tenant)
    elif scopes is not None or tenant is not None:
        raise TurnloomError("--scopes and --tenant are for a new key", "add --new-key NAME")
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
    if sys.stderr.isatty():  # Otherwise programs read it, and all lines are JSON.
        note(f"Serving {config.model.called} on http://{config.host}:{config.port}/; end it with Ctrl+C.")


def _print_key(name: str, scopes: list[str], tenant: str | None) -> None:
    """Print the key once, for its user, and its entry with the hash for the configuration."""
    from pydantic import ValidationError

    from turnloom.service.config import KeyEntry
    from turnloom.service.keys import hashed, new_key

    _check_scopes(scopes)
    key = new_key()
    try:
        entry = KeyEntry.model_validate({"name": name, "hash": hashed(key), "scopes": scopes, "tenant": tenant})
    except ValidationError as error:
        raise _wrong_entry(error, name, tenant) from error
    note("The key is shown this once; give it to its user. The entry below goes into the configuration, under keys.")
    say(f"key: {key}")
    lines = [f"- name: {entry.name}", f"hash: {entry.hash}", f"scopes: [{', '.join(dict.fromkeys(scopes))}]"]
    typer.echo("\n  ".join([*lines, *([f'tenant: "{tenant}"'] if tenant else [])]))


def _check_scopes(scopes: list[str]) -> None:
    """Refuse a scope that does not exist, and a key that may do nothing."""
    from turnloom.service.scopes import KeyScope

    known = get_args(KeyScope)
    every = f"the scopes are {', '.join(known)}"
    if not scopes:
        raise TurnloomError("--scopes names no scope", every)
    for scope in scopes:
        if scope not in known:
            raise TurnloomError(f"there is no scope {scope!r}", f"{did_you_mean(scope, known)} {every}".lstrip())


def _wrong_entry(error: ValidationError, name: str, tenant: str | None) -> TurnloomError:
    """Explain what keeps a key from being made."""
    first = error.errors()[0]
    fixes = {
        "name": (f"{name!r} is not a valid name for a key", "use letters, digits, '.', '_' and '-'"),
        "tenant": (f"{tenant!r} is not a valid name for a tenant", "use small letters, digits, '_' and '-'"),
    }
    admin = (first["msg"].removeprefix("Value error, "), "leave out admin, or --tenant")
    return TurnloomError(*fixes.get(str(first["loc"][0]) if first["loc"] else "", admin))
