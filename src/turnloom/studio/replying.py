"""Suggest replies in the studio, from an index of past replies and what people said of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.feedback import FEEDBACK
from turnloom.studio.workspace import Workspace

if TYPE_CHECKING:
    from turnloom.feedback import FEEDBACK
from turnloom.replies import ReplyIndex


class Replier:
    """Suggests replies, if the studio has an index of them.

    Args:
        work: The opened studio.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._index: ReplyIndex | None = None

    @property
    def ready(self) -> bool:
        """Whether there is an index."""
        return self._work.files.settings.replies is not None

    def suggest(self, turns: Sequence[str], count: int) -> list[str]:
        """Return the replies that fit best; none without an index.

        Raises:
            TurnloomError: If the index cannot be opened.
        """
        folder = self._work.files.settings.replies
        if folder is None:
            return []
        with self._lock:
            if self._index is None:
                from turnloom.replies import ReplyIndex

                feedback = self._work.files.folder / FEEDBACK
                self._index = ReplyIndex(Path(folder), self._work.full_encoder, feedback=feedback)
            return [found.text for found in self._index.suggest(list(turns), count)]
