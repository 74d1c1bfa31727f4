"""What people said of a service's answers: the replies read it at once, and `turnloom intents fit` when it is run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from turnloom.corpus.erasure import Erasure
from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK, Feedback, IntentFeedback, Said
from turnloom.service.erasure import erase_from_feedback
from turnloom.service.errors import NotSavedError
from turnloom.service.scrubbing import Scrub, scrubbed


class LiveFeedback:
    """The feedback of one tenant, or of the service's own data.

    Args:
        state: The folder of the state that changes.
        scrub: Replaces personal data in what is added.
    """

    def __init__(self, state: Path, scrub: Scrub = scrubbed) -> None:
        self.path = state / FEEDBACK
        self._feedback, self._scrub = Feedback(self.path), scrub

    def add(self, said: Sequence[Said]) -> int:
        """Save what people said; return how much it was.

        Raises:
            NotSavedError: If it cannot be written.
        """
        kept = [self._scrubbed(one) for one in said]
        try:
            self._feedback.add(*kept)
        except TurnloomError as error:
            raise NotSavedError from error
        return len(kept)

    def _scrubbed(self, said: Said) -> Said:
        if isinstance(said, IntentFeedback):
            return said.model_copy(update={"turns": tuple(self._scrub(said.turns))})
        # What it was said in answer to is not needed to suggest it less, so it is not kept.
        return said.model_copy(update={"text": self._scrub([said.text])[0], "context": ()})

    def erase(self, erasure: Erasure, texts: Collection[str]) -> int:
        """Erase what was said of conversations, and whatever repeats their texts; return how much there was."""
        return erase_from_feedback(self._feedback, erasure, texts)
