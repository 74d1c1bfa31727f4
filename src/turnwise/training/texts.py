"""From rows of a view to the texts that a model reads."""

from __future__ import annotations

from typing import Any

from turnwise.runtime.context_format import ContextFormat

__all__ = ["ToText"]


class ToText:
    """Turns rows into columns of text as they are read; the oldest turns of a long context are left out.

    Args:
        context: How contexts become text.
        tokenizer: The model's.
        limit: Tokens that the model reads in training.
        replies: Whether rows have replies.
        frequencies: Whether the loss wants to know how frequent a reply is, as the column `label`.
    """

    def __init__(self, context: ContextFormat, tokenizer: Any, limit: int, *, replies: bool, frequencies: bool) -> None:
        self._context, self._tokenizer, self._limit = context, tokenizer, limit
        self._replies, self._frequencies = replies, frequencies

    def _length(self, text: str) -> int:
        return len(self._tokenizer.tokenize(text))

    def __call__(self, rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """The columns of some rows."""
        separator = self._tokenizer.sep_token
        columns: dict[str, list[Any]] = {
            "context": [
                turns[0] if len(turns) == 1 else self._context.apply(turns, self._length, self._limit, separator)
                for turns in rows["context"]
            ]
        }
        for name in ("reply", "negative"):
            if self._replies and name in rows:
                columns[name] = list(rows[name])
        if self._frequencies:
            columns["label"] = [float(count) for count in rows["frequency"]]
        return columns
