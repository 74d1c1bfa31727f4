"""Writers: a dialogue in each format that Turnloom reads, as far as the format can carry it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from turnloom.corpus.schema import Dialogue, Slot, Turn


def _time(turn: Turn) -> str | None:
    return turn.time.isoformat() if turn.time else None


def turns_record(dialogue: Dialogue) -> dict[str, Any]:
    turns = []
    for turn in dialogue.turns:
        slots = (
            None
            if turn.slots is None
            else [{"name": slot.name, "value": slot.value, "start": slot.start, "end": slot.end} for slot in turn.slots]
        )
        row = {"speaker": turn.speaker, "text": turn.text, "acts": turn.acts, "slots": slots, "intent": turn.intent}
        turns.append({**row, "time": _time(turn)})
    return {
        "id": dialogue.dialogue_id,
        "turns": turns,
        "domains": dialogue.domains,
        "language": dialogue.language,
        "labels": dialogue.labels,
    }


def messages_record(dialogue: Dialogue) -> dict[str, Any]:
    messages = [{"role": turn.speaker, "content": turn.text, "timestamp": _time(turn)} for turn in dialogue.turns]
    return {"id": dialogue.dialogue_id, "messages": messages}


def sharegpt_record(dialogue: Dialogue) -> dict[str, Any]:
    roles = {"user": "human", "assistant": "gpt"}
    return {
        "id": dialogue.dialogue_id,
        "conversations": [{"from": roles[turn.speaker], "value": turn.text} for turn in dialogue.turns],
    }


def _sgd_frame(turn: Turn) -> dict[str, Any]:
    pairs = [act.partition(":") for act in turn.acts or []]
    actions = [{"act": act, "slot": slot, "values": [], "canonical_values": []} for act, _, slot in pairs]
    slots = [{"slot": slot.name, "start": slot.start, "exclusive_end": slot.end} for slot in turn.slots or []]
    frame: dict[str, Any] = {"service": "Demo_1", "actions": actions, "slots": slots}
    if turn.speaker == "user":
        frame["state"] = {"active_intent": turn.intent or "NONE", "requested_slots": [], "slot_values": {}}
    return frame


def sgd_record(dialogue: Dialogue) -> dict[str, Any]:
    turns = [{"frames": [_sgd_frame(t)], "speaker": t.speaker.upper(), "utterance": t.text} for t in dialogue.turns]
    return {"dialogue_id": dialogue.dialogue_id, "services": dialogue.domains or [], "turns": turns}


def multiwoz_record(dialogue: Dialogue) -> dict[str, Any]:
    log = []
    for turn in dialogue.turns:
        acts: dict[str, list[list[str]]] = {}
        for act in turn.acts or []:
            name, _, slot = act.rpartition(":")
            acts.setdefault(name, []).append([slot, "?"])
        spans = [["Demo-Inform", slot.name, slot.value, 0, 0] for slot in turn.slots or []]
        log.append({"text": turn.text, "metadata": {}, "dialog_act": acts, "span_info": spans})
    goal: dict[str, Any] = {"message": ["a goal"], "hotel": {}}
    goal.update({name: {"info": {"x": "y"}} for name in dialogue.domains or []})
    return {"goal": goal, "log": log}


def taskmaster_record(dialogue: Dialogue) -> dict[str, Any]:
    utterances = []
    for index, turn in enumerate(dialogue.turns):
        segments = [
            {"start_index": s.start, "end_index": s.end, "text": s.value, "annotations": [{"name": s.name}]}
            for s in turn.slots or []
        ]
        row: dict[str, Any] = {"index": index, "speaker": turn.speaker.upper(), "text": turn.text}
        utterances.append({**row, "segments": segments} if segments else row)
    return {
        "conversation_id": dialogue.dialogue_id,
        "vertical": (dialogue.domains or ["x"])[0],
        "utterances": utterances,
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def json_lines(records: list[Any]) -> bytes:
    return b"".join(_json(record) + b"\n" for record in records)


def json_array(records: list[Any]) -> bytes:
    return json.dumps(records, ensure_ascii=False, indent=2).encode()


def rows_of(dialogues: list[Dialogue]) -> list[dict[str, Any]]:
    return [
        {
            "conversation_id": dialogue.dialogue_id,
            "turn": number,
            "role": turn.speaker,
            "timestamp": _time(turn) or "",
            "intent": turn.intent or "",
            "message": turn.text,
        }
        for dialogue in dialogues
        for number, turn in enumerate(dialogue.turns)
    ]


def write_rows(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    text = io.StringIO()
    names = ["conversation_id", "turn", "role", "timestamp", "intent", "message"]
    writer = csv.DictWriter(text, names, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def write_parquet_rows(dialogues: list[Dialogue]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows_of(dialogues)), buffer)
    return buffer.getvalue()


def write_parquet_turns(dialogues: list[Dialogue]) -> bytes:
    from turnloom.corpus.schema import dialogues_to_arrow

    buffer = io.BytesIO()
    pq.write_table(dialogues_to_arrow(dialogues), buffer)
    return buffer.getvalue()


def write_transcript(dialogues: list[Dialogue]) -> bytes:
    blocks = []
    for dialogue in dialogues:
        lines = [f"{f'[{_time(t)}] ' if t.time else ''}{t.speaker}: {t.text}" for t in dialogue.turns]
        blocks.append("\n".join(lines))
    return ("\n\n".join(blocks) + "\n").encode()


def write_multiwoz(dialogues: list[Dialogue]) -> bytes:
    return json.dumps({f"{d.dialogue_id}.json": multiwoz_record(d) for d in dialogues}, indent=2).encode()


Writer = Callable[[list[Dialogue]], bytes]
WRITERS: dict[str, tuple[str, str, Writer]] = {
    "turns": ("turns", "jsonl", lambda ds: json_lines([turns_record(d) for d in ds])),
    "turns-array": ("turns", "json", lambda ds: json_array([turns_record(d) for d in ds])),
    "messages": ("messages", "jsonl", lambda ds: json_lines([messages_record(d) for d in ds])),
    "sharegpt": ("messages", "json", lambda ds: json_array([sharegpt_record(d) for d in ds])),
    "sgd": ("sgd", "json", lambda ds: json_array([sgd_record(d) for d in ds])),
    "multiwoz": ("multiwoz", "json", write_multiwoz),
    "taskmaster": ("taskmaster", "json", lambda ds: json_array([taskmaster_record(d) for d in ds])),
    "csv": ("csv", "csv", lambda ds: write_rows(rows_of(ds), ",")),
    "tsv": ("csv", "tsv", lambda ds: write_rows(rows_of(ds), "\t")),
    "parquet": ("parquet", "parquet", write_parquet_rows),
    "parquet-turns": ("parquet", "parquet", write_parquet_turns),
    "transcript": ("transcript", "txt", write_transcript),
}
"""For each way to write: the reader's name, a file ending, and the writer."""


