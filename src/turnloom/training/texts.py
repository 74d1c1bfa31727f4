"""From rows of a view to the texts that a model reads."""

from __future__ import annotations

from typing import Any

from turnloom.runtime.context_format import ContextFormat

__all__ = ["ToText"]


class ToText:
    """Turns rows into columns of text as they are read; the oldest turns of a long context are left out.

    Args:
        context: How contexts become text.
        tokenizer: The model's.
        limit: Tokens that the model reads in training.
        replies: Whether rows have replies.
        around: For rows whose context has the reply in its middle: how many turns there are at most on both sides
            together. Each becomes a column of its own, empty where there is none.
        frequencies: Whether the loss wants to know how frequent a reply is, as the column `label`.
    """

    def __init__(
        self,
        context: ContextFormat,
        tokenizer: Any,
        limit: int,
        *,
        replies: bool,
        frequencies: bool = False,
        around: int | None = None,
    ) -> None:
        self._context, self._tokenizer, self._limit = context, tokenizer, limit
        self._replies, self._frequencies, self._around = replies, frequencies, around

    def _length(self, text: str) -> int:
        return len(self._tokenizer.tokenize(text))

    def __call__(self, rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """The columns of some rows."""
        if self._around is not None:
            return self._turns_around(rows, self._around)
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

    def _turns_around(self, rows: dict[str, list[Any]], most: int) -> dict[str, list[Any]]:
        """A column for each turn, the reply, and the role of who speaks it."""
        contexts = []
        for turns, reply in zip(rows["context"], rows["reply"], strict=True):
            others = list(turns)
            others.remove(reply)  # Turns are a set here: which of several equal ones goes does not matter.
            contexts.append(others + [""] * (most - len(others)))
        columns: dict[str, list[Any]] = {f"turn_{n}": [turns[n] for turns in contexts] for n in range(most)}
        return {**columns, "reply": list(rows["reply"]), "label": list(rows["role"])}
