"""The exception that users of the command line and the library see."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["TurnloomError", "did_you_mean"]


class TurnloomError(Exception):
    """Something the user can fix: a wrong path, a wrong option, a missing extra.

    Args:
        problem: What is wrong, naming the file, line or option.
        fix: What to do about it, as one sentence or command.

    Example:
        >>> print(TurnloomError("logs/chat.csv has no column 'text'", "name it with --map text=COLUMN"))
        logs/chat.csv has no column 'text': name it with --map text=COLUMN
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)  # Stored unchanged, because an error from another process is rebuilt from them.
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}: {self.fix}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the one or two known names most like a misspelt one; an empty string if none is.

    Example:
        >>> did_you_mean("intent", ["intents", "intents:write", "replies"])
        'did you mean intents or intents:write?'
        >>> did_you_mean("zebra", ["intents", "replies"])
        ''
    """
    near = difflib.get_close_matches(name, list(known), 2)
    return f"did you mean {' or '.join(near)}?" if near else ""
