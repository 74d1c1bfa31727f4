"""How a context becomes text. A model is trained with one format, so the format is saved in the model's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.errors import TurnloomError

FILE = "turnloom.json"


class ContextFormat(BaseModel):
    """How turns are joined, and how many are kept.

    Attributes:
        separator: The text between turns; None for the tokenizer's separator token, or a line break if it has none.
        max_turns: How many of the last turns to read; None for all.
        closed: Whether the separator also follows the last turn, and a reply that is read together with the context.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    separator: str | None = None
    max_turns: int | None = Field(default=None, ge=1)
    closed: bool = False

    def apply(self, turns: Sequence[str], length: Callable[[str], int], limit: int, token: str | None = None) -> str:
        """Return the context as text. The oldest turns are dropped until it fits; the last turn always stays.

        Args:
            turns: The turns, oldest first.
            length: Returns the number of tokens of a text.
            limit: How many tokens the model reads.
            token: The tokenizer's separator token.

        Example:
            >>> ContextFormat(separator="|").apply(["a b c", "d", "e f"], lambda text: len(text.split()), 6)
            'd | e f'
        """
        kept = list(turns if self.max_turns is None else turns[-self.max_turns :])
        joint = f" {self.separator or token} " if self.separator or token else "\n"
        room = limit - 2  # The tokenizer adds a token at both ends.
        sizes = [length(turn) + 1 for turn in kept]
        while len(kept) > 1 and sum(sizes) - (not self.closed) > room:
            kept.pop(0)
            sizes.pop(0)
        return joint.join(kept) + (joint.rstrip() if self.closed else "")

    def pair(
        self,
        turns: Sequence[str],
        replies: Sequence[str],
        length: Callable[[str], int],
        limit: int,
        token: str | None = None,
    ) -> tuple[str, list[str]]:
        """Return a context and its replies as the texts that a cross-encoder reads in pairs.

        The context leaves room for the longest reply, but always gets at least half of the model's tokens.

        Args:
            turns: The turns, oldest first.
            replies: The replies, each read with the same context.
            length: Returns the number of tokens of a text.
            limit: How many tokens the model reads, context and reply together.
            token: The tokenizer's separator token.

        Example:
            >>> closed = ContextFormat(separator="|", closed=True)
            >>> closed.pair(["a b c", "d", "e f"], ["g"], lambda text: len(text.split()), 11)
            ('d | e f |', ['g |'])
        """
        end = f" {self.separator or token}" if self.closed and (self.separator or token) else ""
        longest = max(map(length, replies), default=0) + self.closed
        room = max(limit - longest - 1, limit // 2)
        return self.apply(turns, length, room, token), [reply + end for reply in replies]


def read_context_format(folder: Path) -> ContextFormat:
    """Return the format saved in a model's folder, or the default."""
    path = folder / FILE
    if not path.exists():
        return ContextFormat()
    try:
        return ContextFormat.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise TurnloomError(
            f"{path} is not a context format ({error.errors()[0]['msg']})", "see the guide on models"
        ) from error
