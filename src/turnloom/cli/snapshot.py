"""`turnloom snapshot` and `turnloom restore`: copy what a service needs, and put it back."""

from __future__ import annotations

from pathlib import Path

import typer

from turnloom.cli.console import say, warn

CONFIG = typer.Argument(..., help="The service's configuration file.")


def snapshot(config: Path = CONFIG) -> None:
    """Copy a service's models, intents, replies and changes to a new folder, also while it runs.

    [bold]Example[/]

    turnloom snapshot service.yaml
    """
    from turnloom.service.config_file import load_config
    from turnloom.service.snapshots import take_snapshot

    out = take_snapshot(load_config(config))
    say(f"{out}")
    say(f"Next: turnloom restore {out} {config}, which puts it back when the service is stopped")


def restore(
    snapshot: Path = typer.Argument(..., help="The folder of a snapshot."),
    config: Path = CONFIG,
) -> None:
    """Put back the models, intents, replies and changes of a snapshot, all together; the service must be stopped.

    What was added since is lost. Interrupted? Run the same command again.

    [bold]Example[/]

    turnloom restore snapshots/2026-01-31T03-00-00-000000Z service.yaml
    """
    from turnloom.service.config_file import load_config
    from turnloom.service.snapshots import erasures_since, restore_snapshot

    found = load_config(config)
    restore_snapshot(snapshot, found)
    if erasures := erasures_since(snapshot, found):
        warn(
            f"{len(erasures)} erasures came after this snapshot, the first at {erasures[0]['time']}: what they erased"
            " is back. Erase the same ids again, with 'turnloom erase', before you start the service"
        )
    say(f"Restored {snapshot}. Next: turnloom serve {config}")
