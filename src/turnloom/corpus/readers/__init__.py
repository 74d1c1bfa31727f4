"""Readers: one file per format. Each turns a chat log into dialogues, and explains what it rejects."""

from __future__ import annotations

from turnloom.corpus.readers import (
    captions,
    delimited,
    email,
    excel,
    json_paths,
    messages,
    multiwoz,
    parquet,
    sgd,
    speaker_blocks,
    taskmaster,
    transcript,
    turns,
)
from turnloom.corpus.readers.base import Head, JsonReader, Reader, ReadOptions
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection, read_lines
from turnloom.corpus.readers.vendors import (
    calls,
    discord,
    freshdesk,
    hubspot,
    intercom,
    livechat,
    slack,
    teams,
    telegram,
    whatsapp,
    zendesk,
    zendesk_chat,
)
from turnloom.errors import TurnloomError
from turnloom.plugins import find_plugin, plugin_names

__all__ = [
    "READERS",
    "ByteStream",
    "Head",
    "JsonReader",
    "Parsed",
    "ReadOptions",
    "Reader",
    "Rejection",
    "find_reader",
    "read_lines",
    "reader_names",
]

GROUP = "turnloom.readers"

_EVERY: tuple[Reader, ...] = (
    json_paths.READER,
    parquet.READER,
    excel.READER,
    messages.READER,
    sgd.READER,
    turns.READER,
    multiwoz.READER,
    telegram.READER,
    discord.READER,
    teams.READER,
    slack.READER,
    hubspot.READER,
    zendesk.READER,
    zendesk_chat.READER,
    intercom.READER,
    freshdesk.READER,
    livechat.READER,
    calls.READER,
    taskmaster.READER,
    captions.WEBVTT,
    captions.SRT,
    email.MBOX,
    email.EML,
    whatsapp.READER,
    *delimited.READERS,
    speaker_blocks.READER,
    transcript.READER,
)
READERS: dict[str, Reader] = {reader.name: reader for reader in _EVERY}
"""Every format by name, most distinctive first: detection takes the first that recognises a file."""


def reader_names() -> list[str]:
    """Return every format. Other packages' come last, so that installing one never changes how a known file is read."""
    return list(dict.fromkeys([*READERS, *plugin_names(GROUP)]))


def find_reader(name: str) -> Reader:
    """Return the reader of a format; raises TurnloomError if the format is unknown."""
    plugin = find_plugin(GROUP, name, READERS)
    if plugin is None:
        if name not in READERS:
            raise TurnloomError(f"there is no format {name!r}", f"choose one of {', '.join(reader_names())}")
        return READERS[name]
    reader = plugin.load()
    lacking = [part for part in ("recognise", "check", "read", "title") if not hasattr(reader, part)]
    if lacking or isinstance(reader, type) or getattr(reader, "name", None) != plugin.name:
        what = f"lacks {', '.join(lacking)}" if lacking else f"is no object whose name is {plugin.name!r}"
        raise plugin.broken(what)
    found: Reader = reader
    return found
