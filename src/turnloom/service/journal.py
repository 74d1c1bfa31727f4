"""The journals of a service: a change that cannot be written is refused."""

from __future__ import annotations

from typing import Any

from turnloom import journal
from turnloom.service.errors import NotSavedError


class Journal(journal.Journal):
    """A journal whose failed writes are refusals with a status."""

    def append(self, records: list[dict[str, Any]]) -> int:
        """Write records to disk, inside `writing`; return the new size.

        Raises:
            NotSavedError: If they cannot be written; then nothing of them is.
        """
        try:
            return super().append(records)
        except OSError as error:
            raise NotSavedError from error
