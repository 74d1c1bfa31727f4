"""`turnwise`: the entry point."""

from __future__ import annotations

import sys

import typer

from turnwise import __version__
from turnwise.cli import (
    compare,
    convert,
    data,
    embed,
    evaluate,
    export,
    inspect,
    intents,
    prepare,
    replies,
    report,
    serve,
    templates,
    train,
)
from turnwise.cli.console import console, fail
from turnwise.errors import TurnwiseError

__all__ = ["app", "main"]

app = typer.Typer(
    name="turnwise",
    help="Turn your own conversations into dialogue embeddings, and those into intents and replies.",
    epilog="Start with: turnwise inspect LOGS… · turnwise convert LOGS… --out corpus/",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
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
        console.print(f"turnwise {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say which version this is."
    ),
) -> None:
    """Turn your own conversations into dialogue embeddings, and those into intents and replies."""


def main() -> None:
    """Run the command line; a user's mistake is one line, never a stack trace."""
    try:
        app()
    except TurnwiseError as error:
        fail(error)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        if error.errno not in (13, 28, 30):  # no permission, no space left, read-only
            raise
        fail(
            TurnwiseError(f"{error.filename or 'the output'}: {error.strerror}", "choose another place for the output")
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