def carried(dialogue: Dialogue, way: str, number: int, line: int) -> Dialogue:
    """What is left of a dialogue after a trip through a format."""
    keeps = {
        "turns": {"acts", "slots", "intent", "time", "domains", "language", "labels"},
        "turns-array": {"acts", "slots", "intent", "time", "domains", "language", "labels"},
        "parquet-turns": {"acts", "slots", "intent", "time", "domains", "language", "labels"},
        "messages": {"time"},
        "sharegpt": set(),
        "sgd": {"acts", "slots", "intent", "domains"},
        "multiwoz": {"acts", "slots", "domains"},
        "taskmaster": {"slots", "domains"},
        "csv": {"intent", "time"},
        "tsv": {"intent", "time"},
        "parquet": {"intent", "time"},
        "transcript": {"time"},
    }[way]
    turns = []
    for turn in dialogue.turns:
        slots = turn.slots if "slots" in keeps else None
        acts = turn.acts if "acts" in keeps else None
        if way in ("sgd", "multiwoz", "taskmaster"):
            acts, slots = acts or None, slots or None
        turns.append(
            Turn(
                turn.speaker,
                turn.text,
                acts=acts,
                slots=slots,
                intent=turn.intent if "intent" in keeps else None,
                time=turn.time if "time" in keeps else None,
            )
        )
    return Dialogue(
        f"log-{line}" if way == "transcript" else dialogue.dialogue_id,
        dialogue.source,
        turns,
        domains=dialogue.domains if "domains" in keeps else None,
        language=dialogue.language if "language" in keeps else None,
        labels=dialogue.labels if "labels" in keeps else None,
    )


def sample(number: int) -> Dialogue:
    """A small dialogue that every format can carry, different for each number."""
    city = ["Paris", "Oslo", "São Paulo", "北京", "Graz"][number % 5]
    text = f"I need a room in {city} for {number} nights"
    start = text.index(city)
    return Dialogue(
        f"d{number}",
        "log",
        [
            Turn("user", text, acts=["hotel-inform:area"], slots=[Slot("area", city, start, start + len(city))]),
            Turn("assistant", "Sure, any price range?", acts=["hotel-request:price"]),
        ],
        domains=["hotel"],
    )
