"""Describe a file of unknown format: its first record, what its fields look like, and a command that would read it."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from turnloom.corpus.readers import delimited
from turnloom.corpus.readers.base import Head
from turnloom.corpus.readers.logfile import shorten
from turnloom.corpus.readers.rows import FIELDS
from turnloom.corpus.readers.times import TimeReader

_RECORDS = 200
_VALUES = 300
_MAX_DEPTH = 12
_SHOWN_FIELDS = 20
_NAMES = {
    "text": (*FIELDS["text"], "transcript", "value", "reply", "question", "answer", "plaintext", "query"),
    "speaker": (*FIELDS["speaker"], "name", "sender_type", "direction", "source", "user_id", "channel", "nick", "by"),
    "dialogue_id": (
        *FIELDS["dialogue_id"],
        "id",
        "chat_id",
        "call_id",
        "chat",
        "case",
        "session",
    ),
    "time": (*FIELDS["time"], "sent", "sent_on", "created_on", "when", "at"),
}


@dataclass
class _Leaf:
    """The values seen at one path."""

    path: str
    texts: list[str] = field(default_factory=list)
    per_record: Counter[int] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        return (
            re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.path.rpartition(".")[2].replace("[]", ""))
            .lower()
            .replace(" ", "_")
        )

    @property
    def mean_length(self) -> float:
        return sum(map(len, self.texts)) / max(len(self.texts), 1)

    @property
    def distinct(self) -> float:
        return len(set(self.texts)) / max(len(self.texts), 1)

    @property
    def spaced(self) -> float:
        """The share of values of several words."""
        return sum(" " in text.strip() for text in self.texts) / max(len(self.texts), 1)


def _gather(value: Any, path: str, leaves: dict[str, _Leaf], record: int) -> None:
    if path.count(".") > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            _gather(inner, f"{path}.{key}" if path else str(key), leaves, record)
    elif isinstance(value, list):
        for inner in (entry for entry in value[:_VALUES] if not isinstance(entry, list)):
            _gather(inner, f"{path}[]" if path else "", leaves, record)
    elif value is not None and not isinstance(value, bool) and path:
        leaf = leaves.setdefault(path, _Leaf(path))
        if len(leaf.texts) < _VALUES and str(value).strip():
            leaf.texts.append(str(value))
            leaf.per_record[record] += 1


def _is_time(leaf: _Leaf) -> bool:
    times = TimeReader()
    return bool(leaf.texts) and all(re.search(r"\d{2}", text) and times.read(text) for text in leaf.texts[:5])


def _named(leaf: _Leaf, role: str) -> float:
    """Return how well a leaf's name fits a field, 0 to 1."""
    names = _NAMES[role]
    if leaf.name in names:
        return 1 - names.index(leaf.name) / (2 * len(names))
    parts = leaf.name.split("_")
    return 0.4 if any(part in names for part in parts) else 0.0


def _best(leaves: list[_Leaf], score: dict[str, float]) -> _Leaf | None:
    best = max(leaves, key=lambda leaf: score[leaf.path], default=None)
    return best if best is not None and score[best.path] > 0 else None


def guess_fields(leaves: list[_Leaf]) -> dict[str, str]:
    """Guess which paths or columns hold the texts, speakers, ids and times; an uncertain field is left out."""
    texts = [leaf for leaf in leaves if leaf.spaced > 0.3 and not _is_time(leaf)]
    text = _best(texts, {one.path: _named(one, "text") + one.spaced + min(one.mean_length, 60) / 60 for one in texts})
    if text is None:
        return {}
    fields = {"text": text.path}
    level = _list_of(text)
    others = [leaf for leaf in leaves if leaf is not text]
    times = [leaf for leaf in others if _is_time(leaf) and (_named(leaf, "time") or not leaf.texts[0].isdigit())]
    near = [leaf for leaf in others if leaf not in times and _list_of(leaf) == level]
    speakers = [one for one in near if one.mean_length < 40 and (one.distinct < 0.7 or _named(one, "speaker") >= 0.4)]
    speaker = _best(
        speakers, {one.path: _named(one, "speaker") + (0.3 if one.distinct < 0.5 else 0) for one in speakers}
    )
    ids = [one for one in others if one not in times and one is not speaker and _may_be_id(one, text)]
    # Under a strange name, an id is what differs most.
    scores = {one.path: _named(one, "dialogue_id") + 0.1 * one.distinct for one in ids}
    name = _best(ids, scores)
    time = _best(times, {one.path: _named(one, "time") + (0.5 if _list_of(one) == level else 0) for one in times})
    for role, leaf in (("speaker", speaker), ("dialogue_id", name), ("time", time)):
        if leaf is not None:
            fields[role] = leaf.path
    return {role: fields[role] for role in ("dialogue_id", "text", "speaker", "time") if role in fields}


