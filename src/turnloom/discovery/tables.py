"""Group the messages of a dialogue table."""

from __future__ import annotations

from pathlib import Path

from turnloom.discovery.hierarchy import MIN_SIZE, Discovery, discover
from turnloom.discovery.messages import MessageOptions, encode_messages, read_messages
from turnloom.discovery.names import Namer
from turnloom.runtime.protocols import Encoder, Progress


def discover_table(
    table: str | Path,
    encoder: Encoder,
    options: MessageOptions | None = None,
    *,
    min_size: int = MIN_SIZE,
    namer: Namer | None = None,
    on_progress: Progress = lambda *_: None,
) -> Discovery:
    """Group the messages of a dialogue table into a named hierarchy.

    Args:
        table: The dialogue table's folder.
        encoder: Encodes the messages.
        options: Which messages to group; by default, all of customers.
        min_size: Groups of fewer distinct messages are dissolved.
        namer: Names the groups.
        on_progress: Called with a step, the share of it that is done, and a note.

    Returns:
        The hierarchy, with what is needed to compare it with another one: the encoder and the options.

    Raises:
        TurnloomError: If there is no table, or it has no such message.
    """
    options = options or MessageOptions()
    messages = read_messages(table, options)
    vectors = encode_messages(encoder, messages, on_progress)
    found = discover(messages, vectors, min_size=min_size, namer=namer, encoder=encoder, on_progress=on_progress)
    summary = found.summary
    summary.model, summary.fingerprint = encoder.name, encoder.fingerprint
    summary.role, summary.first, summary.context = options.role, options.first, options.context
    return found
