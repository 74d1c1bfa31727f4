"""`turnloom`: the entry point."""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import Any

import typer

from turnloom import __version__
from turnloom.cli import (
    convert,
    data,
    discover,
    drift,
    embed,
    erase,
    evaluate,
    export,
    flow,
    inspect,
    intents,
    prepare,
    quickstart,
    replies,
    serve,
    snapshot,
    studio,
    templates,
    train,
    vectors,
    verify,
)
from turnloom.cli.console import console, fail, note
from turnloom.errors import TurnloomError

app = typer.Typer(
    name="turnloom",
    help="Turn your own conversations into intent detection and reply suggestions.",
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
app.command("compare")(evaluate.compare)
app.command("report")(evaluate.report)
app.command("embed")(embed.embed)
app.command("vectors")(vectors.vectors)
app.command("discover")(discover.discover)
app.command("flow")(flow.flow)
app.command("drift")(drift.drift)
app.command("studio")(studio.studio)
app.command("erase")(erase.erase)
app.command("verify")(verify.verify)
app.command("snapshot")(snapshot.snapshot)
app.command("restore")(snapshot.restore)
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
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Turn your own conversations into intent detection and reply suggestions."""


_UsageError: Any = typer.BadParameter.__base__
"""The Click that Typer uses: its own copy, or the installed one."""


def main() -> None:
    """Run the command line; a user's mistake prints one line, never a stack trace."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # Commands show their own progress bars.
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
        machine = _machine_problem(error)
        if machine is None:
            raise
        fail(machine)
        sys.exit(2)


def _explain_usage(error: Any) -> None:
    """Explain an unknown or missing option or command on one line, like every other mistake."""
    if type(error).__name__ == "NoArgsIsHelpError":  # A group without a command prints its help, which lists them.
        note(error.ctx.get_help())
        return
    command = error.ctx.command_path if error.ctx else "turnloom"
    fail(TurnloomError(" ".join(error.format_message().split()).rstrip("."), f"see {command} --help"))


# Refused by the machine: no space, no permission, a limit. Users can fix it, whichever library raised it.
_SPACE = "free some space, or choose another place for the output"
_FIXES = {
    errno.EACCES: "ask for the right to read and write there, or choose another place",
    errno.EPERM: "ask for the right to read and write there, or choose another place",
    errno.EROFS: "choose another place for the output",
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "raise the limit of a file's size (ulimit -f), or choose another place for the output",
}
_WORDS = {os.strerror(number): number for number in _FIXES}
_LOST = "ParquetError channel closed"
"""Daft's only message when the thread that writes a file fails."""
_NUMBER = re.compile(r"os error (\d+)")


def _number(error: BaseException) -> int | None:
    """Find the error number; engines in other languages put it, or its text, into their messages."""
    if isinstance(error, OSError) and error.errno in _FIXES:
        return error.errno
    text = str(error)
    said = [int(digits) for digits in _NUMBER.findall(text)]
    said += [number for words, number in _WORDS.items() if words in text]
    return next((number for number in said if number in _FIXES), None)


def _machine_problem(error: BaseException) -> TurnloomError | None:
    """Turn a machine error into something to fix; None if it is another error, perhaps a bug of ours."""
    cause: BaseException | None = error
    while cause is not None:
        number = _number(cause)
        if number is not None:
            file = getattr(cause, "filename", None) or "the output"
            return TurnloomError(f"{file}: {os.strerror(number)}", _FIXES[number])
        if _LOST in str(cause):
            return TurnloomError("the output could not be written", "see that it has space, then run the command again")
        cause = cause.__cause__ or cause.__context__
    return None


if __name__ == "__main__":
    main()
