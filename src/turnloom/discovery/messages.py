"""The messages to group: distinct texts of a dialogue table, by role, and how often each was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from turnloom.corpus import read_table
from turnloom.corpus.table import read_manifest
from turnloom.discovery.neighbours import Numbers
from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Encoder, Progress, Vectors
from turnloom.views.context_response import SYSTEM_SPEAKERS
from turnloom.words import estimate_words

Role = Literal["customer", "agent", "both"]
SHORT_MESSAGE = 3
"""Messages of up to this many words, such as "yes please", mean what the turn before them makes of them."""
AT_A_TIME = 2_048


@dataclass(frozen=True)
class MessageOptions:
    """Which messages to group.

    Attributes:
        role: Whose messages: customers', agents' or both; or a speaker's name.
        first: Only the first message of a role in each dialogue.
        context: Read short messages together with the turn before.
    """

    role: str = "customer"
    first: bool = False
    context: bool = False


@dataclass
class Messages:
    """Distinct messages.

    Attributes:
        texts: What was said.
        before: The turn before, for short messages that are read with it; empty otherwise.
        occurrences: How often each was said.
        dialogues: How many dialogues were read.
    """

    texts: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    occurrences: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    dialogues: int = 0

    def __len__(self) -> int:
        return len(self.texts)


def answers_of(turns: Sequence[dict[str, Any]]) -> list[bool]:
    """Mark the turns of the answering side: speakers named so, else everyone but the first speaker."""
    speakers = [(turn["speaker"] or "").lower() for turn in turns]
    answers = [speaker in SYSTEM_SPEAKERS for speaker in speakers]
    return answers if any(answers) else [speaker != speakers[0] for speaker in speakers]


def read_messages(table: str | Path, options: MessageOptions) -> Messages:
    """Read the distinct messages of a dialogue table.

    Raises:
        TurnloomError: If there is no table, or it has no message of this role.
    """
    manifest = read_manifest(table)
    counts: dict[tuple[str, str], int] = {}
    for row in read_table(table).select("turns").iter_rows():
        for index in _wanted(row["turns"], options):
            text = row["turns"][index]["text"]
            short = options.context and index and estimate_words(text) <= SHORT_MESSAGE
            key = (text, row["turns"][index - 1]["text"] if short else "")
            counts[key] = counts.get(key, 0) + 1
    if not counts:
        raise TurnloomError(
            f"{table} has no message of {options.role!r}", "choose --role customer, agent, both or a speaker's name"
        )
    return Messages(
        [text for text, _ in counts],
        [before for _, before in counts],
        np.fromiter(counts.values(), np.int64, len(counts)),
        manifest.dialogues,
    )


def _wanted(turns: Sequence[dict[str, Any]], options: MessageOptions) -> Iterator[int]:
    """Yield the indices of the turns to group."""
    if not turns:
        return
    if options.role in ("customer", "agent"):
        wanted = [answer == (options.role == "agent") for answer in answers_of(turns)]
    else:
        wanted = [options.role == "both" or (turn["speaker"] or "") == options.role for turn in turns]
    for index, chosen in enumerate(wanted):
        if chosen:
            yield index
            if options.first:
                return


def encode_messages(encoder: Encoder, messages: Messages, on_progress: Progress = lambda *_: None) -> Vectors:
    """Return one vector per message; short ones that have a turn before are read with it."""
    inputs = [
        encoder.format_context((before, text)) if before else text
        for text, before in zip(messages.texts, messages.before, strict=True)
    ]
    parts = []
    for start in range(0, len(inputs), AT_A_TIME):
        parts.append(encoder.encode(inputs[start : start + AT_A_TIME]))
        done = min(start + AT_A_TIME, len(inputs))
        on_progress("vectors", done / len(inputs), f"{done:,} of {len(inputs):,}")
    return np.concatenate(parts)
