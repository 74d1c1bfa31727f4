"""A studio's folder: a discovery, vectors, a map, the flow, and the journals of what people did with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from turnloom.corpus import read_table
from turnloom.discovery import (
    Discovery,
    MessageOptions,
    Namer,
    discover,
    encode_messages,
    load_discovery,
    read_messages,
    save_discovery,
)
from turnloom.discovery.flow import Flow, FlowFilter, build_flow, read_identified
from turnloom.discovery.grouping import centred
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, write_whole
from turnloom.runtime.protocols import Encoder, Progress, Vectors, turn_encoder
from turnloom.studio.projection import Points, points_shown, project

MARKER, EDITS, PUBLISHED = "studio.json", "edits.jsonl", "published"
DISCOVERY, DRAWN = "discovery", "drawn"
VECTORS, POINTS, FLOW, CONVERSATIONS, DRAWN_MARKER = (
    "vectors.npy",
    "points.npy",
    "flow.json",
    "conversations.json",
    "drawn.json",
)
ConversationTurns = list[tuple[str, str]]


class Settings(BaseModel):
    """The contents of `studio.json`.

    Attributes:
        version: The version of this layout.
        table: The dialogue table.
        model: The encoder's folder or name.
        fingerprint: Identifies the encoder's weights.
        replies: The index of replies, if there is one.
    """

    model_config = ConfigDict(extra="forbid")

    version: int = 1
    table: str
    model: str
    fingerprint: str
    replies: str | None = None


@dataclass(frozen=True)
class StudioFiles:
    """What a studio's folder holds besides journals.

    Attributes:
        folder: The folder.
        settings: Where it comes from.
        found: The discovery that edits start from.
        vectors: The messages' vectors.
        points: Where the messages on the map are.
        flow: How conversations go.
        conversations: The turns of the conversations that the flow names, by source and id.
    """

    folder: Path
    settings: Settings
    found: Discovery
    vectors: Vectors
    points: Points
    flow: Flow
    conversations: dict[str, ConversationTurns]


def is_studio(folder: Path) -> bool:
    """Whether a folder holds a studio."""
    return (folder / MARKER).exists()


def prepare(
    folder: Path,
    table: Path,
    model: str,
    encoder: Encoder,
    options: MessageOptions,
    *,
    replies: Path | None = None,
    namer: Namer | None = None,
    on_progress: Progress = lambda *_: None,
) -> None:
    """Make a studio's folder from a dialogue table: encode, discover, draw the map and the flow.

    Raises:
        TurnloomError: If the folder holds something else, or the table has no such message.
    """
    messages_encoder = turn_encoder(encoder)
    refuse_foreign(folder)
    messages = read_messages(table, options)
    vectors = encode_messages(messages_encoder, messages, on_progress)
    found = discover(messages, vectors, namer=namer, encoder=messages_encoder, on_progress=on_progress)
    summary = found.summary
    summary.model, summary.fingerprint = messages_encoder.name, messages_encoder.fingerprint
    summary.role, summary.first, summary.context = options.role, options.first, options.context
    save_discovery(found, folder / DISCOVERY)
    on_progress("map", 0.0, "")
    points = project(centred(vectors[points_shown(len(vectors))]))
    on_progress("map", 1.0, "")
    ids, conversations = read_identified(table, FlowFilter())
    flow = build_flow(conversations, encoder, ids=ids, namer=namer, on_progress=on_progress)
    whole = WholeFolder(folder / DRAWN, DRAWN_MARKER, "a studio's drawings")
    np.save(whole.new / VECTORS, vectors.astype(np.float16))
    np.save(whole.new / POINTS, points)
    write_whole(whole.new / FLOW, flow.model_dump_json() + "\n")
    write_whole(whole.new / CONVERSATIONS, json.dumps(_behind(flow, table), ensure_ascii=False) + "\n")
    write_whole(whole.new / DRAWN_MARKER, "{}\n")
    whole.commit()
    settings = Settings(
        table=str(table.resolve()),
        model=str(Path(model).resolve()) if Path(model).exists() else model,
        fingerprint=messages_encoder.fingerprint,
        replies=None if replies is None else str(replies.resolve()),
    )
    write_whole(folder / MARKER, settings.model_dump_json(indent=2) + "\n")


def refuse_foreign(folder: Path) -> None:
    """Refuse to make a studio in a folder that holds something else.

    Raises:
        TurnloomError: If it does.
    """
    known = {MARKER, DISCOVERY, DRAWN}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known) if folder.is_dir() else []
    if folder.exists() and not folder.is_dir():
        raise TurnloomError(f"{folder} is a file", "choose a folder")
    if others:
        raise TurnloomError(f"{folder} holds files that are not a studio's ({', '.join(others[:3])})", "choose another")


def conversation_key(source: str, dialogue_id: str) -> str:
    """Return the key of a conversation in `conversations.json`."""
    return f"{source}\t{dialogue_id}"


def _behind(flow: Flow, table: Path) -> dict[str, ConversationTurns]:
    """Return the turns of the conversations that the flow's transitions name."""
    named = {(example.source, example.dialogue_id) for edge in flow.edges for example in edge.examples}
    rows = (row for row in read_table(table).iter_rows() if (row["source"], row["dialogue_id"]) in named)
    return {
        conversation_key(row["source"], row["dialogue_id"]): [
            (turn["speaker"] or "", turn["text"]) for turn in row["turns"]
        ]
        for row in rows
    }


def load_studio(folder: Path) -> StudioFiles:
    """Read a studio's folder.

    Raises:
        TurnloomError: If it holds none, or a damaged one.
    """
    make = f"make one with: turnloom studio {folder} --table TABLE"
    if not is_studio(folder):
        raise TurnloomError(f"{folder} holds no studio (it has no {MARKER})", make)
    drawn = folder / DRAWN
    try:
        settings = Settings.model_validate_json((folder / MARKER).read_text(encoding="utf-8"))
        flow = Flow.model_validate_json((drawn / FLOW).read_text(encoding="utf-8"))
        read: dict[str, Sequence[Any]] = json.loads((drawn / CONVERSATIONS).read_text(encoding="utf-8"))
        conversations = {key: [(str(speaker), str(text)) for speaker, text in turns] for key, turns in read.items()}
        vectors = np.load(drawn / VECTORS, allow_pickle=False).astype(np.float32)
        points = np.load(drawn / POINTS, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError, TypeError, AttributeError, ValidationError) as error:
        raise TurnloomError(f"{folder} cannot be read ({str(error).splitlines()[0]})", make) from error
    found = load_discovery(folder / DISCOVERY)
    if len(vectors) != len(found.messages) or len(points) != len(points_shown(len(vectors))):
        raise TurnloomError(f"{folder} is damaged: its files do not fit each other", make)
    return StudioFiles(folder, settings, found, vectors, points, flow, conversations)