def _list_of(leaf: _Leaf) -> str:
    """Return the path of the innermost list that a leaf lies in."""
    return leaf.path.rpartition("[].")[0]


def _may_be_id(leaf: _Leaf, text: _Leaf) -> bool:
    """Whether a leaf names conversations: once per conversation, or again with each of its messages."""
    if leaf.mean_length > 60 or leaf.spaced > 0.1:
        return False
    level = _list_of(text)
    nested = _list_of(leaf) != level and level.startswith(_list_of(leaf))
    return nested or (_list_of(leaf) == level and leaf.distinct < 1)


def _leaves_of(head: Head) -> tuple[str, list[_Leaf]]:
    """Return the first record as text, and its fields; no fields if the file is neither JSON nor a table."""
    leaves: dict[str, _Leaf] = {}
    if head.sample:
        values = head.sample
        records = [one for value in values for one in (value if isinstance(value, list) else [value])][:_RECORDS]
        for number, record in enumerate(records):
            _gather(record, "", leaves, number)
        try:
            first = json.dumps(records[0], ensure_ascii=False) if records else ""
        except RecursionError:
            first = ""
        return first, list(leaves.values())
    names, rows = delimited.sample_rows(head)
    for number, row in enumerate(rows):
        for name in names:
            _gather(row.values.get(name), name, leaves, number)
    return (json.dumps(rows[0].values, ensure_ascii=False) if rows else ""), list(leaves.values())


@dataclass(frozen=True)
class Description:
    """What was seen of a file: lines for a person, and the value of ``--map`` that would read it, if one is likely."""

    lines: list[str]
    mapping: str = ""

    def advice(self, path: str) -> list[str]:
        """Return a line with the command that would read the file, if one is likely."""
        command = self.command(path)
        return [f"If these are right: {command}"] if command else []

    def command(self, path: str) -> str:
        """Return the command that would read the file; empty without a likely mapping."""
        return (
            f"turnloom convert {shlex.quote(path)} --map {shlex.quote(self.mapping)} --out corpus"
            if self.mapping
            else ""
        )


def describe(head: Head) -> Description:
    """Describe a file whose format is not recognised."""
    if b"\x00" in head.content[:1_000]:
        return Description([f"It is binary; its first bytes are {head.content[:16]!r}"])
    first, leaves = _leaves_of(head)
    if not leaves:
        lines = [line for line in head.lines() if line.strip()][:3]
        return Description(["Its first lines:", *(f"  {shorten(line, 160)}" for line in lines)])
    fields = guess_fields(leaves)
    roles = {path: role for role, path in fields.items()}
    shown = sorted(leaves, key=lambda leaf: leaf.path not in roles)[:_SHOWN_FIELDS]
    width = min(max(len(leaf.path) for leaf in shown), 40)
    lines = ["Its first record:", f"  {shorten(first, 400)}", "Its fields, with an example and what they look like:"]
    lines += [
        f"  {leaf.path:<{width}}  {shorten(leaf.texts[0] if leaf.texts else '', 50)!r}"
        + (f"  ← {roles[leaf.path]}" if leaf.path in roles else "")
        for leaf in shown
    ]
    if len(leaves) > len(shown):
        lines.append(f"  … and {len(leaves) - len(shown):,} more")
    readable = "text" in fields and (head.sample or "dialogue_id" in fields)
    return Description(lines, ",".join(f"{role}={path}" for role, path in fields.items()) if readable else "")
