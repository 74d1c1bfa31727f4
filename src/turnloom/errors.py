"""The exception that users of the command line and the library see."""

from __future__ import annotations

__all__ = ["TurnloomError"]


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
