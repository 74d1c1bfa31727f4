"""Call transcripts in JSON: Twilio, Genesys Cloud, Amazon Connect, and lists of segments with speakers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import has, label, lookup, objects_in, role_of, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.schema import Dialogue, Turn

_SHAPES = {
    "sentences": ("Twilio", ("transcript",), ("media_channel",)),
    "phrases": ("Genesys Cloud", ("decoratedText", "text"), ("participantPurpose",)),
    "Transcript": ("Amazon Connect", ("Content",), ("ParticipantRole", "ParticipantId")),
    "segments": ("a speech recogniser", ("text",), ("speaker", "speaker_label", "channel")),
}
"""By the list of what was said: who writes it, the fields of the text, those of the speaker."""
_LOOKED_AT = 20
"""Entries of such a list: a chat may start with participants joining."""
_STARTS = ("start_time", "startTimeMs", "BeginOffsetMillis", "start", "startTime")
_IDS = ("conversationId", "call_sid", "transcript_sid", "ContactId", "id", "sid")


def _lists(value: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each list of what was said, and the object that holds it."""
    for holder in (value, *(value["transcripts"] if isinstance(value.get("transcripts"), list) else ())):
        for name in _SHAPES:
            if isinstance(holder, dict) and isinstance(holder.get(name), list):
                yield name, holder


def _sign(found: Found) -> str | None:
    for name, holder in _lists(found.record.value):
        vendor, texts, speakers = _SHAPES[name]
        first = [entry for entry in holder[name][:_LOOKED_AT] if isinstance(entry, dict)]
        if any(any(key in entry for key in texts) and any(key in entry for key in speakers) for entry in first):
            return f"it has {name!r} with {texts[0]!r} and a speaker, as in transcripts of {vendor}"
    return None


def _speaker(entry: dict[str, Any], names: tuple[str, ...], roles: dict[str, str]) -> str:
    speaker = label(*(entry.get(name) for name in names))
    if names == ("media_channel",):
        return f"channel {speaker}" if speaker else ""
    return roles.get(speaker) or role_of(speaker) or speaker


def _start(entry: dict[str, Any]) -> float:
    for name in _STARTS:
        with suppress(KeyError, TypeError, ValueError, OverflowError):
            return float(entry[name])  # Twilio and speech recognisers write numbers as text.
    return -1.0


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a call or a chat; events such as joining say nothing."""
    value = found.record.value
    roles = {
        label(person.get("ParticipantId")): role_of(person.get("ParticipantRole"))
        for person in objects_in(value, "Participants")
    }
    said: list[tuple[float, Turn]] = []
    for name, holder in _lists(value):
        _, texts, speakers = _SHAPES[name]
        for entry in objects_in(holder, name):
            text = "" if entry.get("Type") == "EVENT" else text_in(entry, *texts)
            time = options.times.read(entry.get("AbsoluteTime"))
            said.append((_start(entry), Turn(_speaker(entry, speakers, roles), text, time=time)))
    if all(start >= 0 for start, _ in said):
        said.sort(key=lambda pair: pair[0])
    name = next((value[key] for key in _IDS if has(value, key)), lookup(value, "CustomerMetadata", "ContactId"))
    return conversation(name, (turn for _, turn in said), found, options)


READER = ConversationExport(
    name="calls",
    title="call transcripts in JSON (Twilio, Genesys, Amazon Connect)",
    paths=((),),
    sign=_sign,
    parse=parse,
)
