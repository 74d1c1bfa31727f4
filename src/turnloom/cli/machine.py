"""What the machine refuses: no space, no permission, a limit. Users can fix it, whichever library stumbled over it."""

from __future__ import annotations

import errno
import os
import re

from turnloom.errors import TurnloomError

__all__ = ["machine_problem"]

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
"""All that Daft says when the thread that writes a file gave up."""
_NUMBER = re.compile(r"os error (\d+)")


def _number(error: BaseException) -> int | None:
    """Which of them it was; engines in other languages put the number or its words into the text of their errors."""
    if isinstance(error, OSError) and error.errno in _FIXES:
        return error.errno
    text = str(error)
    said = [int(found) for found in _NUMBER.findall(text)]
    said += [number for words, number in _WORDS.items() if words in text]
    return next((number for number in said if number in _FIXES), None)


def machine_problem(error: BaseException) -> TurnloomError | None:
    """The error as something to fix; None if it is of another kind, and so perhaps a fault of ours."""
    cause: BaseException | None = error
    while cause is not None:
        number = _number(cause)
        if number is not None:
            place = getattr(cause, "filename", None) or "the output"
            return TurnloomError(f"{place}: {os.strerror(number)}", _FIXES[number])
        if _LOST in str(cause):
            return TurnloomError("the output could not be written", "see that it has space, then run the command again")
        cause = cause.__cause__ or cause.__context__
    return None
