"""`turnloom`: the entry point."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from turnloom import __version__
from turnloom.cli import (
    compare,
    convert,
    data,
    embed,
    evaluate,
    export,
    inspect,
    intents,
    prepare,
    quickstart,
    replies,
    report,
    serve,
    templates,
    train,
)
from turnloom.cli.console import console, fail, note
from turnloom.cli.machine import machine_problem
from turnloom.errors import TurnloomError

__all__ = ["app", "main"]

app = typer.Typer(
    name="turnloom",
    help="Turn your own conversations into dialogue embeddings, and those into intents and replies.",
    epilog="Start with: turnloom quickstart CHATS.csv · turnloom inspect LOGS… · turnloom convert LOGS… --out corpus/",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("quickstart")(quickstart.quickstart)
app.command("convert")(convert.convert)
app.command("inspect")(inspect.inspect)
app.command("prepare")(prepare.prepare)
app.command("evaluate")(evaluate.evaluate)
app.command("train")(train.train)
app.command("init-config")(train.init_config)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("embed")(embed.embed)
app.command("serve")(serve.serve)
app.add_typer(data.app, name="data")
app.add_typer(templates.app, name="templates")
app.add_typer(replies.app, name="replies")
app.add_typer(intents.app, name="intents")


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"turnloom {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say which version this is."
    ),
) -> None:
    """Turn your own conversations into dialogue embeddings, and those into intents and replies."""


_UsageError: Any = typer.BadParameter.__base__
"""Of the Click that Typer uses: its own copy, or the installed one."""


def main() -> None:
    """Run the command line; a user's mistake is one line, never a stack trace."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # Commands show bars of their own.
    try:
        sys.exit(app(prog_name="turnloom", standalone_mode=False))
    except TurnloomError as error:
        fail(error)
        sys.exit(2)
    except _UsageError as error:
        _explain_usage(error)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:
        machine = machine_problem(error)
        if machine is None:
            raise
        fail(machine)
        sys.exit(2)


def _explain_usage(error: Any) -> None:
    """An option or a command that there is not, or that is missing: on one line, as every other mistake."""
    if type(error).__name__ == "NoArgsIsHelpError":  # A group of commands without any: its help says which there are.
        note(error.ctx.get_help())
        return
    place = error.ctx.command_path if error.ctx else "turnloom"
    fail(TurnloomError(" ".join(error.format_message().split()).rstrip("."), f"see {place} --help"))


if __name__ == "__main__":
    main()
